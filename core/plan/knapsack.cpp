// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/knapsack.hpp"

#include "core/plan/knapsack_prepared.hpp"
#include "core/plan/knapsack_search.hpp"

#include <algorithm>
#include <limits>

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
    ThresholdBounds bounds(*m_prepared, budget, effort);
    const ThresholdBound* relaxed = bounds.search(std::numeric_limits<int>::max());
    double least = relaxed->bound;
    for (const ThresholdBound& one : bounds.all())
        if (one.feasible && !one.isRelaxed)
            least = std::min(least, one.bound - bounds.slack());
    return wholeBound(*m_prepared, least);
}

} // namespace loadline
