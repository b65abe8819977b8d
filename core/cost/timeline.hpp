// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/units.hpp"
#include "core/cost/cost_table.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace loadline {

enum class MemoryCategory : std::uint8_t { Parameters, Gradients, Optimizer, Activations, Gathered, Overhead };
inline constexpr std::size_t kMemoryCategories = 6;

enum class Phase : std::uint8_t { Forward, Recompute, Backward, Step };

/// Memory of one rank while one unit runs in one phase.
struct TimelineEvent {
    Phase phase = Phase::Forward;
    std::size_t unit = 0;                         ///< index in CostTable::units; of the last unit for Phase::Step
    std::array<Bytes, kMemoryCategories> bytes{}; ///< by category; transient workspace counts as activations

    [[nodiscard]] Bytes total() const;
};

struct Timeline {
    std::vector<TimelineEvent> events; ///< in order of execution
    Bytes peak;
    std::size_t peakEvent = 0;
};

/// Plays one step of `choice` through the runtime's rules. The one source of every memory figure: search, chart,
/// fact strip and check. O(units). With MemoryMode::Paper use `paperPeak`.
Timeline playTimeline(const CostTable& table, const Choice& choice);

/// The peak alone, without storing events. Equals playTimeline(...).peak to the byte.
Bytes timelinePeak(const CostTable& table, const Choice& choice);

/// The paper's bound: states + all activations + largest transient + overhead (osdp.md 1.2). Never below timelinePeak
/// but where a runtime holds two units at once.
Bytes paperPeak(const CostTable& table, const Choice& choice);

/// The peak that the setup's memory mode compares with the budget.
Bytes plannedPeak(const CostTable& table, const Choice& choice);

} // namespace loadline
