// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/planner_state.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace loadline {

/// A search split at one unit: a state for each of its options that the budget lets in. With a large unit fixed (a head, an embedding)
/// one event decides about the peak where several did, and the forms are exact again.
struct PeakBranch {
    std::shared_ptr<const PlannerState> state;
    std::int64_t relaxed = 0; ///< no choice of the branch has fewer ticks
};

/// The unit to branch at: an event that binds is its own, beside it or lent to, and its options differ most. Inside a branch only one that
/// stands alone in its group: others gain too little for their work. Empty: there is none.
std::optional<std::size_t> peakPivot(const PlannerState& state, const std::set<std::size_t>& bindingUnits);

/// Branches that may fit the budget, the most promising first. Some ms for a long model.
std::vector<PeakBranch> branchesAtPeak(const PlannerState& state, std::size_t unit, Bytes budget);

} // namespace loadline
