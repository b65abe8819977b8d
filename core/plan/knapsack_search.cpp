// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/knapsack_search.hpp"

#include <algorithm>
#include <limits>

namespace loadline::knapsack {
namespace {

constexpr std::size_t kFirstCap = 64;
constexpr std::size_t kWiden = 8;
constexpr int kMostStarts = 8;         ///< thresholds that are relaxed before the first is searched
constexpr std::size_t kTriedFirst = 4; ///< thresholds that get a short pass before the first long one
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

/// Sorts by option and adds up what one option got in several portions.
void joinEqual(std::vector<std::pair<std::uint32_t, std::int64_t>>& picks)
{
    if (picks.size() < 2)
        return;
    std::sort(picks.begin(), picks.end());
    std::size_t kept = 0;
    for (std::size_t i = 1; i < picks.size(); ++i) {
        if (picks[i].first == picks[kept].first)
            picks[kept].second += picks[i].second;
        else
            picks[++kept] = picks[i];
    }
    picks.resize(kept + 1);
}

} // namespace

Search::Search(const Knapsack& knapsack, std::int64_t budget, const SearchLimits& limits, const SearchSwitches& switches)
    : m_knapsack(knapsack), m_problem(knapsack.prepared()), m_budget(budget), m_switches(switches), m_effort(limits),
      m_core(m_problem, m_incumbent, switches.fixing), m_lists(m_problem, m_core, m_incumbent, m_effort)
{
    m_incumbent.gapTolerance = std::clamp(limits.gapTolerance, 0.0, 1.0);
}

KnapsackPlan Search::run()
{
    KnapsackPlan plan;
    plan.leastBudget = m_problem.leastBudget;
    if (m_budget < m_problem.leastBudget)
        return plan;
    ThresholdBounds bounds(m_problem, m_budget, m_effort);
    const ThresholdBound* start = bounds.search(kMostStarts);
    plan.multiplier = start->relaxation.price;
    Candidate first;
    first.threshold = start->threshold;
    first.relaxation = start->relaxation;
    open(first);
    if (m_switches.warmStart)
        round();
    // The walks of the start stopped at its bound; those up to the incumbent are wanted now.
    bounds.sweep(plan.multiplier, static_cast<double>(m_incumbent.target()) + 2 * bounds.slack());
    findCandidates(bounds);
    for (std::size_t i = 0; i < m_candidates.size() && i < kTriedFirst && !m_effort.stopped(); ++i)
        tryOut(m_candidates[i]);
    while (!m_effort.stopped()) {
        Candidate* next = leastOpen();
        if (!next || next->isExhausted())
            break;
        if (!next->isRelaxed)
            relaxCandidate(*next);
        else if (!next->isRounded)
            tryOut(*next);
        else
            improve(*next);
    }
    settleBounds();
    fill(plan);
    return plan;
}

void Search::findCandidates(const ThresholdBounds& bounds)
{
    for (const ThresholdBound& one : bounds.all()) {
        const double bound = one.isRelaxed ? one.bound : one.bound - bounds.slack();
        if (one.feasible && !isBeaten(bound))
            m_candidates.push_back({one.threshold, bound, one.relaxation, kFirstCap, one.isRelaxed});
    }
    std::stable_sort(m_candidates.begin(), m_candidates.end(), [](const Candidate& a, const Candidate& b) { return a.bound < b.bound; });
}

void Search::open(const Candidate& candidate)
{
    levelsAt(m_problem, candidate.threshold, m_levels);
    m_core.open(candidate.threshold, m_levels, candidate.relaxation, m_budget - candidate.threshold);
    m_effort.spend(static_cast<std::int64_t>(m_levels.size()) / 4);
}

/// Rounding brings the incumbent down, which leaves fewer deviations, which makes the next rounding cheap.
void Search::round()
{
    for (int turn = 0; turn < 3; ++turn) {
        const double before = m_core.allowance();
        if (before < 0)
            return;
        m_core.list();
        m_core.listSteps();
        m_effort.spend(static_cast<std::int64_t>(m_core.deviations.size()));
        roundGreedily(m_core, m_incumbent);
        if (m_core.allowance() > 0.5 * before)
            return;
    }
}

/// The open threshold with the least bound; those that can get no longer pass come last.
Search::Candidate* Search::leastOpen()
{
    Candidate* least = nullptr;
    for (Candidate& candidate : m_candidates) {
        close(candidate);
        if (candidate.closed)
            continue;
        const bool before =
            !least || (candidate.isExhausted() != least->isExhausted() ? least->isExhausted() : candidate.bound < least->bound);
        if (before)
            least = &candidate;
    }
    return least;
}

void Search::relaxCandidate(Candidate& candidate)
{
    levelsAt(m_problem, candidate.threshold, m_levels);
    const double price = m_switches.warmStart ? m_core.price : 0;
    candidate.relaxation = relax(m_problem, m_levels, m_budget - candidate.threshold, price, m_effort);
    candidate.bound = std::max(candidate.bound, candidate.relaxation.bound);
    candidate.isRelaxed = true;
    close(candidate);
}

/// Rounding and short passes: cheap ways to a good incumbent.
void Search::tryOut(Candidate& candidate)
{
    close(candidate);
    if (!candidate.closed && !candidate.isRelaxed)
        relaxCandidate(candidate);
    if (candidate.closed)
        return;
    candidate.isRounded = true;
    open(candidate);
    if (!m_switches.warmStart)
        return;
    round();
    searchFewItems(true);
    pass(candidate);
    close(candidate);
}

/// Gives the thresholds that decide the lower bound their own relaxation, if the search ended before their turn.
void Search::settleBounds()
{
    while (!m_effort.cancelled()) {
        Candidate* least = nullptr;
        for (Candidate& candidate : m_candidates) {
            close(candidate);
            if (!candidate.closed && (!least || candidate.bound < least->bound))
                least = &candidate;
        }
        if (!least || least->isRelaxed)
            return;
        relaxCandidate(*least);
    }
}

void Search::improve(Candidate& candidate)
{
    open(candidate);
    if (m_switches.warmStart)
        searchFewItems(false);
    if (!m_effort.stopped())
        pass(candidate);
    close(candidate);
}

/// Passes over the cheapest items alone prove nothing, but bring the incumbent down where there are many.
void Search::searchFewItems(bool once)
{
    std::size_t most = 96, cap = 128;
    m_core.list();
    while (m_core.items.size() > most && m_core.allowance() >= 0 && cap <= 16384 && !m_effort.stopped()) {
        const double before = m_core.allowance();
        m_core.sortItems(most);
        m_core.listSteps();
        m_lists.run(cap, most);
        m_core.list();
        if (m_core.allowance() > 0.7 * before) {
            if (once)
                return;
            most *= 2;
            cap *= 2;
        }
    }
}

void Search::pass(Candidate& candidate)
{
    if (m_core.allowance() < 0) {
        candidate.closed = true;
        return;
    }
    m_core.list();
    m_core.sortItems(kAll);
    if (candidate.separate && !m_core.separate()) {
        candidate.cap = 0;
        return;
    }
    m_core.listSteps();
    m_effort.spend(static_cast<std::int64_t>(m_core.deviations.size()));
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(m_effort.limits().listCap, 2));
    const std::size_t cap = std::min(candidate.cap, most);
    const PassResult result = m_lists.run(cap, kAll);
    const bool overdrawn = result.overdrawn < m_incumbent.ticks;
    double bound = m_core.boundOf(result.droppedCost);
    if (overdrawn)
        bound = std::min(bound, static_cast<double>(result.overdrawn));
    candidate.bound = std::max(candidate.bound, bound); // infinite if nothing was left out
    if (result.stopped) {
        candidate.cap = 0;
        return;
    }
    if (overdrawn && !result.truncated)
        candidate.separate = true; // once more, with copies counted exactly
    else
        candidate.cap = cap < most ? std::min(cap * kWiden, most) : 0;
}

