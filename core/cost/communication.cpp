// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/communication.hpp"

#include "core/cost/profile.hpp"

#include <algorithm>
#include <numeric>

namespace loadline {
namespace {

Seconds pass(std::int64_t ranks, double bytes, Seconds latency, double bytesPerSecond)
{
    const auto n = static_cast<double>(ranks);
    return Seconds((n - 1) * (latency.value() + bytes / n / bytesPerSecond));
}

std::optional<Seconds> measured(const Profile* profile, Collective collective, RankGroup members, Bytes bytes)
{
    if (profile == nullptr || members.size <= 1)
        return std::nullopt;
    return profile->collective(collective, members.size, members.perNode, bytes);
}

} // namespace

RankGroup shardGroup(const Cluster& cluster, std::int64_t group)
{
    if (cluster.nodes <= 1)
        return {group, group};
    return {group, std::gcd(group, cluster.gpusPerNode)};
}

RankGroup replicaGroup(const Cluster& cluster, std::int64_t group)
{
    const auto replicas = std::max<std::int64_t>(1, cluster.ranks() / std::max<std::int64_t>(1, group));
    if (cluster.nodes <= 1)
        return {replicas, replicas};
    const bool alignsInNode = cluster.gpusPerNode % group == 0;
    return {replicas, alignsInNode ? cluster.gpusPerNode / group : 1};
}

Seconds ringPass(const Cluster& cluster, Bytes bytes, RankGroup members)
{
    if (members.size <= 1 || bytes.count() <= 0)
        return Seconds(0);
    const auto size = static_cast<double>(bytes.count());
    if (members.perNode >= members.size)
        return pass(members.size, size, cluster.intra.latency, cluster.intra.bytesPerSecond);
    const auto perNode = std::max<std::int64_t>(1, members.perNode);
    const auto nodes = ceilDiv(members.size, perNode);
    if (cluster.hierarchical && perNode > 1) {
        // Across nodes every rank moves its own part of S/m; inside, the whole array.
        const auto across = pass(nodes, size / static_cast<double>(perNode), cluster.inter.latency, cluster.inter.bytesPerSecond);
        return across + pass(perNode, size, cluster.intra.latency, cluster.intra.bytesPerSecond);
    }
    const auto latency = std::max(cluster.intra.latency, cluster.inter.latency);
    double bandwidth = cluster.inter.bytesPerSecond * static_cast<double>(perNode);
    if (perNode > 1)
        bandwidth = std::min(bandwidth, cluster.intra.bytesPerSecond);
    return pass(members.size, size, latency, bandwidth);
}

Seconds allGather(const Cluster& cluster, Bytes bytes, std::int64_t group, const Profile* profile)
{
    const auto members = shardGroup(cluster, group);
    return measured(profile, Collective::AllGather, members, bytes).value_or(ringPass(cluster, bytes, members));
}

Seconds reduceScatter(const Cluster& cluster, Bytes bytes, std::int64_t group, const Profile* profile)
{
    const auto members = shardGroup(cluster, group);
    return measured(profile, Collective::ReduceScatter, members, bytes).value_or(ringPass(cluster, bytes, members));
}

Seconds allReduce(const Cluster& cluster, Bytes bytes, std::int64_t group, const Profile* profile)
{
    const auto members = replicaGroup(cluster, group);
    return measured(profile, Collective::AllReduce, members, bytes).value_or(ringPass(cluster, bytes, members) * 2.0);
}

OverlapFactors overlapFactors(const Cluster& cluster, const Profile* profile)
{
    const auto measured = profile != nullptr ? profile->overlap() : std::nullopt;
    return measured.value_or(OverlapFactors{cluster.overlapCompute, cluster.overlapTransfer});
}

} // namespace loadline
