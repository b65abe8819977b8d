// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/exchange/plan_document.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace loadline {

/// One page that needs nothing else (no network, no script): facts with the proof, memory over one step, the decision of each unit, time of
/// each unit, the trade-off (left out where `stair` is empty), baselines, the table of units, and where every figure comes from. The plan's
/// own document lies inside, so that nothing is lost. The plan must have been found.
std::string htmlReport(const PlanDocument& document, const std::vector<TradeOffPoint>& stair);

/// The plan inside a page that `htmlReport` wrote. Errors: no such page, and as readPlan.
Result<SavedPlan> readHtmlReport(std::string_view text, std::string_view origin);

} // namespace loadline
