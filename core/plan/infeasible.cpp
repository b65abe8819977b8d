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

/// What is alive at one event, in the parts that people can do something about; their sum is the event's memory.
struct Parts {
    Bytes states;
    Bytes saved;
    Bytes fixed;
    Bytes running;
};

Parts partsAt(const CostTable& table, const Choice& choice, const TimelineEvent& event)
{
    Parts parts;
    parts.fixed = table.overhead + table.constant;
    for (std::size_t unit = 0; unit < choice.size(); ++unit) {
        const OptionCost& cost = table.options(unit)[choice[unit]];
        const bool backwardDone = event.phase == Phase::Step || (event.phase != Phase::Forward && unit > event.unit);
        parts.states += cost.parameters + cost.optimizer + (backwardDone ? cost.gradients : cost.steadyGradients);
        if (event.phase != Phase::Step && unit <= event.unit)
            parts.saved += cost.saved + cost.kept;
    }
    parts.running = std::max(event.total() - parts.states - parts.saved - parts.fixed, Bytes());
    return parts;
}

/// The same for the paper's bound, which is no event: everything saved at once, and the largest transient.
Parts partsOfPaper(const CostTable& table, const Choice& choice, Bytes peak)
{
    Parts parts;
    parts.fixed = table.overhead + table.constant;
    for (std::size_t unit = 0; unit < choice.size(); ++unit) {
        const OptionCost& cost = table.options(unit)[choice[unit]];
        parts.states += cost.states();
        parts.saved += cost.saved + cost.kept;
    }
    parts.running = std::max(peak - parts.states - parts.saved - parts.fixed, Bytes());
    return parts;
}

std::string whatRuns(const CostTable& table, const TimelineEvent& event)
{
    const Unit& unit = table.units[event.unit];
    switch (event.phase) {
    case Phase::Step:
        return "The optimizer step";
    case Phase::Forward:
        return "Forward of " + unit.name;
    case Phase::Recompute:
        return "Recomputing " + unit.name;
    case Phase::Backward:
        break;
    }
    return "Backward of " + unit.name;
}

/// Logits are what people do not expect there.
std::string aside(const CostTable& table, const TimelineEvent& event)
{
    const Place place = table.units[event.unit].place;
    const bool logits = event.phase != Phase::Step && (place == Place::Loss || place == Place::Head);
    return logits ? ", most of it logits and their gradients" : "";
}

} // namespace

Infeasibility explainInfeasible(const PlannerState& state)
{
    Infeasibility result;
    result.leastBudget = state.smallest.peak;
    result.provenBelow = std::min(state.provenLeast, state.smallest.peak);

    const CostTable& table = state.space.table;
    const Choice& choice = state.smallest.choice;
    const Timeline timeline = playTimeline(table, choice);
    const TimelineEvent& event = timeline.events[timeline.peakEvent];
    const bool paper = table.setup.memory == MemoryMode::Paper;
    const Parts parts = paper ? partsOfPaper(table, choice, result.leastBudget) : partsAt(table, choice, event);
    const std::int64_t ranks = table.setup.cluster.ranks();
    std::vector<Reason> reasons{
        {parts.states, fmt::format("Model states need {} even in the leanest way over {} rank{}.", formatBytes(parts.states), ranks,
                                   ranks == 1 ? "" : "s")},
        {parts.saved, fmt::format("Activations saved for backward need {} at batch {} and sequence {}.", formatBytes(parts.saved),
                                  table.setup.batch, table.setup.sequence)},
        {parts.running,
         paper ? fmt::format("The largest transient needs {}.", formatBytes(parts.running))
               : fmt::format("{} needs {} more while it runs{}.", whatRuns(table, event), formatBytes(parts.running), aside(table, event))},
        {parts.fixed, fmt::format("Context, communicators, allocator and inputs need {} whatever is chosen.", formatBytes(parts.fixed))},
    };
    std::stable_sort(reasons.begin(), reasons.end(), [](const Reason& a, const Reason& b) { return a.bytes > b.bytes; });
    for (Reason& reason : reasons)
        if (reason.bytes > Bytes())
            result.because.push_back(std::move(reason.sentence));
    return result;
}

} // namespace loadline
