// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/cost_table.hpp"

#include <optional>
#include <string>

namespace loadline {

struct OsdpRelease {
    std::optional<Choice> choice;
    std::string note; ///< what was mapped, or why there is no choice
};

/// What the authors' released scheduler picks (docs/sources.md, OSDP), on this cost table: per block one of four levels
/// (0 = DP, 1 = attention's linears sharded, 2 = the MLP's, 3 = both), memory of a block cut to whole MiB, 800 MiB taken off
/// the budget, least time. As in the release all else is DP and not counted, and transients are not looked at.
OsdpRelease osdpReleaseChoice(const CostTable& table, Bytes budget);

} // namespace loadline
