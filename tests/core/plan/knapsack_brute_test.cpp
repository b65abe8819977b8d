// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/plan/knapsack_support.hpp"

#include "core/plan/knapsack_search.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace loadline::test {
namespace {

Knapsack prepared(const std::vector<KnapsackClass>& classes, bool reduction = true)
{
    auto result = knapsack::prepare(classes, {reduction});
    if (!result.ok())
        throw std::invalid_argument(result.error().message);
    return std::move(result).value();
}

TEST(KnapsackBrute, EveryBudgetOfThousandsOfSmallProblems)
{
    std::mt19937_64 random(1);
    for (int round = 0; round < 3000; ++round) {
        const auto classes = randomClasses(random, {3 + round % 2, 4, 3, round % 3 == 0 ? 6 : 40});
        const Knapsack problem = prepared(classes);
        const auto set = paretoSet(classes);
        std::int64_t least = kNone, most = 0;
        for (const KnapsackOption& one : set) {
            least = std::min(least, one.persist + one.transient);
            most = std::max(most, one.persist + one.transient);
        }
        EXPECT_EQ(problem.leastBudget(), least);
        std::vector<std::int64_t> budgets{0, least - 1, least, most, most + 1, most + 1000};
        for (const KnapsackOption& one : set)
            budgets.insert(budgets.end(), {one.persist + one.transient, one.persist + one.transient - 1});
        if (round % 10 == 0) {
            EXPECT_EQ(bestIn(set, (least + most) / 2), bruteForce(classes, (least + most) / 2));
        }
        for (const std::int64_t budget : budgets) {
            const std::int64_t best = bestIn(set, budget);
            const KnapsackPlan plan = problem.solve(budget);
            EXPECT_EQ(plan.leastBudget, least);
            if (best == kNone) {
                EXPECT_EQ(plan.status, SearchStatus::Infeasible);
                EXPECT_EQ(problem.relaxedBound(budget), kNone);
                continue;
            }
            ASSERT_EQ(plan.status, SearchStatus::Optimal) << "round " << round << " budget " << budget;
            ASSERT_EQ(plan.ticks, best) << "round " << round << " budget " << budget;
            ASSERT_EQ(faultOf(classes, plan, budget), "") << "round " << round << " budget " << budget;
            ASSERT_LE(problem.relaxedBound(budget), best);
        }
    }
}

} // namespace
} // namespace loadline::test
