// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/memory_form.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace loadline {
namespace {

/// Units whose own transient is told apart from those of their group. More would only add classes that never bind:
/// what lies further from the pivot has more saved activations between itself and the peak.
constexpr std::size_t kUnitsApart = 16;

/// One option's bytes as the timeline plays them.
struct Flow {
    std::int64_t always = 0;  ///< from the start to the end of the step
    std::int64_t before = 0;  ///< from this unit's forward to its backward
    std::int64_t after = 0;   ///< from its backward on
    std::int64_t forward = 0; ///< in its forward alone
    std::int64_t backward = 0;
};

Flow flowOf(const OptionCost& cost, bool gradientsFromStart)
{
    Flow flow;
    flow.always = (cost.parameters + cost.optimizer).count();
    flow.before = (cost.saved + cost.kept).count();
    (gradientsFromStart ? flow.always : flow.after) += cost.gradients.count();
    flow.forward = cost.forwardTransient.count();
    flow.backward = cost.backwardTransient.count();
    return flow;
}

using UnitFlows = std::vector<std::vector<Flow>>;

UnitFlows flowsOf(const SearchSpace& space)
{
    const bool gradientsFromStart = space.table.setup.accumulation > 1;
    UnitFlows flows(space.table.units.size());
    for (std::size_t unit = 0; unit < flows.size(); ++unit)
        for (const std::uint32_t index : space.groups[space.groupOfUnit[unit]].options)
            flows[unit].push_back(flowOf(space.option(unit, index), gradientsFromStart));
    return flows;
}

/// The most that the peak can fall, over one unit's options, when the view moves past the unit.
template <class Difference>
std::int64_t mostFall(const std::vector<Flow>& flows, Difference difference)
{
    std::int64_t most = 0;
    for (const Flow& flow : flows)
        most = std::max(most, difference(flow));
    return most;
}

/// The picks of one class in one order: `order` lists (option, how many).
void layOut(const std::vector<std::size_t>& units, const std::vector<std::uint32_t>& options,
            const std::vector<std::pair<std::uint32_t, std::int64_t>>& order, Choice& choice)
{
    std::size_t next = 0;
    for (const auto& [option, count] : order)
        for (std::int64_t i = 0; i < count && next < units.size(); ++i)
            choice[units[next++]] = options[option];
}

} // namespace

Result<MemoryForm> MemoryForm::make(const SearchSpace& space, const std::vector<UnitTerms>& terms)
{
    std::map<std::pair<std::size_t, UnitTerms>, std::size_t> seen;
    std::vector<KnapsackClass> classes;
    std::vector<std::vector<std::size_t>> members;
    for (std::size_t unit = 0; unit < terms.size(); ++unit) {
        const auto [place, isNew] = seen.try_emplace({space.groupOfUnit[unit], terms[unit]}, classes.size());
        if (isNew) {
            KnapsackClass& added = classes.emplace_back();
            const UnitGroup& group = space.groups[space.groupOfUnit[unit]];
            for (std::size_t i = 0; i < group.options.size(); ++i)
                added.options.push_back({terms[unit][i].persist, terms[unit][i].transient, space.ticks(unit, group.options[i])});
            added.count = 0;
            members.emplace_back();
        }
        ++classes[place->second].count;
        members[place->second].push_back(unit);
    }
    auto knapsack = Knapsack::prepare(std::move(classes));
    if (!knapsack)
        return knapsack.error();
    MemoryForm form(*std::move(knapsack));
    form.m_members = std::move(members);
    form.m_constant = space.table.overhead + space.table.constant;
    form.m_least = form.m_constant + Bytes(form.m_knapsack.solve(0).leastBudget);
    return form;
}

