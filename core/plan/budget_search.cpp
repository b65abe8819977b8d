// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/budget_search.hpp"

#include "core/plan/event_weights.hpp"
#include "core/plan/peak_branches.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>

namespace loadline {
namespace {

/// One search at one budget.
class BudgetSearch {
public:
    BudgetSearch(const PlannerState& state, Bytes budget, const SearchLimits& limits)
        : m_state(state), m_budget(budget), m_limits(limits), m_rows(state.space)
    {
    }

    SearchResult run()
    {
        if (m_budget < m_state.provenLeast)
            return std::move(m_result);
        m_result.lowerBound = minimalTicks();
        consider(m_state.smallest);
        consider(m_state.fastest);
        if (!proven())
            solvePrepared();
        if (!proven())
            repairBinding();
        if (!proven())
            weighEvents();
        if (!proven())
            branchAtPeak();
        if (!proven())
            shiftBudget();
        if (!proven())
            tradeSlack();
        return std::move(m_result);
    }

private:
    [[nodiscard]] std::int64_t minimalTicks() const
    {
        std::int64_t sum = 0;
        for (const UnitGroup& group : m_state.space.groups) {
            std::int64_t least = m_state.space.ticks(group.units.front(), group.options.front());
            for (const std::uint32_t option : group.options)
                least = std::min(least, m_state.space.ticks(group.units.front(), option));
            sum += least * static_cast<std::int64_t>(group.units.size());
        }
        return sum;
    }

    [[nodiscard]] bool proven() const { return m_result.best && m_result.best->ticks <= m_result.lowerBound; }

    [[nodiscard]] bool spent()
    {
        m_result.cancelled = m_result.cancelled || m_limits.stop.stop_requested();
        return m_result.cancelled || m_result.work >= m_limits.work;
    }

    void consider(const PricedChoice& choice)
    {
        if (choice.peak > m_budget)
            return;
        if (!m_result.best || std::pair(choice.ticks, choice.peak) < std::pair(m_result.best->ticks, m_result.best->peak))
            m_result.best = choice;
    }

    /// Solves `form` as if the budget were `budget`; returns the candidate with the least peak.
    std::optional<PricedChoice> attempt(const MemoryForm& form, Bytes budget)
    {
        SearchLimits left = m_limits;
        left.work = m_limits.work - m_result.work;
        MemoryForm::Solution solution = form.solve(m_state.space, budget, left);
        m_result.work += solution.plan.work;
        m_result.cancelled = m_result.cancelled || solution.plan.cancelled;
        m_last = solution.plan;
        std::optional<PricedChoice> best;
        for (Choice& choice : solution.choices) {
            PricedChoice candidate = priced(m_state.space, std::move(choice));
            consider(candidate);
            if (!best || candidate.peak < best->peak)
                best = std::move(candidate);
        }
        return best;
    }

    /// The proof: the optimum of a form at the budget itself is a bound. Keeps the tightest form.
    std::optional<PricedChoice> bound(const MemoryForm& form)
    {
        auto candidate = attempt(form, m_budget);
        if (m_last.status == SearchStatus::Infeasible || (m_binding && m_last.lowerBound <= m_result.lowerBound))
            return candidate;
        m_result.lowerBound = std::max(m_result.lowerBound, m_last.lowerBound);
        m_result.ticksPerByte = m_last.multiplier;
        m_binding = &form;
        m_bindingCandidate = candidate;
        return candidate;
    }

    /// The prepared forms, the one that looks tightest first: often its optimum fits, and is the answer.
    void solvePrepared()
    {
        std::vector<std::pair<std::int64_t, const MemoryForm*>> order;
        for (const MemoryForm& form : m_state.forms)
            order.emplace_back(form.relaxedBound(m_budget), &form);
        std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
        for (const auto& [relaxed, form] : order) {
            if (proven() || spent())
                return;
            bound(*form);
        }
    }

    void repairBinding()
    {
        if (m_bindingCandidate && !spent())
            consider(repaired(m_state.space, m_rows, *m_bindingCandidate, m_budget));
    }

    /// Several events may bind at once. Any weighted mean of their rows is a valid form: weights go to the events that the
    /// last optimum exceeds, until it fits (then it is the answer) or the rounds are over.
    void weighEvents()
    {
        constexpr int kRounds = 10;
        constexpr int kKeepsBest = 4; // rounds without a better bound before giving up
        if (m_state.space.table.setup.memory == MemoryMode::Paper || !m_bindingCandidate)
            return;
        EventWeights weights(m_rows, m_budget);
        Choice choice = m_bindingCandidate->choice;
        int idle = 0;
        for (int round = 0; round < kRounds && idle < kKeepsBest && !proven() && !spent(); ++round) {
            m_bindingUnits.insert(m_rows.peakOf(choice).unit);
            if (!weights.learn(choice))
                return;
            auto form = MemoryForm::make(m_state.space, weights.terms(), EventWeights::kScale);
            if (!form)
                return;
            const std::int64_t before = m_result.lowerBound;
            m_result.forms.push_back(std::make_shared<MemoryForm>(*std::move(form)));
            const auto candidate = bound(*m_result.forms.back());
            if (!candidate)
                return;
            consider(repaired(m_state.space, m_rows, *candidate, m_budget));
            choice = candidate->choice;
            idle = m_result.lowerBound > before ? 0 : idle + 1;
        }
    }

