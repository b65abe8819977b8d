// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/plan/planner.hpp"

#include <cstdint>
#include <vector>

namespace loadline {

/// For each unit, the options that the pins leave it, ascending; without pins all of them.
///
/// A strategy is read as terms joined by '+': one of "dp", "zdp", "d8" (all slices sharded over all ranks, over 8), each with
/// an optional "/4" (slices), or "2of4" (the first 2 of 4 slices sharded), with "d8" before it ("d8:2of4") where the group
/// matters; then "recompute" and "keep" in any order. A pin that names a way of storing also says that the copy is not
/// kept, unless it says "keep"; it leaves recomputation open, unless it says "recompute". Several pins on one unit must all
/// hold. Units without parameters have nothing to shard and only heed "recompute".
/// Errors: an unreadable strategy, a pattern that matches no unit, a strategy that a matched unit does not have, two pins
/// that exclude each other.
Result<std::vector<std::vector<std::uint32_t>>> allowedOptions(const CostTable& table, const std::vector<Pin>& pins);

} // namespace loadline
