// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/planner.hpp"

#include <memory>

namespace loadline {

struct ReplannerState; // core/plan/outer_loops.cpp

/// makePlan at many budgets of one request. Tables, bounds and prepared searches of its batches and recomputations are kept
/// between budgets, so that after the first answers little but the search itself is left to do. Answers are makePlan's.
/// Copies share what is kept. Not thread-safe: one search at a time, over all copies.
class Replanner {
public:
    /// `request.budget` and `request.limits` are not looked at.
    explicit Replanner(PlanRequest request);

    /// Errors and stopping as makePlan.
    Result<PlanOutcome> plan(Bytes budget, const SearchLimits& limits = {});

    /// Gives up what is kept, some tens of MB for long models; the next search makes it anew.
    void forget();

private:
    std::shared_ptr<ReplannerState> m_state;
};

} // namespace loadline
