// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/peak_branches.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace loadline {

struct SearchResult {
    std::optional<PricedChoice> best; ///< peak <= budget; empty: none was found
    std::int64_t lowerBound = 0;      ///< no choice within the budget has fewer ticks
    double ticksPerByte = 0;          ///< shadow price
    std::int64_t work = 0;
    bool cancelled = false;
    std::optional<std::size_t> pivot; ///< unit at which it was branched, if it was
    std::vector<PeakBranch> branches;
    std::vector<std::shared_ptr<const MemoryForm>> forms; ///< that this search made beside the state's, of several events each
};

/// The fastest choice whose planned peak stays within `budget`, with a bound (docs/planning.md). Deterministic.
SearchResult searchBudget(const PlannerState& state, Bytes budget, const SearchLimits& limits);

} // namespace loadline
