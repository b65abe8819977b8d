// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/cost/cost_table.hpp"
#include "core/cost/setup.hpp"
#include "core/cost/strategy.hpp"

#include <cstdint>
#include <vector>

namespace loadline {

/// Shard group sizes that are offered, ascending, 1 first: `setup.groups`, or 1, GPUs per node and all ranks.
/// Errors: a group that is not a divisor of the ranks.
Result<std::vector<std::int64_t>> offeredGroups(const Setup& setup);

/// The linear that a unit can be split along, or nullptr: the unit is one linear with parameters that nobody shares.
const LinearTraits* splittableLinear(const Setup& setup, const Unit& unit);

/// Every strategy that `unit` may take, in canonical order: DP, then by group, kept or not, slices, sharded slices.
/// `shared` says that other units use its parameters too, which rules out slices.
std::vector<Strategy> offeredStrategies(const Setup& setup, const Unit& unit, bool shared, const std::vector<std::int64_t>& groups);

} // namespace loadline
