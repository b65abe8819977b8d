// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/plan/planner.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace loadline {

/// Every figure of one choice on one table: a plan that nobody searched for.
Plan pricedPlan(CostTable table, Choice choice);

/// The same decisions, operator by operator, under another setup (of the same model and cluster): what another runtime makes of a plan.
struct Projection {
    Plan plan;
    std::vector<std::string> notes; ///< one sentence for each kind of decision that had to change
};

/// A unit that holds operators of several strategies takes the one with the most parameters. Where that is not offered, slices go first,
/// then keeping the copy, then the group. Errors: a setup that no table can be built of. Thread-safe.
Result<Projection> project(const Plan& plan, const Setup& setup);

/// "costs 1.2 GiB more and 3.20 ms more": what `after` needs beyond `before`, at peak and in step time.
std::string costInWords(const Plan& before, const Plan& after);

} // namespace loadline
