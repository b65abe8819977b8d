// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text.hpp"
#include "core/plan/planner_state.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace loadline {
namespace {

struct Reason {
    Bytes bytes;
    std::string sentence;
};

std::string percentOf(Bytes part, Bytes whole)
{
    return fmt::format("{:.0f} %", 100.0 * part.gib() / std::max(whole.gib(), 1e-12));
}

} // namespace

Infeasibility explainInfeasible(const PlannerState& state)
{
    Infeasibility result;
    result.leastBudget = state.smallest.peak;
    result.provenBelow = std::min(state.provenLeast, state.smallest.peak);

    const CostTable& table = state.space.table;
    const Choice& choice = state.smallest.choice;
    Bytes states;
    Bytes saved;
    std::size_t largest = 0;
    Bytes transient;
    for (std::size_t unit = 0; unit < choice.size(); ++unit) {
        const OptionCost& cost = table.options(unit)[choice[unit]];
        states += cost.states();
        saved += cost.saved + cost.kept;
        const Bytes own = std::max(cost.forwardTransient, cost.backwardTransient);
        if (own > transient) {
            transient = own;
            largest = unit;
        }
    }
    const Bytes peak = result.leastBudget;
    std::vector<Reason> reasons{
        {states, fmt::format("Model states need {} even in the leanest way over {} ranks ({} of the least budget).", formatBytes(states),
                             table.setup.cluster.ranks(), percentOf(states, peak))},
        {saved, fmt::format("Activations saved for backward need {} at batch {} and sequence {}.", formatBytes(saved), table.setup.batch,
                            table.setup.sequence)},
        {transient, fmt::format("{} needs {} more while it runs.", table.units[largest].name, formatBytes(transient))},
        {table.overhead + table.constant, fmt::format("Context, communicators, allocator and inputs need {} whatever is chosen.",
                                                      formatBytes(table.overhead + table.constant))},
    };
    std::stable_sort(reasons.begin(), reasons.end(), [](const Reason& a, const Reason& b) { return a.bytes > b.bytes; });
    for (Reason& reason : reasons)
        if (reason.bytes > Bytes())
            result.because.push_back(std::move(reason.sentence));
    return result;
}

} // namespace loadline
