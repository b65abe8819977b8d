// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/planner.hpp"

#include <vector>

namespace loadline {

/// The drawn trade-off of a request: least step time over the budget as a strictly falling stair of real plans.
///
/// Batch and accumulation are those of `request.setup`; its budget and choosing of batches are not looked at. With
/// Recompute::Auto the stair is the lower envelope over the numbers of recomputed blocks (of more than 64 blocks, 65 numbers evenly
/// spread), `steps` budgets each. The work limit holds for each number of blocks; stopping leaves what was found, a valid but coarser
/// stair. Errors: as buildCostTable and Planner::prepare. Thread-safe.
Result<std::vector<TradeOffPoint>> tradeOff(const PlanRequest& request, int steps);

} // namespace loadline
