// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/memory_form.hpp"
#include "core/plan/overlap_chain.hpp"
#include "core/plan/search_space.hpp"

#include <optional>
#include <vector>

namespace loadline {

/// A choice with the two figures that decide about it.
struct PricedChoice {
    Choice choice;
    std::int64_t ticks = 0;
    Bytes peak; ///< plannedPeak
};

PricedChoice priced(const SearchSpace& space, Choice choice);

/// Forms that every search on `space` begins with; one starts from the event at which `fastest` has its peak. Errors: as MemoryForm::make.
Result<std::vector<MemoryForm>> makeForms(const SearchSpace& space, const Choice& fastest);

/// What `Planner::prepare` works out once. Immutable.
struct PlannerState {
    SearchSpace space;
    std::vector<MemoryForm> forms;     ///< lower bounds of the planned peak; exact for the paper's bound
    PricedChoice fastest;              ///< each unit's fastest option; among equals the one with the least memory
    PricedChoice smallest;             ///< the least peak that was found
    std::optional<OverlapChain> chain; ///< with TimeMode::Overlap
    int depth = 0;                     ///< of branching at the peak
    Bytes provenLeast;                 ///< no choice has a smaller peak; equal to smallest.peak where that is proven
};

/// The least peak that can be found and the bound below which there is none.
void findSmallest(PlannerState& state);

/// Words for a budget that nothing fits; without ways out, which need other cost tables.
Infeasibility explainInfeasible(const PlannerState& state);

} // namespace loadline
