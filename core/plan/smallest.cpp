// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/planner_state.hpp"

#include <algorithm>
#include <array>

namespace loadline {
namespace {

std::array<Bytes, 7> memoryOf(const OptionCost& cost)
{
    return {cost.parameters + cost.optimizer,  cost.gradients, cost.saved, cost.kept, cost.forwardTransient, cost.backwardTransient,
            cost.stepTransient + cost.gathered};
}

bool noLarger(const OptionCost& a, const OptionCost& b)
{
    const auto left = memoryOf(a);
    const auto right = memoryOf(b);
    return std::equal(left.begin(), left.end(), right.begin(), [](Bytes x, Bytes y) { return x <= y; });
}

/// The options of a group that no other one undercuts in every kind of memory.
std::vector<std::uint32_t> leanOptions(const SearchSpace& space, const UnitGroup& group)
{
    const std::size_t first = group.units.front();
    std::vector<std::uint32_t> lean;
    for (const std::uint32_t option : group.options) {
        const OptionCost& cost = space.option(first, option);
        const bool undercut =
            std::any_of(lean.begin(), lean.end(), [&](std::uint32_t other) { return noLarger(space.option(first, other), cost); });
        if (undercut)
            continue;
        std::erase_if(lean, [&](std::uint32_t other) { return noLarger(cost, space.option(first, other)); });
        lean.push_back(option);
    }
    return lean;
}

/// Goes over to `candidate` if its peak is lower, or equal and it is faster.
bool improves(const PricedChoice& candidate, const PricedChoice& now)
{
    return std::pair(candidate.peak, candidate.ticks) < std::pair(now.peak, now.ticks);
}

/// Whole groups, one after the other, to the option that lowers the peak most, until none does.
void descend(const SearchSpace& space, PricedChoice& now)
{
    constexpr int kRounds = 4;
    // Each trial plays the timeline once.
    std::size_t trials = 20'000'000 / std::max<std::size_t>(now.choice.size(), 1);
    bool improved = true;
    for (int round = 0; round < kRounds && improved; ++round) {
        improved = false;
        for (const UnitGroup& group : space.groups) {
            for (const std::uint32_t option : leanOptions(space, group)) {
                if (trials-- == 0)
                    return;
                Choice changed = now.choice;
                for (const std::size_t unit : group.units)
                    changed[unit] = option;
                PricedChoice candidate = priced(space, std::move(changed));
                if (candidate.peak < now.peak) {
                    now = std::move(candidate);
                    improved = true;
                }
            }
        }
    }
}

} // namespace

void findSmallest(PlannerState& state)
{
    const SearchSpace& space = state.space;
    state.smallest = state.fastest;
    state.provenLeast = Bytes();
    for (const MemoryForm& form : state.forms) {
        state.provenLeast = std::max(state.provenLeast, form.leastBudget());
        for (Choice& choice : form.solve(space, form.leastBudget(), {}).choices) {
            PricedChoice candidate = priced(space, std::move(choice));
            if (improves(candidate, state.smallest))
                state.smallest = std::move(candidate);
        }
    }
    if (state.smallest.peak > state.provenLeast)
        descend(space, state.smallest);
}

} // namespace loadline
