// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/units.hpp"
#include "core/cluster/cluster.hpp"

#include <cstdint>

namespace loadline {

class Profile;         // core/cost/profile.hpp
struct OverlapFactors; // core/cost/profile.hpp

/// Ranks that take part in one collective, spread evenly over nodes.
struct RankGroup {
    std::int64_t size = 1;    ///< ranks
    std::int64_t perNode = 1; ///< of them in each node; equals `size` inside a node
    friend bool operator==(const RankGroup&, const RankGroup&) = default;
};

/// Ranks that share one copy of a unit: `group` neighbours (rank r belongs to group r / group).
/// Groups that do not line up with nodes count the fewest ranks any node can hold of them.
RankGroup shardGroup(const Cluster& cluster, std::int64_t group);

/// Ranks that hold the same shard: every `group`-th rank, ranks / group of them.
RankGroup replicaGroup(const Cluster& cluster, std::int64_t group);

/// One ring pass (all-gather, or reduce-scatter) over `members` of an array of `bytes` in total:
///     inside a node   A(S) = (n-1) (latency + S/n / bandwidth) of the intra link                 docs/sources.md, OSDP
///     flat ring       the same with the slower link: inter latency, min(intra, perNode x inter) bandwidth,
///                     since `perNode` neighbours of a node lend the ring their shares of its network cards
///     hierarchical    (k-1) (latency + S/n / bandwidth) across k nodes, then (m-1) (latency + S/m / bandwidth) inside
/// 0 s for one rank or no bytes. Finite for every valid cluster.
Seconds ringPass(const Cluster& cluster, Bytes bytes, RankGroup members);

/// All-gather of a unit of `bytes` (whole unit, not its shard) in a shard group of `group` ranks.
/// A slice is a call of its own: g slices cost g calls with bytes / g each, so latency counts g-fold.
/// With a profile that has measured links its curve replaces the formula.
Seconds allGather(const Cluster& cluster, Bytes bytes, std::int64_t group, const Profile* profile = nullptr);

/// Reduce-scatter of gradients of `bytes` (whole unit) in a shard group of `group` ranks; costs as allGather.
Seconds reduceScatter(const Cluster& cluster, Bytes bytes, std::int64_t group, const Profile* profile = nullptr);

/// All-reduce of `bytes` that each rank holds (the unit's gradients / group) across the ranks / group replicas: 2 A(bytes).
Seconds allReduce(const Cluster& cluster, Bytes bytes, std::int64_t group, const Profile* profile = nullptr);

/// Slow-downs while computing and communication overlap: measured where the profile has them, else the cluster's.
OverlapFactors overlapFactors(const Cluster& cluster, const Profile* profile = nullptr);

} // namespace loadline
