// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/budget_search.hpp"
#include "core/plan/planner.hpp"

#include <algorithm>

namespace loadline {
namespace {

/// Looks for the budgets at which units change, halving ranges whose ends differ. What flips and flips back within one
/// range of the first scan is not seen.
class FlipSearch {
public:
    FlipSearch(const Planner& planner, const PlanOutcome& outcome, const SearchLimits& limits)
        : m_planner(planner), m_start(outcome.plan->choice), m_left(limits), m_flips(m_start.size())
    {
        // Finer than what is shown: budgets print with a tenth of a GiB.
        m_resolution = std::max<std::int64_t>((planner.mostBudget() - outcome.budget).count() / 2048, 1);
    }

    std::vector<std::optional<Bytes>> run(Bytes from)
    {
        constexpr int kScan = 16;
        const Bytes most = m_planner.mostBudget();
        Bytes low = from;
        Choice atLow = m_start;
        for (int step = 1; step <= kScan && low < most; ++step) {
            const Bytes high = step == kScan ? most : from + Bytes((most - from).count() / kScan * step);
            const auto atHigh = choiceAt(high);
            if (!atHigh)
                break;
            narrow(low, high, atLow, *atHigh);
            low = high;
            atLow = *atHigh;
        }
        return std::move(m_flips);
    }

private:
    std::optional<Choice> choiceAt(Bytes budget)
    {
        if (m_left.work <= 0 || m_left.stop.stop_requested())
            return std::nullopt;
        SearchResult found = searchBudget(m_planner.state(), budget, m_left);
        m_left.work -= found.work;
        if (!found.best || found.cancelled)
            return std::nullopt;
        return std::move(found.best->choice);
    }

    /// True if a unit whose flip is still unknown has changed at the upper end.
    [[nodiscard]] bool newFlip(const Choice& atHigh) const
    {
        for (std::size_t unit = 0; unit < m_start.size(); ++unit)
            if (!m_flips[unit] && atHigh[unit] != m_start[unit])
                return true;
        return false;
    }

    void narrow(Bytes low, Bytes high, const Choice& atLow, const Choice& atHigh)
    {
        if (!newFlip(atHigh))
            return;
        if ((high - low).count() <= m_resolution) {
            for (std::size_t unit = 0; unit < m_start.size(); ++unit)
                if (!m_flips[unit] && atHigh[unit] != m_start[unit])
                    m_flips[unit] = high;
            return;
        }
        const Bytes middle = low + Bytes((high - low).count() / 2);
        const auto atMiddle = choiceAt(middle);
        if (!atMiddle)
            return;
        narrow(low, middle, atLow, *atMiddle);
        narrow(middle, high, *atMiddle, atHigh);
    }

    const Planner& m_planner;
    const Choice& m_start;
    SearchLimits m_left;
    std::int64_t m_resolution = 1;
    std::vector<std::optional<Bytes>> m_flips;
};

} // namespace

std::vector<std::optional<Bytes>> flipBudgets(const Planner& planner, const PlanOutcome& outcome, const SearchLimits& limits)
{
    if (!outcome.plan || outcome.plan->choice.size() != planner.table().units.size())
        return std::vector<std::optional<Bytes>>(planner.table().units.size());
    return FlipSearch(planner, outcome, limits).run(outcome.budget);
}

} // namespace loadline
