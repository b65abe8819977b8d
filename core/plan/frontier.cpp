// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/frontier_threshold.hpp"

#include <algorithm>

namespace loadline {
namespace {

using knapsack::Stair;

/// Passes with longer and longer lists: each lowers the stair, which leaves less for the next.
KnapsackFrontier frontierIn(const Knapsack& problem, const std::vector<std::size_t>& passes, const SearchLimits& limits)
{
    KnapsackFrontier frontier;
    knapsack::Effort effort(limits);
    knapsack::ThresholdFrontier one(problem.prepared(), effort);
    std::vector<std::int64_t> open;
    for (const std::int64_t threshold : problem.prepared().thresholds)
        if (one.open(threshold)) {
            open.push_back(threshold);
            one.addWholeCorners(frontier.points);
            if (effort.stopped())
                break;
        }
    for (const std::size_t most : passes) {
        std::erase_if(open, [&](std::int64_t threshold) {
            return !effort.stopped() && one.open(threshold) && one.improve(frontier.points, most) && !effort.stopped();
        });
        if (effort.stopped() || open.empty())
            break;
    }
    frontier.exact = open.empty() && !effort.stopped();
    frontier.work = effort.work();
    return frontier;
}

} // namespace

KnapsackFrontier approximateFrontier(const Knapsack& problem, std::int64_t states, const SearchLimits& limits)
{
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(states, 2));
    if (most <= 512)
        return frontierIn(problem, {most}, limits);
    return frontierIn(problem, {512, most}, limits);
}

KnapsackFrontier exactFrontier(const Knapsack& problem, const SearchLimits& limits)
{
    std::vector<std::size_t> passes;
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(limits.listCap, 2));
    for (const std::size_t states : {std::size_t{512}, std::size_t{4096}, std::size_t{16384}, std::size_t{65536}})
        if (states < most)
            passes.push_back(states);
    passes.push_back(most);
    return frontierIn(problem, passes, limits);
}

} // namespace loadline