std::int64_t Search::lowerBound() const
{
    std::int64_t least = std::min(m_incumbent.ticks, m_incumbent.target() + 1);
    for (const Candidate& candidate : m_candidates)
        if (!candidate.closed && !isBeaten(candidate.bound))
            least = std::min(least, wholeBound(m_problem, candidate.bound));
    return std::max<std::int64_t>(least, 0);
}

void Search::fill(KnapsackPlan& plan) const
{
    plan.ticks = m_incumbent.ticks;
    plan.lowerBound = lowerBound();
    plan.status = plan.lowerBound == plan.ticks ? SearchStatus::Optimal : SearchStatus::WithinGap;
    plan.work = m_effort.work();
    plan.cancelled = m_effort.cancelled();
    handOut(plan);
}

/// Gives the group's picks to its classes in order.
void Search::handOut(KnapsackPlan& plan) const
{
    std::vector<std::vector<std::pair<std::uint32_t, std::int64_t>>> groups(m_problem.groups.size());
    for (const Pick& pick : m_incumbent.picks) {
        if (pick.count <= 0)
            continue;
        groups[pick.group].emplace_back(pick.option, pick.count);
        plan.persist += pick.count * m_problem.options[pick.option].persist;
        plan.transient = std::max(plan.transient, m_problem.options[pick.option].transient);
    }
    plan.picks.resize(m_knapsack.classes().size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
        auto& left = groups[g];
        std::sort(left.begin(), left.end());
        std::size_t next = 0;
        const Group& group = m_problem.groups[g];
        for (const Member& member : group.members) {
            auto& picks = plan.picks[member.index];
            for (std::int64_t open = member.count; open > 0; next += left[next].second == 0 ? 1U : 0U) {
                const std::int64_t now = std::min(open, left[next].second);
                picks.emplace_back(m_problem.origins[member.firstOrigin + left[next].first - group.firstOption], now);
                open -= now;
                left[next].second -= now;
            }
            joinEqual(picks);
        }
    }
}

} // namespace loadline::knapsack
