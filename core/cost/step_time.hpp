// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/units.hpp"
#include "core/cost/cost_table.hpp"

#include <vector>

namespace loadline {

/// When one unit's work runs on the two streams; seconds from the start of the step.
struct StreamSpan {
    enum class Kind { ForwardGather, ForwardCompute, BackwardGather, BackwardCompute, Reduce, Step };
    Kind kind = Kind::ForwardCompute;
    std::size_t unit = 0;
    Seconds start;
    Seconds end;
};

struct StepTime {
    Seconds serial;     ///< the paper's sum of compute and communication
    Seconds overlapped; ///< two streams under the runtime's rules
    Seconds compute;
    Seconds communication;
    Seconds exposed;                    ///< overlapped - compute: communication that compute does not hide
    std::vector<Seconds> exposedByUnit; ///< sums to `exposed`

    /// The one that a time mode minimises.
    [[nodiscard]] Seconds in(TimeMode mode) const { return mode == TimeMode::Overlap ? overlapped : serial; }
};

/// One linear pass over two streams, equal to the recurrence in docs/time-model.md. A gather is issued as many units
/// ahead as the setup's rules say (positions, also those of units that gather nothing), a reduction when its unit's
/// backward has ended, all in one first-in-first-out queue. Accumulation repeats forward, backward and the reductions
/// into shards (OptionCost::scatter); other reductions come in the last micro-step. A micro-step ends with its last
/// reduction, as FSDP2's final backward callback waits for it; then the optimizer steps. `choice` must have one valid
/// index per unit.
StepTime stepTime(const CostTable& table, const Choice& choice);

/// With more micro-steps than this the spans show the first ones and the last; the time between stays empty.
inline constexpr std::int64_t kMostDrawnMicroSteps = 16;

/// The same schedule as spans, for a chart; in order of their end within a micro-step. Ends with stepTime(...).overlapped.
std::vector<StreamSpan> streamSpans(const CostTable& table, const Choice& choice);

} // namespace loadline