Result<MemoryForm> MemoryForm::pivotForm(const SearchSpace& space, std::ptrdiff_t pivot)
{
    const UnitFlows flows = flowsOf(space);
    const auto units = static_cast<std::ptrdiff_t>(flows.size());
    std::vector<UnitTerms> terms(flows.size());
    for (std::ptrdiff_t unit = 0; unit < units; ++unit)
        for (const Flow& flow : flows[static_cast<std::size_t>(unit)])
            terms[static_cast<std::size_t>(unit)].push_back({flow.always + (unit <= pivot ? flow.before : flow.after), 0});

    // Backward of a unit before the pivot comes later: what lies between has turned from saved into gradients.
    std::int64_t fall = 0;
    std::int64_t forwardFall = 0;
    for (std::ptrdiff_t unit = pivot; unit >= 0; --unit) {
        const auto& own = flows[static_cast<std::size_t>(unit)];
        for (std::size_t i = 0; i < own.size(); ++i) {
            std::int64_t bound = own[i].backward - fall;
            if (pivot == units - 1)
                bound = std::max(bound, own[i].forward - forwardFall);
            terms[static_cast<std::size_t>(unit)][i].transient = std::max<std::int64_t>(bound, 0);
        }
        fall += mostFall(own, [](const Flow& flow) { return flow.before - flow.after; });
        forwardFall += mostFall(own, [](const Flow& flow) { return flow.before; });
    }
    // And of a unit after it, earlier: what lies between still held its saved activations and no gradients.
    fall = 0;
    for (std::ptrdiff_t unit = pivot + 1; unit < units; ++unit) {
        const auto& own = flows[static_cast<std::size_t>(unit)];
        for (std::size_t i = 0; i < own.size(); ++i)
            terms[static_cast<std::size_t>(unit)][i].transient =
                std::max<std::int64_t>(own[i].backward + own[i].before - own[i].after - fall, 0);
        fall += mostFall(own, [](const Flow& flow) { return flow.after - flow.before; });
    }

    // Far from the pivot a group shares its least transients: weaker, still a lower bound, and far fewer classes.
    std::map<std::size_t, UnitTerms> shared;
    const auto far = [&](std::ptrdiff_t unit) {
        return static_cast<std::size_t>(unit <= pivot ? pivot - unit : unit - pivot - 1) >= kUnitsApart;
    };
    for (std::ptrdiff_t unit = 0; unit < units; ++unit) {
        if (!far(unit))
            continue;
        const auto& own = terms[static_cast<std::size_t>(unit)];
        const auto [place, isNew] = shared.try_emplace(space.groupOfUnit[static_cast<std::size_t>(unit)], own);
        for (std::size_t i = 0; !isNew && i < own.size(); ++i)
            place->second[i].transient = std::min(place->second[i].transient, own[i].transient);
    }
    for (std::ptrdiff_t unit = 0; unit < units; ++unit)
        if (far(unit))
            for (std::size_t i = 0; i < terms[static_cast<std::size_t>(unit)].size(); ++i)
                terms[static_cast<std::size_t>(unit)][i].transient =
                    shared.at(space.groupOfUnit[static_cast<std::size_t>(unit)])[i].transient;
    return make(space, terms);
}

Result<MemoryForm> MemoryForm::stepForm(const SearchSpace& space)
{
    std::vector<UnitTerms> terms(space.table.units.size());
    for (std::size_t unit = 0; unit < terms.size(); ++unit)
        for (const std::uint32_t index : space.groups[space.groupOfUnit[unit]].options) {
            const OptionCost& cost = space.option(unit, index);
            terms[unit].push_back({(cost.states() + cost.stepTransient).count(), 0});
        }
    return make(space, terms);
}

Result<MemoryForm> MemoryForm::paperForm(const SearchSpace& space)
{
    std::vector<UnitTerms> terms(space.table.units.size());
    for (std::size_t unit = 0; unit < terms.size(); ++unit)
        for (const std::uint32_t index : space.groups[space.groupOfUnit[unit]].options) {
            const OptionCost& cost = space.option(unit, index);
            const Bytes transient = std::max(cost.forwardTransient, cost.backwardTransient);
            terms[unit].push_back({(cost.states() + cost.saved + cost.kept).count(), transient.count()});
        }
    return make(space, terms);
}

MemoryForm::Solution MemoryForm::solve(const SearchSpace& space, Bytes budget, const SearchLimits& limits) const
{
    Solution solution;
    solution.plan = m_knapsack.solve(std::max<std::int64_t>((budget - m_constant).count(), -1), limits);
    if (solution.plan.picks.size() != m_members.size())
        return solution;

    Choice transientsFirst(space.table.units.size());
    Choice transientsLast(space.table.units.size());
    bool mixed = false;
    for (std::size_t i = 0; i < m_members.size(); ++i) {
        const UnitGroup& group = space.groups[space.groupOfUnit[m_members[i].front()]];
        auto order = solution.plan.picks[i];
        mixed = mixed || order.size() > 1;
        std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
            const auto largest = [&](std::uint32_t option) {
                const OptionCost& cost = space.option(m_members[i].front(), group.options[option]);
                return std::pair(std::max(cost.forwardTransient, cost.backwardTransient), Bytes() - cost.saved - cost.kept);
            };
            return largest(a.first) > largest(b.first);
        });
        layOut(m_members[i], group.options, order, transientsFirst);
        std::reverse(order.begin(), order.end());
        layOut(m_members[i], group.options, order, transientsLast);
    }
    solution.choices.push_back(std::move(transientsFirst));
    if (mixed)
        solution.choices.push_back(std::move(transientsLast));
    return solution;
}

std::int64_t MemoryForm::relaxedBound(Bytes budget) const
{
    return m_knapsack.relaxedBound(std::max<std::int64_t>((budget - m_constant).count(), -1));
}

} // namespace loadline
