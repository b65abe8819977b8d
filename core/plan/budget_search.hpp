// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/planner_state.hpp"

#include <optional>

namespace loadline {

struct SearchResult {
    std::optional<PricedChoice> best; ///< peak <= budget; empty: none was found
    std::int64_t lowerBound = 0;      ///< no choice within the budget has fewer ticks
    double ticksPerByte = 0;          ///< shadow price
    std::int64_t work = 0;
    bool cancelled = false;
};

/// The fastest choice whose planned peak stays within `budget`, with a bound (docs/planning.md). Deterministic.
SearchResult searchBudget(const PlannerState& state, Bytes budget, const SearchLimits& limits);

} // namespace loadline
