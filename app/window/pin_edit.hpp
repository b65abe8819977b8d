// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/cost/cost_table.hpp"

#include <string>
#include <vector>

namespace loadline {

/// Pins ("PATTERN=STRATEGY", as loadline-plan reads them) after `units` were pinned to `strategy`: "dp", "zdp", "zdp/4", "recompute"; empty
/// frees them. A new way of storing takes the place of an earlier one of the same units, recomputation likewise; what an earlier pin says
/// of other units stays. Units that cannot take the strategy are left out. Errors: none of them can.
Result<std::vector<std::string>> withPin(const std::vector<std::string>& pins, const CostTable& table,
                                         const std::vector<std::size_t>& units, const std::string& strategy);

/// For each unit what it is pinned to, joined by " + "; empty: free.
std::vector<std::string> pinsByUnit(const std::vector<std::string>& pins, const CostTable& table);

} // namespace loadline
