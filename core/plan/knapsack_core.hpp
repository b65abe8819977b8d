// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/knapsack_completion.hpp"
#include "core/plan/knapsack_relaxation.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace loadline::knapsack {

/// `count` operators of `group` take `option` (an index into Prepared::options).
struct Pick {
    std::uint32_t group = 0;
    std::uint32_t option = 0;
    std::int64_t count = 0;
};

/// The fastest assignment found so far.
struct Incumbent {
    std::int64_t ticks = std::numeric_limits<std::int64_t>::max();
    std::vector<Pick> picks;
    double gapTolerance = 0;

    /// The largest number of ticks that is still worth finding.
    [[nodiscard]] std::int64_t target() const { return ticks - 1 - static_cast<std::int64_t>(gapTolerance * static_cast<double>(ticks)); }
};

/// One copy of an item takes this option instead of its base option.
struct Deviation {
    std::int64_t bytes = 0; ///< more persist than the base; may be negative
    std::int64_t ticks = 0;
    double cost = 0; ///< ticks + price x bytes, 0 or more: what the relaxed bound rises by
    std::uint32_t option = 0;
};

/// Copies of one group at the same base option, with the deviations that can still pay.
struct Item {
    std::uint32_t base = 0; ///< index into Core::base
    std::int64_t copies = 0;
    double cheapest = 0;
    std::uint32_t first = 0; ///< deviations
    std::uint32_t end = 0;
};

/// `copies` of the base entry go over to `option`.
struct Move {
    std::uint32_t base = 0;
    std::uint32_t option = 0;
    std::int64_t copies = 0;
};

/// What is left of the problem at one threshold after the relaxation: a whole base assignment, its free bytes, and the few
/// deviations whose cost leaves a chance to beat the incumbent (reduced-cost fixing).
class Core {
public:
    Core(const Prepared& problem, Incumbent& incumbent, bool fixing) : m_problem(problem), m_incumbent(incumbent), m_fixing(fixing) {}

    /// Takes up a threshold. The base becomes the incumbent if it is faster.
    void open(std::int64_t threshold, const std::vector<std::uint32_t>& levels, const Relaxation& relaxation, std::int64_t room);

    /// Cost that a choice may add to the relaxed bound and still beat the incumbent; negative: none can.
    [[nodiscard]] double allowance() const
    {
        return static_cast<double>(m_incumbent.target() - baseTicks) + price * static_cast<double>(freeBytes) + m_problem.slack;
    }

    /// Lists items and deviations within the present allowance anew.
    void list();
    /// Orders items by their cheapest deviation and keeps at most `most`.
    void sortItems(std::size_t most);
    /// Splits items of several copies into single ones (at most as many as can move); false if that would be too many.
    bool separate();
    /// The steps of all items, cheapest first.
    void listSteps();

    /// Makes `ticks` with `moves` from the base the incumbent.
    void accept(std::int64_t ticks, const std::vector<Move>& moves);

    /// Lower bound, in ticks, of choices that add `cost`.
    [[nodiscard]] double boundOf(double cost) const
    {
        return static_cast<double>(baseTicks) - price * static_cast<double>(freeBytes) + cost;
    }

    std::vector<Pick> base;
    std::int64_t baseTicks = 0;
    std::int64_t freeBytes = 0; ///< 0 or more
    double price = 0;
    std::vector<Item> items;
    std::vector<Deviation> deviations;
    std::vector<Step> fill; ///< deviations that take bytes, by ratio
    std::vector<Step> free; ///< deviations that give bytes, by ratio

private:
    void addSteps(std::uint32_t item, bool isFill);

    struct Point {
        double bytes = 0;
        double cost = 0;
        std::int32_t deviation = -1;
    };

    const Prepared& m_problem;
    Incumbent& m_incumbent;
    bool m_fixing;
    std::int64_t m_threshold = 0;
    std::vector<Point> m_points;
    std::vector<Point> m_hull;
};

/// Rounds the relaxed choice to whole ones in a few greedy ways; better ones become the incumbent. Needs the core's steps.
void roundGreedily(Core& core, Incumbent& incumbent);

} // namespace loadline::knapsack
