// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/budget_search.hpp"

#include <optional>

namespace loadline {

struct OverlapResult {
    std::optional<PricedChoice> best; ///< peak <= budget
    Seconds seconds;                  ///< overlapped step time of `best`
    Seconds lowerBound;               ///< no choice within the budget takes less overlapped time
    double secondsPerByte = 0;        ///< shadow price
    std::int64_t work = 0;
    bool cancelled = false;
};

/// The choice with the least overlapped step time whose planned peak stays within `budget`, with a bound (docs/search.md).
/// `serial` is the answer to the serial question: never worse than its choice. Deterministic: limits are counters.
OverlapResult searchOverlap(const PlannerState& state, Bytes budget, const SearchResult& serial, const SearchLimits& limits);

} // namespace loadline
