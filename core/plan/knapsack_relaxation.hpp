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

/// The bound of one threshold at some multiplier: weaker than `relax`, but all thresholds cost one walk.
struct ThresholdBound {
    std::int64_t threshold = 0;
    double bound = 0;
    bool feasible = false;
};

/// Bounds of all thresholds at `price`, from the largest down, until none below can stay under `until`.
void sweepThresholds(const Prepared& problem, std::int64_t budget, double price, double until, std::vector<ThresholdBound>& bounds,
                     Effort& effort);

/// Ticks by which the sums of `sweepThresholds` can be off.
double sweepSlack(const Prepared& problem);

/// The threshold with the least relaxed bound, and that bound.
struct BestRelaxation {
    std::int64_t threshold = 0;
    Relaxation relaxation;
};

/// Goes to and fro between multiplier and threshold. Not proved to be the least; a start. `feasible` false if nothing fits.
BestRelaxation findStart(const Prepared& problem, std::int64_t budget, Effort& effort);

/// `bound` ticks as a whole number that is surely no more than what it bounds.
std::int64_t wholeBound(const Prepared& problem, double bound);

} // namespace loadline::knapsack
