// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/baselines.hpp"
#include "core/plan/planner.hpp"

#include <memory>
#include <vector>

namespace loadline {

/// All that the charts show of one answered question. Shared and const: made on a worker, read on the GUI thread.
struct PlanPicture {
    std::shared_ptr<const PlanOutcome> outcome;
    std::shared_ptr<const Timeline> timeline; ///< of the plan; empty if there is none
    Bytes least;                              ///< below it nothing fits
    Bytes most;                               ///< above it the plan no longer changes
    Bytes device;                             ///< memory of one GPU

    [[nodiscard]] const Plan* plan() const { return outcome && outcome->plan ? &*outcome->plan : nullptr; }
};
using PlanPicturePtr = std::shared_ptr<const PlanPicture>;

/// The trade-off of one granularity, with the baselines that stand beside it.
struct TradeOffPicture {
    std::vector<TradeOffPoint> stair; ///< bytes ascending, time falling
    std::vector<Baseline> baselines;
    Bytes device;
};

} // namespace loadline
