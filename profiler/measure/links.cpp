// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/measure/links.hpp"

#include "core/cost/communication.hpp"
#include "profiler/measure/links_overlap.hpp"
#include "profiler/measure/links_timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

namespace loadline {
namespace {

constexpr int kLeastRepetitions = 3;
constexpr int kMostRepetitions = 50;
constexpr double kSecondsOfPoint = 0.05;     ///< what cheap points may take together with their repetitions
constexpr double kShareForOverlap = 0.2;     ///< of the time limit, kept for the end
constexpr double kMostOverlapSeconds = 0.15; ///< of one collective there: longer ones show nothing more
constexpr double kOverlapRuns = 8 * 2.5;     ///< collectives that one overlap row takes: eight times alone, the work, and both
constexpr double kBuffers = 1.5;             ///< whole array and a shard of at most half of it

/// One kind of group as this rank sees it.
struct Kind {
    const LinkGroup* group = nullptr;
    CommunicatorPtr communicator;
};

/// Measures everything of one request; the same decisions on every rank.
class LinkRun {
public:
    LinkRun(Communicator& world, ComputeDevice& device, const LinksRequest& request, const std::vector<LinkGroup>& groups,
            const LinkSink& sink)
        : m_world(world), m_device(device), m_request(request), m_sink(sink), m_agreement(world, device),
          m_start(std::chrono::steady_clock::now())
    {
        for (const auto& group : groups)
            m_kinds.push_back({&group, join(group)});
        for (const auto& kind : m_kinds)
            m_curves += kind.group->collectives.size();
    }

    void run()
    {
        const auto sizes = sizesToMeasure();
        m_total = static_cast<std::int64_t>(sizes.size() * m_curves) + 3;
        double lastSize = 0; // seconds that one repetition of every curve took at the size before
        for (const auto size : sizes) {
            const double expected = lastSize * 2 * (kLeastRepetitions + 3); // two dropped ones, and the arrays to be filled
            if (stop(expected, 1 - kShareForOverlap))
                break;
            lastSize = 0;
            for (const auto& kind : m_kinds)
                for (const auto collective : kind.group->collectives)
                    lastSize += measure(kind, collective, size);
        }
        if (!m_kinds.empty())
            overlap();
        tell("done");
    }

private:
    CommunicatorPtr join(const LinkGroup& group)
    {
        const int rank = m_world.rank();
        const int stride = static_cast<int>(group.stride);
        const int size = static_cast<int>(group.size);
        // Neighbours: block of `size` ranks. Apart: those with the same remainder.
        const int first = stride == 1 ? rank / size * size : rank % stride;
        std::vector<int> ranks;
        for (int i = 0; i < size; ++i)
            ranks.push_back(first + i * stride);
        return m_world.subgroup(ranks, fmt::format("links{}by{}at{}", size, stride, first));
    }

    [[nodiscard]] double elapsed() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count(); }

    /// True on all ranks where one of them is cancelled or `expected` seconds more would pass `share` of the limit.
    bool stop(double expected, double share)
    {
        const bool cancelled = m_sink.cancelled && m_sink.cancelled();
        const bool late = elapsed() + expected > m_request.limit.value() * share;
        return m_agreement.largest(cancelled || late ? 1.0 : 0.0) > 0;
    }

    std::vector<std::int64_t> sizesToMeasure()
    {
        const double sharers = m_device.shared() ? m_world.size() : 1;
        const double room = m_agreement.smallest(static_cast<double>(m_device.memory().free.count()) / sharers / 2 / kBuffers);
        std::vector<std::int64_t> sizes;
        for (std::int64_t size = std::max<std::int64_t>(1, m_request.least.count()); size <= m_request.most.count(); size *= 2) {
            if (static_cast<double>(size) > room)
                break;
            sizes.push_back(size);
            if (size > m_request.most.count() / 2)
                break;
        }
        return sizes;
    }

    /// Returns the median seconds.
    double measure(const Kind& kind, Collective collective, std::int64_t size)
    {
        const auto& group = *kind.group;
        const std::int64_t bytes = wholeBytes(size, group.size);
        const LinkBuffers buffers(m_device, bytes, group.size);
        const auto once = [&] { return timed(m_device, [&] { startCollective(*kind.communicator, collective, buffers)->wait(); }); };
        m_world.barrier();
        once(); // dropped: it connects pairs and touches the pages
        const double second = m_agreement.largest(once());
        const auto repetitions =
            std::clamp(static_cast<int>(kSecondsOfPoint / std::max(second, 1e-6)), kLeastRepetitions, kMostRepetitions);
        std::vector<double> seconds;
        m_world.barrier();
        for (int i = 0; i < repetitions; ++i)
            seconds.push_back(once());
        const auto middle = middleOf(m_agreement.largest(seconds));
        const LinkRow row{
            collective, group.size, group.perNode, Bytes(bytes), Seconds(std::max(middle.median, 1e-9)), Seconds(middle.spread)};
        m_largest[{group.size, collective}].emplace_back(bytes, row.seconds.value());
        if (m_world.rank() == 0 && m_sink.link)
            m_sink.link(row);
        ++m_done;
        tell(fmt::format("{} over {} ranks, {} bytes", collectiveName(collective), group.size, bytes));
        return middle.median;
    }

