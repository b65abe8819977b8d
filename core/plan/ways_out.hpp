// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/planner.hpp"

#include <vector>

namespace loadline {

/// What would lower the least budget of `setup`, each tried by solving with `request`'s pins: finer splits, batch 1,
/// recomputing all blocks, twice the ranks, all of them together. Only what helps, best first.
std::vector<WayOut> waysOut(const PlanRequest& request, const Setup& setup, Bytes leastBudget);

} // namespace loadline
