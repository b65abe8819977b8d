// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/knapsack.hpp"

#include "core/plan/knapsack_prepared.hpp"
#include "core/plan/knapsack_search.hpp"

#include <algorithm>

namespace loadline {

Result<Knapsack> Knapsack::prepare(std::vector<KnapsackClass> classes)
{
    return knapsack::prepare(std::move(classes), {});
}

KnapsackPlan Knapsack::solve(std::int64_t budget, const SearchLimits& limits) const
{
    return knapsack::Search(*this, budget, limits, {}).run();
}

std::int64_t Knapsack::leastBudget() const
{
    return m_prepared->leastBudget;
}

std::int64_t Knapsack::relaxedBound(std::int64_t budget) const
{
    using namespace knapsack;
    if (budget < m_prepared->leastBudget)
        return std::numeric_limits<std::int64_t>::max();
    const SearchLimits limits;
    Effort effort(limits);
    const BestRelaxation start = findStart(*m_prepared, budget, effort);
    double least = start.relaxation.bound;
    const double slack = sweepSlack(*m_prepared);
    std::vector<ThresholdBound> bounds;
    sweepThresholds(*m_prepared, budget, start.relaxation.price, least + slack, bounds, effort);
    std::stable_sort(bounds.begin(), bounds.end(), [](const ThresholdBound& a, const ThresholdBound& b) { return a.bound < b.bound; });
    std::vector<std::uint32_t> levels;
    for (const ThresholdBound& one : bounds) {
        if (!one.feasible)
            continue;
        if (one.bound - slack > least)
            break;
        levelsAt(*m_prepared, one.threshold, levels);
        least = std::min(least, relax(*m_prepared, levels, budget - one.threshold, start.relaxation.price, effort).bound);
    }
    return wholeBound(*m_prepared, least);
}

} // namespace loadline