    /// Fixes a single large unit, option by option (core/plan/peak_branches.hpp).
    void branchAtPeak()
    {
        constexpr int kDeepest = 2;
        const auto unit = peakPivot(m_state, m_bindingUnits);
        if (!unit || m_state.depth >= kDeepest || spent())
            return;
        m_result.pivot = unit;
        m_result.branches = branchesAtPeak(m_state, *unit, m_budget);
        if (m_result.branches.empty())
            return;
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (const PeakBranch& branch : m_result.branches) {
            if (spent() || (m_result.best && branch.relaxed >= m_result.best->ticks)) {
                least = std::min(least, branch.relaxed); // and so are the others, or more
                break;
            }
            SearchLimits left = m_limits;
            left.work = m_limits.work - m_result.work;
            const SearchResult found = searchBudget(*branch.state, m_budget, left);
            m_result.work += found.work;
            m_result.cancelled = m_result.cancelled || found.cancelled;
            if (found.best)
                consider(*found.best);
            least = std::min(least, std::max(branch.relaxed, found.lowerBound));
        }
        m_result.lowerBound = std::max(m_result.lowerBound, m_result.best ? std::min(least, m_result.best->ticks) : m_result.lowerBound);
    }

    /// The forms are a little too hopeful: ask for less, by as much as the plan overshoots, until it fits; then for more.
    void shiftBudget()
    {
        constexpr int kSteps = 6;
        if (!m_binding || !m_bindingCandidate)
            return;
        std::int64_t tooLittle = 0;
        std::int64_t shift = (m_bindingCandidate->peak - m_budget).count();
        std::optional<std::int64_t> enough;
        for (int step = 0; step < kSteps && shift > 0 && !enough && !spent(); ++step) {
            const auto candidate = attempt(*m_binding, m_budget - Bytes(shift));
            if (!candidate)
                break;
            if (candidate->peak <= m_budget) {
                enough = shift;
            } else {
                tooLittle = shift;
                shift += (candidate->peak - m_budget).count();
            }
        }
        for (int step = 0; step < kSteps && enough && *enough - tooLittle > 1 && !proven() && !spent(); ++step) {
            const std::int64_t middle = tooLittle + (*enough - tooLittle) / 2;
            const auto candidate = attempt(*m_binding, m_budget - Bytes(middle));
            if (candidate && candidate->peak > m_budget)
                tooLittle = middle;
            else
                enough = middle;
        }
    }

    /// Gives what is left of the budget to single units, largest gain first, under the true peak.
    void tradeSlack()
    {
        // Each trial plays the timeline once: fewer for long models, so that a drag stays smooth.
        const int mostTrials = static_cast<int>(100'000 / std::max<std::size_t>(m_state.space.table.units.size(), 250));
        int trials = 0;
        bool improved = m_result.best.has_value();
        while (improved && trials < mostTrials && !proven() && !spent()) {
            improved = false;
            for (const Move& move : movesOf(*m_result.best)) {
                if (++trials > mostTrials)
                    break;
                Choice changed = m_result.best->choice;
                changed[move.unit] = move.option;
                const PricedChoice candidate = priced(m_state.space, std::move(changed));
                if (candidate.peak <= m_budget && candidate.ticks < m_result.best->ticks) {
                    m_result.best = candidate;
                    improved = true;
                    break;
                }
            }
        }
    }

    struct Move {
        std::int64_t gain = 0;
        std::size_t unit = 0;
        std::uint32_t option = 0;
    };

    /// Faster options of the first and the last unit that takes each option in each group.
    [[nodiscard]] std::vector<Move> movesOf(const PricedChoice& from) const
    {
        std::vector<Move> moves;
        for (const UnitGroup& group : m_state.space.groups) {
            std::vector<std::uint32_t> done;
            for (const std::size_t unit : group.units) {
                const std::uint32_t now = from.choice[unit];
                if (std::find(done.begin(), done.end(), now) != done.end())
                    continue;
                done.push_back(now);
                for (const std::uint32_t option : group.options)
                    if (const std::int64_t gain = m_state.space.ticks(unit, now) - m_state.space.ticks(unit, option); gain > 0)
                        moves.push_back({gain, unit, option});
            }
        }
        std::stable_sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) { return a.gain > b.gain; });
        return moves;
    }

    const PlannerState& m_state;
    Bytes m_budget;
    const SearchLimits& m_limits;
    SearchResult m_result;
    KnapsackPlan m_last;
    EventRows m_rows;
    std::set<std::size_t> m_bindingUnits; ///< of events at which relaxed answers had their peaks
    const MemoryForm* m_binding = nullptr;
    std::optional<PricedChoice> m_bindingCandidate;
};

} // namespace

SearchResult searchBudget(const PlannerState& state, Bytes budget, const SearchLimits& limits)
{
    return BudgetSearch(state, budget, limits).run();
}

} // namespace loadline
