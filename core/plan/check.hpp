// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/planner.hpp"

#include <string>
#include <vector>

namespace loadline {

struct PlanCheck {
    Bytes peak;
    Seconds serial;
    Seconds overlapped;
    std::vector<std::string> violations; ///< one sentence each; empty when the plan holds
};

/// Recomputes the plan from its setup alone and compares every figure. Shares no code with the search.
PlanCheck checkPlan(const PlanOutcome& outcome);

} // namespace loadline
