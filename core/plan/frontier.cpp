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
    struct Open {
        std::int64_t threshold = 0;
        std::size_t gained = 0;
    };
    std::vector<Open> open;
    for (const std::int64_t threshold : problem.prepared().thresholds)
        if (one.open(threshold)) {
            if (effort.stopped() && !frontier.points.empty())
                break;
            if (!one.canImprove(frontier.points))
                continue;
            open.push_back({threshold, 0});
            one.addWholeCorners(frontier.points);
        }
    for (const std::size_t most : passes) {
        std::vector<Open> left;
        for (Open& next : open) {
            const bool done = !effort.stopped() && one.open(next.threshold) && one.improve(frontier.points, most) && !effort.stopped();
            next.gained = one.gained();
            if (!done)
                left.push_back(next);
        }
        // Those that shape the stair go first in the next pass: after them the others may have nothing left to give.
        std::stable_sort(left.begin(), left.end(), [](const Open& a, const Open& b) { return a.gained > b.gained; });
        open.swap(left);
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
    for (const std::size_t states : {std::size_t{512}, std::size_t{4096}, std::size_t{16384}})
        if (states < most)
            passes.push_back(states);
    passes.push_back(most);
    return frontierIn(problem, passes, limits);
}

} // namespace loadline
