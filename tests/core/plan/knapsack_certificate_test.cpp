// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/plan/knapsack_certificate.hpp"

#include "tests/core/plan/knapsack_families.hpp"
#include "tests/core/plan/knapsack_support.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace loadline::test {
namespace {

Knapsack prepared(const std::vector<KnapsackClass>& classes)
{
    auto result = Knapsack::prepare(classes);
    if (!result.ok())
        throw std::invalid_argument(result.error().message);
    return std::move(result).value();
}

TEST(KnapsackCertificate, RelaxedBoundIsTheExactOneWithinATick)
{
    std::mt19937_64 random(21);
    for (int round = 0; round < 2000; ++round) {
        const auto classes = randomClasses(random, {4, 5, 4, round % 2 == 0 ? 8 : 1000});
        const Knapsack problem = prepared(classes);
        const std::int64_t range = ampleBudget(classes) - problem.leastBudget() + 2;
        const std::int64_t budget = problem.leastBudget() + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(range));
        const Bound exact = bestBound(classes, budget);
        ASSERT_TRUE(exact.feasible);
        ASSERT_LE(problem.relaxedBound(budget), exact.ceiling());
        ASSERT_GE(problem.relaxedBound(budget), exact.ceiling() - 1);
        ASSERT_FALSE(bestBound(classes, problem.leastBudget() - 1).feasible);
    }
}

TEST(KnapsackCertificate, BoundsOfRealShapesHoldInExactNumbers)
{
    for (const Family family : {Family::Grouped, Family::Noisy, Family::Analytic, Family::SubsetSum, Family::Uncorrelated}) {
        const auto classes = familyOf(family, family == Family::Grouped ? 200 : 25, 3, 2);
        const Knapsack problem = prepared(classes);
        for (const double fraction : {0.01, 0.25, 0.6, 0.95}) {
            const std::int64_t least = problem.leastBudget();
            const std::int64_t budget = least + static_cast<std::int64_t>(fraction * static_cast<double>(ampleBudget(classes) - least));
            const Bound exact = bestBound(classes, budget);
            ASSERT_TRUE(exact.feasible);
            EXPECT_LE(problem.relaxedBound(budget), exact.ceiling());
            EXPECT_GE(problem.relaxedBound(budget), exact.ceiling() - 2);

            const KnapsackPlan plan = problem.solve(budget);
            EXPECT_GE(plan.ticks, exact.ceiling());
            EXPECT_GE(plan.lowerBound, problem.relaxedBound(budget) - 1);
            // The price that comes with the plan certifies a bound of its own: one price, every largest transient.
            Bound worst;
            for (const std::int64_t transient : transientsOf(classes))
                if (const Bound bound = boundAt(classes, budget, transient, priceOf(plan.multiplier)); bound.feasible)
                    worst = !worst.feasible || bound < worst ? bound : worst;
            ASSERT_TRUE(worst.feasible);
            EXPECT_LE(worst.ceiling(), plan.ticks);
            EXPECT_GE(static_cast<double>(worst.ceiling()), 0.5 * static_cast<double>(plan.ticks)); // and not an idle one
        }
    }
}

} // namespace
} // namespace loadline::test
