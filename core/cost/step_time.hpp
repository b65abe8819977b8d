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
};

/// One linear pass (solver-overlap recurrence); accumulation repeats forward and backward.
StepTime stepTime(const CostTable& table, const Choice& choice);

/// The same schedule as spans, for a chart. Same end time as stepTime(...).overlapped.
std::vector<StreamSpan> streamSpans(const CostTable& table, const Choice& choice);

} // namespace loadline
