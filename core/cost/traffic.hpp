// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/units.hpp"
#include "core/cost/cost_table.hpp"

namespace loadline {

/// Bytes of the arrays that one rank's collectives work on in one optimizer step, by kind: the S of the ring formulas, of which a ring
/// of n ranks sends (n - 1) / n (all-reduce: twice that). Whole arrays, padding included.
struct Traffic {
    Bytes allGather;
    Bytes reduceScatter;
    Bytes allReduce;
    friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// What the runtime's rules make of `choice`: the calls whose seconds optionCost adds up (docs/time-model.md). O(units).
Traffic stepTraffic(const CostTable& table, const Choice& choice);

} // namespace loadline
