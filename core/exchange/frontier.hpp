// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/exchange/plan_document.hpp"

#include <string>
#include <vector>

namespace loadline {

/// Least step time as a function of the budget, for one batch.
struct Frontier {
    std::vector<TradeOffPoint> points; ///< bytes ascending, seconds descending
    Setup setup;
    bool choosesRecomputation = false; ///< at each budget anew; else it is the setup's
    Provenance provenance;
};

/// The document "loadline.frontier/1" (docs/formats.md).
std::string frontierJson(const Frontier& frontier);

/// "budget_bytes,step_seconds,samples_per_second" and a line a corner.
std::string frontierCsv(const Frontier& frontier);

/// The document "loadline.check/1": whether a saved plan holds, and what differs.
std::string checkJson(const SavedPlan& plan, const std::vector<std::string>& violations);

} // namespace loadline
