// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/plan/planner.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace loadline {

/// One row of planCsv as read back.
struct PlanRow {
    std::string name;
    std::int64_t parameters = 0;
    Strategy strategy;
    friend bool operator==(const PlanRow&, const PlanRow&) = default;
};

/// One row an operator, with a header: name, unit, parameters, group, slices, sharded_slices, recompute, reshard_after_forward, and what
/// its unit costs (in the row of the unit's first operator, empty in the others): states, saved, transient bytes, and seconds. RFC 4180.
std::string planCsv(const Plan& plan);

/// Reads the decisions back. Errors name `origin` and the line. Any bytes are safe.
Result<std::vector<PlanRow>> readPlanCsv(std::string_view text, std::string_view origin);

} // namespace loadline
