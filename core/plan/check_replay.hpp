// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/cost_table.hpp"

namespace loadline {

/// The peak of one step, each event summed anew over all units from the formulas in core/cost/timeline.hpp: slow, plain, and
/// without a line of the code that it checks. O(units^2). `choice` must be one option of each unit.
Bytes replayedPeak(const CostTable& table, const Choice& choice);

} // namespace loadline