    /// The three collectives over the largest group, each at its largest size that is quick enough.
    void overlap()
    {
        for (const auto& kind : m_kinds) {
            if (kind.group->size != m_kinds.back().group->size)
                continue;
            for (const auto collective : kind.group->collectives) {
                const auto& points = m_largest[{kind.group->size, collective}];
                if (points.empty())
                    continue;
                const double room = m_request.limit.value() * kShareForOverlap / (3 * kOverlapRuns); // three collectives
                auto chosen = points.front();
                for (const auto& point : points)
                    chosen = point.second <= std::min(room, kMostOverlapSeconds) ? point : chosen;
                if (stop(kOverlapRuns * chosen.second, 1))
                    return;
                const auto row =
                    measureOverlap(m_world, *kind.communicator, m_device, *kind.group, collective, chosen.first, chosen.second);
                if (m_world.rank() == 0 && m_sink.overlap)
                    m_sink.overlap(row);
                ++m_done;
                tell(fmt::format("computing beside {}", collectiveName(collective)));
            }
        }
    }

    void tell(std::string what)
    {
        if (m_world.rank() == 0 && m_sink.progress)
            m_sink.progress({m_done, m_total, std::move(what), Seconds(std::max(0.0, m_request.limit.value() - elapsed()))});
    }

    Communicator& m_world;
    ComputeDevice& m_device;
    const LinksRequest& m_request;
    const LinkSink& m_sink;
    Agreement m_agreement;
    std::chrono::steady_clock::time_point m_start;
    std::vector<Kind> m_kinds;
    std::size_t m_curves = 0;
    std::int64_t m_done = 0;
    std::int64_t m_total = 0;
    std::map<std::pair<std::int64_t, Collective>, std::vector<std::pair<std::int64_t, double>>> m_largest; ///< bytes, seconds
};

std::vector<std::int64_t> sizesOf(const LinksRequest& request, std::int64_t ranks)
{
    std::set<std::int64_t> sizes(request.groups.begin(), request.groups.end());
    for (std::int64_t size = 2; request.groups.empty() && size <= ranks; ++size)
        if (ranks % size == 0)
            sizes.insert(size);
    return {sizes.begin(), sizes.end()};
}

} // namespace

Result<std::vector<LinkGroup>> linkGroups(const LinksRequest& request, std::int64_t ranks, std::int64_t ranksPerNode)
{
    if (ranks < 2)
        return invalidInput(fmt::format("links were asked for with {} rank; a link needs 2 or more", ranks));
    if (ranksPerNode < 1 || ranks % ranksPerNode != 0)
        return invalidInput(fmt::format("{} ranks are not whole nodes of {}; start as many on each", ranks, ranksPerNode));
    if (request.least.count() < 1 || request.most < request.least)
        return invalidInput(fmt::format("links were asked for from {} to {} bytes; 'most' must be at least 'least', and that at least 1",
                                        request.least.count(), request.most.count()));
    Cluster cluster;
    cluster.nodes = ranks / ranksPerNode;
    cluster.gpusPerNode = ranksPerNode;
    std::vector<LinkGroup> groups;
    for (const auto size : sizesOf(request, ranks)) {
        if (size < 2 || size > ranks || ranks % size != 0)
            return invalidInput(fmt::format(
                "links were asked for in groups of {}, which does not divide {} ranks; choose a divisor from 2 on", size, ranks));
        const auto stride = ranks / size;
        const auto neighbours = shardGroup(cluster, size);
        const auto replicas = replicaGroup(cluster, stride);
        groups.push_back({size, neighbours.perNode, 1, {Collective::AllGather, Collective::ReduceScatter}});
        if (stride == 1)
            groups.back().collectives.push_back(Collective::AllReduce);
        else
            groups.push_back({size, replicas.perNode, stride, {Collective::AllReduce}});
    }
    return groups;
}

void measureLinks(Communicator& world, ComputeDevice& device, const LinksRequest& request, const std::vector<LinkGroup>& groups,
                  const LinkSink& sink)
{
    LinkRun(world, device, request, groups, sink).run();
}

} // namespace loadline
