// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/cost/cost_table.hpp"
#include "core/plan/planner.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace loadline {

/// Units that may stand for each other: one cost class, one set of allowed options.
struct UnitGroup {
    std::vector<std::size_t> units;     ///< ascending: execution order
    std::vector<std::uint32_t> options; ///< allowed indices into CostTable::options(unit), ascending
};

/// A cost table in whole numbers, with the pins applied: what every search on it shares. Immutable.
struct SearchSpace {
    CostTable table;
    std::vector<UnitGroup> groups;
    std::vector<std::size_t> groupOfUnit;
    std::vector<std::vector<std::int64_t>> classTicks; ///< [costClass][option]
    double ticksPerSecond = 1e12;                      ///< picoseconds, or coarser where a step would not fit 2^52 of them

    [[nodiscard]] const OptionCost& option(std::size_t unit, std::uint32_t index) const { return table.options(unit)[index]; }
    [[nodiscard]] std::int64_t ticks(std::size_t unit, std::uint32_t index) const { return classTicks[table.units[unit].costClass][index]; }
    [[nodiscard]] std::int64_t ticks(const Choice& choice) const;
    [[nodiscard]] Seconds seconds(std::int64_t ticks) const { return Seconds(static_cast<double>(ticks) / ticksPerSecond); }
};

/// Seconds become whole ticks here, once: sums no longer depend on their order (docs/planning.md 1).
/// Errors: a table without units, a unit without options, seconds or bytes that are negative or not finite, a pin that
/// matches nothing or asks for what a unit does not have.
Result<SearchSpace> makeSearchSpace(CostTable table, const std::vector<Pin>& pins);

} // namespace loadline
