// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/knapsack.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace loadline::knapsack {

/// Holds any product of two numbers that preparation lets in.
__extension__ typedef __int128 Wide;

/// One corner of the lower-left convex hull of (persist, ticks).
struct Corner {
    std::int64_t persist = 0;
    std::int64_t ticks = 0;
    double slope = 0; ///< ticks saved per byte on the way to the next corner; 0 at the last
    std::uint32_t option = 0;
};

/// The options of one group whose transient is at most `transient`: their hull.
struct Level {
    std::int64_t transient = 0;
    std::uint32_t firstCorner = 0;
    std::uint32_t endCorner = 0;
};

/// A class in a group.
struct Member {
    std::uint32_t index = 0;       ///< of the class
    std::uint32_t firstOrigin = 0; ///< Prepared::origins: for each option of the group, where the class lists it
    std::int64_t count = 0;
};

/// Classes with equal options, searched as one.
struct Group {
    std::int64_t count = 0;
    std::uint32_t firstOption = 0; ///< options by persist ascending
    std::uint32_t endOption = 0;
    std::uint32_t firstLevel = 0; ///< levels by transient ascending
    std::uint32_t endLevel = 0;
    std::vector<Member> members; ///< class ascending
};

/// Below `transient`, `group` falls from `level` to the one before.
struct Drop {
    std::int64_t transient = 0;
    std::uint32_t group = 0;
    std::uint32_t level = 0;
};

/// What does not depend on the budget. Built once, read by any number of threads.
struct Prepared {
    std::vector<Group> groups;
    std::vector<KnapsackOption> options; ///< those that no other option beats in all three numbers
    std::vector<std::uint32_t> origins;
    std::vector<Level> levels;
    std::vector<Corner> corners;
    std::vector<Drop> drops;              ///< by transient descending
    std::vector<std::int64_t> thresholds; ///< transients that a largest transient can be, descending
    std::int64_t leastBudget = 0;
    std::int64_t mostTicks = 0; ///< the slowest assignment
    double slack = 0;           ///< ticks that rounding in any bound stays well under; see docs/search.md
};

/// Parts of preparation that tests turn off; the answers must not change.
struct PrepareSwitches {
    bool reduction = true; ///< join equal classes, drop dominated options
};

/// Errors: see Knapsack::prepare.
Result<Knapsack> prepare(std::vector<KnapsackClass> classes, const PrepareSwitches& switches);

/// Drops every option that another one beats or equals in persist, transient and ticks. Sorts by (persist, ticks, transient).
void dropDominated(std::vector<KnapsackOption>& options);

/// Appends the hull of options[first..end) with transient <= `transient`; the options stand by persist ascending.
void appendHull(const std::vector<KnapsackOption>& options, std::uint32_t first, std::uint32_t end, std::int64_t transient,
                std::vector<Corner>& corners);

/// The level of each group at a threshold; false if some group has no option at or under it.
bool levelsAt(const Prepared& problem, std::int64_t threshold, std::vector<std::uint32_t>& levels);

/// First corner (least persist) among those that minimise ticks + price x persist.
inline std::uint32_t cheapestCorner(const Prepared& problem, std::uint32_t level, double price)
{
    std::uint32_t low = problem.levels[level].firstCorner;
    std::uint32_t high = problem.levels[level].endCorner - 1;
    const Corner* corners = problem.corners.data();
    while (high - low > 6) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (corners[middle].slope > price)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < high && corners[low].slope > price)
        ++low;
    return low;
}

} // namespace loadline::knapsack
