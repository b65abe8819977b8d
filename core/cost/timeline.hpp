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
///
/// Every event is a plain sum over units of per-option terms. With i the running unit, j any unit, units in execution order:
///     base          overhead + constant + sum_j (parameters + optimizer + steadyGradients + keptToEnd)
///     forward i     base + sum_{j<i} (saved + kept)
///                   + max( saved_i + kept_i + forwardTransient_i + beside,                     it runs
///                          gathered_i + kept_i + forwardBuffer_i + gatherTemporary_i + input_i + beside )   it is gathered
///       beside      forwardBuffer of the next rules.gatherAheadForward units that hold parameters; with forwardKeepsBuffer also
///                   that of the last one before i (while i is gathered, and while i runs if i holds no parameters)
///     backward i    base + sum_{j>i} (gradients - steadyGradients + averaged + heldGradient) + sum_{j<i} (saved + kept)
///                   + sum_{j<i in i's recomputed region} (recomputed + gathered if rules.recomputeKeepsGathered)
///                   + max( saved_i + kept_i + recomputed_i + backwardTransient_i + ahead + behind,                  it runs
///                          saved_i + kept_i + recomputed_i + gatheredBackward_i + backwardBuffer_i + gatherTemporary_i + behind, gathered
///                          reduceTransient_i + ahead )                                              it is reduced
///       it is gathered: only with gatherBuffers 2, and in backward gatherTemporary only if it is gathered there at all
///       ahead       backwardBuffer of the next rules.gatherAheadBackward units below i that hold parameters; those of i's recomputed
///                   region add nothing where rules.recomputeKeepsGathered, for they are gathered already
///       behind      reduceBuffer of the last unit above i that holds parameters, if rules.reductionOverlapsNext
///     recompute i   as backward of the region's last unit, with the region's units up to i recomputed and
///                   recomputeTransient_i instead of backwardTransient
///     end           base - sum keptToEnd (kept with rules.replicatedIsRootUnit) + sum of gradients, held gradients, finalBuffer;
///                   only if some finalBuffer is not 0
///     step          overhead + constant + sum_j (parameters + optimizer + gradients + stepTransient)
/// Between slices of one unit `ahead` and `behind` are its own (innerForward, innerBackward, in the transients); the edges
/// with the neighbours count only if larger. A unit that borrows tied parameters adds their unit's gathered copy and gradient.
Timeline playTimeline(const CostTable& table, const Choice& choice);

/// The peak alone: no events stored, nothing allocated. Equals playTimeline(...).peak to the byte.
Bytes timelinePeak(const CostTable& table, const Choice& choice);

/// The paper's bound: states + all activations + largest transient + overhead (OSDP, arXiv 2209.13258). Never below timelinePeak
/// but where a runtime holds two units at once. A recomputed region counts whole, as part of the transient.
Bytes paperPeak(const CostTable& table, const Choice& choice);

/// The peak that the setup's memory mode compares with the budget.
Bytes plannedPeak(const CostTable& table, const Choice& choice);

} // namespace loadline
