// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/plan_frontier.hpp"

#include "core/plan/candidates.hpp"

#include <algorithm>
#include <utility>

namespace loadline {

struct PlanFrontier::Setting {
    Setup setup;
    std::shared_ptr<const CostTable> table; ///< null: to be made again
};

struct PlanFrontier::Answer {
    Bytes budget; ///< it was searched for
    Bytes peak;
    Choice choice;
    std::shared_ptr<const Setting> setting;
    Seconds objective;
    double samples = 1;  ///< in one step of the whole job
    Seconds bound;       ///< no plan within `budget` takes less time per sample
    bool proven = false; ///< optimal
    double secondsPerGib = 0;

    [[nodiscard]] Seconds perSample() const { return objective * (1.0 / samples); }
};

namespace {

constexpr std::size_t kMostTableUnits = 3000; ///< of all tables that are kept

bool sameSetting(const Setup& a, const Setup& b)
{
    return a.batch == b.batch && a.accumulation == b.accumulation && a.recomputedBlocks == b.recomputedBlocks &&
           a.recomputedPart == b.recomputedPart;
}

double samplesOf(const Setup& setup)
{
    return static_cast<double>(setup.batch) * static_cast<double>(setup.accumulation) * static_cast<double>(setup.cluster.ranks());
}

} // namespace

PlanFrontier::PlanFrontier(PlanRequest request, Bytes most) : PlanFrontier(Replanner(std::move(request)), most) {}

PlanFrontier::PlanFrontier(Replanner search, Bytes most) : m_search(std::move(search)), m_most(std::max(most, Bytes())) {}

/// A frontier has plans of a hundred settings, and their tables are far larger than the plans: most are made again when they are
/// looked at.
std::shared_ptr<const PlanFrontier::Setting> PlanFrontier::settingOf(const CostTable& table)
{
    const auto known =
        std::find_if(m_settings.begin(), m_settings.end(), [&](const auto& setting) { return sameSetting(setting->setup, table.setup); });
    if (known != m_settings.end())
        return *known;
    const bool keep = m_settings.size() < std::max<std::size_t>(kMostTableUnits / std::max<std::size_t>(table.units.size(), 1), 2);
    return m_settings.emplace_back(
        std::make_shared<const Setting>(Setting{table.setup, keep ? std::make_shared<const CostTable>(table) : nullptr}));
}

void PlanFrontier::learn(const PlanOutcome& outcome)
{
    if (outcome.cancelled || outcome.budget < Bytes())
        return;
    if (!outcome.plan) {
        if (outcome.infeasible && (!m_infeasible || m_infeasible->budget < outcome.budget))
            m_infeasible = std::make_shared<const PlanOutcome>(outcome);
        return;
    }
    const Plan& plan = *outcome.plan;
    if (plan.peak > m_most || m_answers.size() >= kMostAnswers)
        return;
    auto answer = std::make_shared<Answer>();
    answer->budget = std::min(outcome.budget, m_most);
    answer->peak = plan.peak;
    answer->choice = plan.choice;
    answer->objective = plan.objective;
    answer->samples = samplesOf(plan.table.setup);
    answer->proven = outcome.status == SearchStatus::Optimal;
    answer->bound = answer->proven ? answer->perSample() : outcome.lowerBound * (1.0 / answer->samples);
    answer->secondsPerGib = outcome.secondsPerGib;
    answer->setting = settingOf(plan.table);
    const auto place = std::lower_bound(m_answers.begin(), m_answers.end(), answer->budget,
                                        [](const auto& other, Bytes budget) { return other->budget < budget; });
    m_answers.insert(place, std::move(answer));
}

std::vector<PlanFrontier::Stretch> PlanFrontier::unknownStretches() const
{
    std::vector<Stretch> stretches;
    Bytes next = m_infeasible ? m_infeasible->budget + Bytes(1) : Bytes();
    for (const auto& answer : m_answers) {
        if (answer->peak > next)
            stretches.push_back({next, answer->peak - Bytes(1)});
        next = std::max(next, answer->budget + Bytes(1));
    }
    if (next <= m_most)
        stretches.push_back({next, m_most});
    return stretches;
}

std::optional<PlanFrontier::Stretch> PlanFrontier::widestUnknown() const
{
    if (m_answers.size() >= kMostAnswers)
        return std::nullopt;
    const auto stretches = unknownStretches();
    const auto widest = std::max_element(stretches.begin(), stretches.end(),
                                         [](const Stretch& a, const Stretch& b) { return a.high - a.low < b.high - b.low; });
    return widest == stretches.end() ? std::nullopt : std::optional(*widest);
}

Bytes PlanFrontier::unknown() const
{
    Bytes sum;
    for (const Stretch& stretch : unknownStretches())
        sum += stretch.high - stretch.low + Bytes(1);
    return sum;
}

Result<bool> PlanFrontier::refine(const SearchLimits& limits)
{
    const auto widest = widestUnknown();
    if (!widest || limits.stop.stop_requested())
        return false;
    Bytes budget;
    const Bytes step(std::max<std::int64_t>(m_most.count() / kSteps, 1));
    if (m_answers.empty() && !m_infeasible)
        budget = m_most;
    else if (!m_infeasible)
        budget = widest->low; // what is below the least budget
    else if (m_infeasible->infeasible->leastBudget >= widest->low && m_infeasible->infeasible->leastBudget <= widest->high)
        budget = m_infeasible->budget + Bytes(1) < m_infeasible->infeasible->leastBudget ? m_infeasible->infeasible->leastBudget - Bytes(1)
                                                                                         : m_infeasible->infeasible->leastBudget;
    else if (widest->high - widest->low > step)
        budget = widest->low + Bytes((widest->high - widest->low).count() / 2);
    else
        budget = widest->high;
    return searchAt(budget, limits);
}

Result<bool> PlanFrontier::learnAt(Bytes budget, const SearchLimits& limits)
{
    const bool before = std::any_of(m_answers.begin(), m_answers.end(), [&](const auto& answer) { return answer->budget == budget; });
    if (limits.stop.stop_requested() || m_answers.size() >= kMostAnswers || before)
        return false;
    return searchAt(budget, limits);
}

Result<bool> PlanFrontier::searchAt(Bytes budget, const SearchLimits& limits)
{
    const auto outcome = m_search.plan(budget, limits);
    if (!outcome)
        return outcome.error();
    if (outcome->cancelled)
        return false;
    learn(*outcome);
    return true;
}

std::shared_ptr<const PlanFrontier::Answer> PlanFrontier::fastest(Bytes budget) const
{
    std::shared_ptr<const Answer> best;
    for (const auto& answer : m_answers) {
        if (answer->peak > budget)
            continue;
        if (!best || std::pair(answer->perSample(), answer->peak) < std::pair(best->perSample(), best->peak))
            best = answer;
    }
    return best;
}

PlanFrontier::Proof PlanFrontier::proofOf(const Answer& answer, Bytes budget) const
{
    // What no plan within a larger budget beats, none within this one does.
    Proof proof;
    for (const auto& other : m_answers) {
        if (other->budget < budget)
            continue;
        proof.bound = std::max(proof.bound, other->bound);
        proof.proven = proof.proven || (other->proven && answer.perSample() <= other->perSample());
    }
    proof.proven = proof.proven || answer.perSample() <= proof.bound;
    return proof;
}

std::optional<double> PlanFrontier::gapAt(Bytes budget) const
{
    const auto best = fastest(budget);
    if (!best)
        return m_infeasible && budget <= m_infeasible->budget ? std::optional(0.0) : std::nullopt;
    const Proof proof = proofOf(*best, budget);
    const double mine = best->perSample().value();
    return proof.proven || mine <= 0 ? 0.0 : std::max(0.0, (mine - proof.bound.value()) / mine);
}

std::optional<PlanOutcome> PlanFrontier::searched(Bytes budget) const
{
    if (m_infeasible && m_infeasible->budget == budget)
        return *m_infeasible;
    for (const auto& answer : m_answers) {
        if (answer->budget == budget)
            return outcomeOf(*answer, budget);
    }
    return std::nullopt;
}

PlanOutcome PlanFrontier::outcomeOf(const Answer& answer, Bytes budget) const
{
    PlanOutcome outcome;
    outcome.budget = budget;
    Plan plan;
    plan.table = answer.setting->table ? *answer.setting->table : *buildCostTable(answer.setting->setup); // a plan was made with it before
    plan.choice = answer.choice;
    plan.peak = answer.peak;
    plan.paperPeak = paperPeak(plan.table, plan.choice);
    plan.time = stepTime(plan.table, plan.choice);
    plan.objective = answer.objective;
    outcome.plan = std::move(plan);
    const auto [bound, proven] = proofOf(answer, budget);
    outcome.secondsPerGib = answer.secondsPerGib;
    outcome.status = proven ? SearchStatus::Optimal : SearchStatus::WithinGap;
    outcome.lowerBound = proven ? answer.objective : std::min(bound * answer.samples, answer.objective);
    if (!proven && answer.objective.value() > 0)
        outcome.gap = (answer.objective - outcome.lowerBound).value() / answer.objective.value();
    return outcome;
}

PlanOutcome PlanFrontier::infeasibleAt(Bytes budget) const
{
    PlanOutcome outcome = *m_infeasible;
    outcome.budget = budget;
    outcome.work = 0;
    return outcome;
}

std::optional<PlanOutcome> PlanFrontier::find(Bytes budget) const
{
    if (const auto best = fastest(budget)) {
        const bool known = std::any_of(m_answers.begin(), m_answers.end(),
                                       [&](const auto& answer) { return answer->peak <= budget && budget <= answer->budget; });
        return known ? std::optional(outcomeOf(*best, budget)) : std::nullopt;
    }
    if (m_infeasible && budget <= m_infeasible->budget)
        return infeasibleAt(budget);
    return std::nullopt;
}

std::optional<PlanOutcome> PlanFrontier::approximate(Bytes budget) const
{
    if (const auto best = fastest(budget))
        return outcomeOf(*best, budget);
    return find(budget);
}

std::vector<TradeOffPoint> PlanFrontier::stair() const
{
    std::vector<std::shared_ptr<const Answer>> answers = m_answers;
    std::stable_sort(answers.begin(), answers.end(),
                     [](const auto& a, const auto& b) { return std::pair(a->peak, a->perSample()) < std::pair(b->peak, b->perSample()); });
    std::vector<TradeOffPoint> points;
    std::optional<Seconds> best;
    for (const auto& answer : answers) {
        if (best && answer->perSample() >= *best)
            continue;
        best = answer->perSample();
        points.push_back({answer->peak, answer->objective});
    }
    return points;
}

} // namespace loadline
