// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/planner.hpp"

#include <QString>

#include <vector>

namespace loadline {

/// Operators of one kind whose strategy changed in the same way.
struct Change {
    QString where; ///< "blocks 12–18 · mlp.down_proj", "lm_head"
    QString what;  ///< "sharded → 2 of 4 sharded"
    Seconds delta; ///< of their compute and communication together; negative is faster
    std::vector<std::size_t> units;
};

/// What differs between two plans of the same units, the largest effect first; empty if the units differ (another model).
std::vector<Change> changesBetween(const Plan& before, const Plan& after);

/// "3, 5–9": ascending numbers in runs.
QString runsText(const std::vector<int>& numbers);

} // namespace loadline
