// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/memory_form.hpp"

#include <algorithm>
#include <map>

namespace loadline {
namespace {

using Picks = std::vector<std::pair<std::uint32_t, std::int64_t>>;

/// The picks of one class in one order.
void layOut(const std::vector<std::size_t>& units, const std::vector<std::uint32_t>& options, const Picks& order, Choice& choice)
{
    std::size_t next = 0;
    for (const auto& [option, count] : order)
        for (std::int64_t i = 0; i < count && next < units.size(); ++i)
            choice[units[next++]] = options[option];
}

} // namespace

Result<MemoryForm> MemoryForm::make(const SearchSpace& space, const MemoryTerms& terms, std::int64_t scale)
{
    std::map<std::pair<std::size_t, std::vector<MemoryTerm>>, std::size_t> seen;
    std::vector<KnapsackClass> classes;
    std::vector<std::vector<std::size_t>> members;
    std::vector<std::size_t> classOfUnit;
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
        classOfUnit.push_back(place->second);
    }
    auto knapsack = Knapsack::prepare(std::move(classes));
    if (!knapsack)
        return knapsack.error();
    MemoryForm form(*std::move(knapsack));
    form.m_members = std::move(members);
    form.m_classOfUnit = std::move(classOfUnit);
    form.m_scale = scale;
    form.m_constant = (space.table.overhead + space.table.constant) * scale;
    form.m_least = Bytes(ceilDiv(form.m_constant.count() + form.m_knapsack.solve(0).leastBudget, scale));
    return form;
}

MemoryForm::Solution MemoryForm::solve(const SearchSpace& space, Bytes budget, const SearchLimits& limits) const
{
    Solution solution;
    solution.plan = m_knapsack.solve(capacity(budget), limits);
    solution.plan.multiplier *= static_cast<double>(m_scale);
    if (solution.plan.picks.size() != m_members.size())
        return solution;

    Choice transientsFirst(space.table.units.size());
    Choice transientsLast(space.table.units.size());
    bool mixed = false;
    for (std::size_t i = 0; i < m_members.size(); ++i) {
        const std::size_t first = m_members[i].front();
        const auto& options = space.groups[space.groupOfUnit[first]].options;
        Picks order = solution.plan.picks[i];
        mixed = mixed || order.size() > 1;
        // Large transients early, where less is saved; options that save much late, where it is held more briefly.
        const auto weight = [&](std::uint32_t option) {
            const OptionCost& cost = space.option(first, options[option]);
            return std::pair(std::max(cost.forwardTransient, cost.backwardTransient), Bytes() - cost.saved - cost.kept);
        };
        std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) { return weight(a.first) > weight(b.first); });
        layOut(m_members[i], options, order, transientsFirst);
        std::reverse(order.begin(), order.end());
        layOut(m_members[i], options, order, transientsLast);
    }
    solution.choices.push_back(std::move(transientsFirst));
    if (mixed)
        solution.choices.push_back(std::move(transientsLast));
    return solution;
}

Bytes MemoryForm::value(const SearchSpace& space, const Choice& choice) const
{
    std::int64_t persist = 0;
    std::int64_t transient = 0;
    for (std::size_t unit = 0; unit < choice.size(); ++unit) {
        const auto& allowed = space.groups[space.groupOfUnit[unit]].options;
        const auto place = std::find(allowed.begin(), allowed.end(), choice[unit]) - allowed.begin();
        const KnapsackOption& option = m_knapsack.classes()[m_classOfUnit[unit]].options[static_cast<std::size_t>(place)];
        persist += option.persist;
        transient = std::max(transient, option.transient);
    }
    return m_constant + Bytes(persist + transient);
}

std::int64_t MemoryForm::relaxedBound(Bytes budget) const
{
    return m_knapsack.relaxedBound(capacity(budget));
}

} // namespace loadline
