// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/compute_time.hpp"
#include "core/cost/cost_table.hpp"
#include "core/cost/option_walk.hpp"
#include "core/cost/setup.hpp"

namespace loadline {

/// What all options of one unit share.
struct UnitFacts {
    const Unit* unit = nullptr;
    UnitWalk walk;
    std::int64_t uses = 1;                            ///< how often its parameters are gathered in one forward: 1 + units that borrow them
    bool startsRegion = false;                        ///< first unit of a recomputed region, which keeps its input
    std::vector<std::pair<int, ComputeTime>> compute; ///< by slices, of one micro-step
};

/// Memory and time of `unit` under `strategy`. Formulas and their sources: docs/memory-model.md, docs/time-model.md.
OptionCost optionCost(const Setup& setup, const UnitFacts& facts, const Strategy& strategy);

} // namespace loadline
