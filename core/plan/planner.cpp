// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/planner.hpp"

#include "core/plan/budget_search.hpp"
#include "core/plan/overlap_search.hpp"
#include "core/plan/planner_state.hpp"

#include <algorithm>
#include <tuple>

namespace loadline {
namespace {

std::int64_t samplesPerStep(const Setup& setup)
{
    return setup.batch * setup.accumulation * setup.cluster.ranks();
}

double perSecond(double amount, Seconds step)
{
    return step.value() > 0 ? amount / step.value() : 0;
}

Choice fastestChoice(const SearchSpace& space)
{
    Choice choice(space.table.units.size());
    for (const UnitGroup& group : space.groups) {
        const std::size_t first = group.units.front();
        const auto key = [&](std::uint32_t index) {
            const OptionCost& cost = space.option(first, index);
            return std::tuple(space.ticks(first, index), cost.states() + cost.saved + cost.kept,
                              std::max(cost.forwardTransient, cost.backwardTransient));
        };
        const std::uint32_t best = *std::min_element(group.options.begin(), group.options.end(),
                                                     [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
        for (const std::size_t unit : group.units)
            choice[unit] = best;
    }
    return choice;
}

bool hasRootReduction(const CostTable& table)
{
    for (const auto& options : table.classOptions)
        for (const OptionCost& option : options)
            if (option.finalBuffer > Bytes())
                return true;
    return false;
}

std::vector<MemoryTerms> termsOf(const SearchSpace& space, const Choice& fastest)
{
    std::vector<MemoryTerms> terms;
    if (hasRootReduction(space.table))
        terms.push_back(endTerms(space));
    terms.push_back(stepTerms(space));
    if (space.table.setup.memory == MemoryMode::Paper) {
        terms.push_back(paperTerms(space));
        return terms;
    }
    terms.push_back(backwardTerms(space, space.table.units.size() - 1));
    terms.push_back(backwardTerms(space, 0));
    const Timeline timeline = playTimeline(space.table, fastest);
    terms.push_back(termsAt(space, timeline.events[timeline.peakEvent]));
    return terms;
}

Plan finishedPlan(const SearchSpace& space, const PricedChoice& chosen)
{
    Plan plan;
    plan.table = space.table;
    plan.choice = chosen.choice;
    plan.peak = chosen.peak;
    plan.paperPeak = paperPeak(space.table, chosen.choice);
    plan.time = stepTime(space.table, chosen.choice);
    plan.objective = plan.time.in(plan.table.setup.time);
    return plan;
}

} // namespace

Result<std::vector<MemoryForm>> makeForms(const SearchSpace& space, const Choice& fastest)
{
    std::vector<MemoryForm> forms;
    for (const MemoryTerms& terms : termsOf(space, fastest)) {
        auto form = MemoryForm::make(space, terms);
        if (!form)
            return form.error();
        forms.push_back(*std::move(form));
    }
    return forms;
}

double Plan::samplesPerSecond() const
{
    return perSecond(static_cast<double>(samplesPerStep(table.setup)), objective);
}

double Plan::tokensPerSecond() const
{
    return samplesPerSecond() * static_cast<double>(table.setup.sequence);
}

PricedChoice priced(const SearchSpace& space, Choice choice)
{
    PricedChoice result;
    result.ticks = space.ticks(choice);
    result.peak = plannedPeak(space.table, choice);
    result.choice = std::move(choice);
    return result;
}

Result<Planner> Planner::prepare(CostTable table, const std::vector<Pin>& pins)
{
    auto space = makeSearchSpace(std::move(table), pins);
    if (!space)
        return space.error();
    auto state = std::make_shared<PlannerState>();
    state->space = *std::move(space);
    state->fastest = priced(state->space, fastestChoice(state->space));
    auto forms = makeForms(state->space, state->fastest.choice);
    if (!forms)
        return forms.error();
    state->forms = *std::move(forms);
    findSmallest(*state);
    if (state->space.table.setup.time == TimeMode::Overlap) {
        state->chain = makeOverlapChain(state->space);
        if (!state->chain)
            return unsupported("rules that gather more than one unit ahead cannot be planned for overlapped time; use --time serial");
    }
    return Planner(std::move(state));
}

const CostTable& Planner::table() const
{
    return m_state->space.table;
}

Bytes Planner::leastBudget() const
{
    return m_state->smallest.peak;
}

Bytes Planner::mostBudget() const
{
    return std::max(m_state->fastest.peak, m_state->smallest.peak);
}

namespace {

/// Words and gap of what was found, with the bound as it is proven.
void conclude(PlanOutcome& outcome, Seconds lowerBound, bool optimal)
{
    const Seconds objective = outcome.plan->objective;
    outcome.lowerBound = optimal ? objective : std::min(lowerBound, objective);
    outcome.gap = objective.value() > 0 ? (objective - outcome.lowerBound).value() / objective.value() : 0;
    outcome.status = outcome.gap > 0 ? SearchStatus::WithinGap : SearchStatus::Optimal;
}

PlanOutcome overlappedPlan(const PlannerState& state, Bytes budget, const SearchResult& serial, const SearchLimits& limits,
                           PlanOutcome outcome)
{
    const OverlapResult found = searchOverlap(state, budget, serial, limits);
    outcome.work = found.work;
    outcome.cancelled = found.cancelled;
    outcome.secondsPerGib = found.secondsPerByte * static_cast<double>((1_GiB).count());
    outcome.plan = finishedPlan(state.space, *found.best);
    conclude(outcome, found.lowerBound, found.lowerBound >= found.seconds);
    return outcome;
}

} // namespace

PlanOutcome Planner::plan(Bytes budget, const SearchLimits& limits) const
{
    const PlannerState& state = *m_state;
    const SearchResult found = searchBudget(state, budget, limits);
    PlanOutcome outcome;
    outcome.budget = budget;
    outcome.work = found.work;
    outcome.cancelled = found.cancelled;
    outcome.secondsPerGib = found.ticksPerByte * static_cast<double>((1_GiB).count()) / state.space.ticksPerSecond;
    outcome.lowerBound = state.space.seconds(found.lowerBound);
    if (!found.best) {
        outcome.status = SearchStatus::Infeasible;
        outcome.infeasible = explainInfeasible(state);
        return outcome;
    }
    if (state.chain)
        return overlappedPlan(state, budget, found, limits, std::move(outcome));
    outcome.plan = finishedPlan(state.space, *found.best);
    conclude(outcome, outcome.lowerBound, found.best->ticks <= found.lowerBound);
    return outcome;
}

std::vector<TradeOffPoint> Planner::tradeOff(int steps, const SearchLimits& limits) const
{
    std::vector<TradeOffPoint> points;
    const Bytes least = leastBudget();
    const Bytes most = mostBudget();
    const int count = std::clamp(steps, 2, 10'000);
    SearchLimits left = limits;
    for (int step = 0; step < count && !limits.stop.stop_requested() && left.work > 0; ++step) {
        const double share = static_cast<double>(step) / (count - 1);
        const Bytes budget =
            step == count - 1 ? most : least + Bytes(static_cast<std::int64_t>(static_cast<double>((most - least).count()) * share));
        const PlanOutcome found = plan(budget, left);
        left.work -= found.work;
        if (!found.plan)
            continue;
        const TradeOffPoint point{found.plan->peak, found.plan->objective};
        if (!points.empty() && point.time >= points.back().time)
            continue;
        // A faster plan that needs no more than the one before it replaces it: the stair stays strict.
        while (!points.empty() && points.back().peak >= point.peak)
            points.pop_back();
        points.push_back(point);
    }
    return points;
}

} // namespace loadline
