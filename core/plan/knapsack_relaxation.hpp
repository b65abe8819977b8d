// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/knapsack_effort.hpp"
#include "core/plan/knapsack_prepared.hpp"

#include <cstdint>
#include <vector>

namespace loadline::knapsack {

/// The linear relaxation at one threshold: options may be mixed in any proportion.
struct Relaxation {
    bool feasible = false;
    double price = 0;         ///< multiplier, ticks per byte; 0 when memory does not bind
    std::int64_t persist = 0; ///< of the cheapest corners at that price, at most the room
    std::int64_t ticks = 0;   ///< of the same corners
    double bound = 0;         ///< ticks - price x (room - persist): no assignment under the threshold is faster
};

/// Solves it for `levels` (one a group) and `room` = budget - threshold bytes. `firstPrice` > 0 saves iterations.
Relaxation relax(const Prepared& problem, const std::vector<std::uint32_t>& levels, std::int64_t room, double firstPrice, Effort& effort);

/// What is known of one threshold.
struct ThresholdBound {
    std::int64_t threshold = 0;
    double bound = 0; ///< the best at any multiplier tried: weaker than its own relaxation's, but all thresholds cost one walk
    bool feasible = false;
    bool isRelaxed = false; ///< `relaxation` is set, and `bound` is its
    Relaxation relaxation;
};

/// Bounds of all thresholds, raised multiplier by multiplier.
class ThresholdBounds {
public:
    ThresholdBounds(const Prepared& problem, std::int64_t budget, Effort& effort);

    /// Relaxes the threshold with the least bound, again and again, until that is a relaxed one, or `most` were relaxed.
    /// Null if nothing fits; else the relaxed one with the least bound.
    const ThresholdBound* search(int most);

    [[nodiscard]] const std::vector<ThresholdBound>& all() const { return m_bounds; } ///< by threshold descending
    /// Ticks by which a bound that is not a relaxed one can be off.
    [[nodiscard]] double slack() const { return m_slack; }

    /// Raises all bounds at one more multiplier by a walk from the largest threshold down. Stops where no threshold further down
    /// can have a bound under `until`: those are raised to that.
    void sweep(double price, double until);

private:
    const Prepared& m_problem;
    std::int64_t m_budget;
    Effort& m_effort;
    double m_slack;
    std::vector<ThresholdBound> m_bounds;
};

/// `bound` ticks as a whole number that is surely no more than what it bounds.
std::int64_t wholeBound(const Prepared& problem, double bound);

} // namespace loadline::knapsack
