// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/cost/profile.hpp"
#include "core/exchange/worker.hpp"
#include "profiler/device/device.hpp"

#include <functional>
#include <vector>

namespace loadline {

/// Who is told what was measured; called on rank 0 only, in its thread. Each may be empty.
struct LinkSink {
    std::function<void(const LinkRow&)> link;
    std::function<void(const OverlapRow&)> overlap;
    std::function<void(const WorkerProgress&)> progress;
    std::function<bool()> cancelled; ///< on any rank; all of them stop before the next size
};

/// One kind of group to measure: which of the collectives run in it in a plan, and how a rank finds its own group.
struct LinkGroup {
    std::int64_t size = 2;
    std::int64_t perNode = 2;
    std::int64_t stride = 1; ///< 1: neighbours, as shard groups are; else every stride-th rank, as replicas are
    std::vector<Collective> collectives;
};

/// What `request` asks for with `ranks` ranks, `ranksPerNode` of them in each node (docs/clusters.md: numbered node by node): gathers
/// and scatters in groups of neighbours, all-reduces across every (ranks / size)-th rank. Errors: a group that does not divide the
/// ranks, fewer than 2 ranks, sizes out of order.
Result<std::vector<LinkGroup>> linkGroups(const LinksRequest& request, std::int64_t ranks, std::int64_t ranksPerNode);

/// Times the collectives of `linkGroups` over sizes that double from request.least to request.most, as far as memory (half of what is
/// free) and request.limit reach, then how computing and communication slow each other down. All groups of a kind run at once, as
/// they do in a step. A figure is the median over repetitions of the slowest rank; the first repetition is dropped (nccl-tests).
/// Sizes are whole numbers of fp32 elements a rank. Collective: every rank calls it with the same request, which must be one that
/// linkGroups takes. Throws std::exception as a communicator does.
void measureLinks(Communicator& world, ComputeDevice& device, const LinksRequest& request, const std::vector<LinkGroup>& groups,
                  const LinkSink& sink);

} // namespace loadline
