// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/peak_branches.hpp"

#include <algorithm>

namespace loadline {
namespace {

/// How far apart the options of a unit are in what they add to an event.
Bytes spread(const SearchSpace& space, std::size_t unit)
{
    const auto bytes = [&](std::uint32_t option) {
        const OptionCost& cost = space.option(unit, option);
        return std::max(cost.forwardTransient, cost.backwardTransient) + cost.states();
    };
    const auto& options = space.groups[space.groupOfUnit[unit]].options;
    Bytes low = bytes(options.front());
    Bytes high = low;
    for (const std::uint32_t option : options) {
        low = std::min(low, bytes(option));
        high = std::max(high, bytes(option));
    }
    return high - low;
}

/// Leaves `unit` one option; out of a larger group it becomes one of its own.
void fix(SearchSpace& space, std::size_t unit, std::uint32_t option)
{
    UnitGroup& group = space.groups[space.groupOfUnit[unit]];
    if (group.units.size() == 1) {
        group.options = {option};
        return;
    }
    std::erase(group.units, unit);
    space.groupOfUnit[unit] = space.groups.size();
    space.groups.push_back({{unit}, {option}});
}

std::shared_ptr<PlannerState> branchOf(const PlannerState& state, std::size_t unit, std::uint32_t option)
{
    auto branch = std::make_shared<PlannerState>();
    branch->depth = state.depth + 1;
    branch->space = state.space;
    fix(branch->space, unit, option);
    const auto with = [&](Choice choice) {
        choice[unit] = option;
        return priced(branch->space, std::move(choice));
    };
    branch->fastest = with(state.fastest.choice);
    branch->smallest = with(state.smallest.choice);
    auto forms = makeForms(branch->space, branch->fastest.choice);
    if (!forms)
        return nullptr;
    branch->forms = *std::move(forms);
    branch->provenLeast = state.provenLeast;
    for (const MemoryForm& form : branch->forms)
        branch->provenLeast = std::max(branch->provenLeast, form.leastBudget());
    return branch;
}

} // namespace

std::optional<std::size_t> peakPivot(const PlannerState& state, const std::set<std::size_t>& bindingUnits)
{
    const SearchSpace& space = state.space;
    std::optional<std::size_t> best;
    Bytes most;
    const auto look = [&](std::size_t unit) {
        const UnitGroup& group = space.groups[space.groupOfUnit[unit]];
        if (group.options.size() < 2 || (group.units.size() > 1 && state.depth > 0))
            return;
        if (const Bytes apart = spread(space, unit); apart > most) {
            most = apart;
            best = unit;
        }
    };
    for (const std::size_t event : bindingUnits) {
        for (std::size_t unit = event > 0 ? event - 1 : 0; unit < std::min(event + 2, space.groupOfUnit.size()); ++unit)
            look(unit);
        for (const std::size_t lender : space.table.units[event].borrows)
            look(lender);
    }
    return best;
}

std::vector<PeakBranch> branchesAtPeak(const PlannerState& state, std::size_t unit, Bytes budget)
{
    std::vector<PeakBranch> branches;
    for (const std::uint32_t option : state.space.groups[state.space.groupOfUnit[unit]].options) {
        PeakBranch branch{branchOf(state, unit, option), 0};
        if (!branch.state)
            return {}; // its forms are numbers too large to add up: nothing is known of this option
        if (budget < branch.state->provenLeast)
            continue;
        for (const MemoryForm& form : branch.state->forms)
            branch.relaxed = std::max(branch.relaxed, form.relaxedBound(budget));
        branches.push_back(std::move(branch));
    }
    std::stable_sort(branches.begin(), branches.end(), [](const PeakBranch& a, const PeakBranch& b) { return a.relaxed < b.relaxed; });
    return branches;
}

} // namespace loadline
