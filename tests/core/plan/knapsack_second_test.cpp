// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/plan/knapsack_families.hpp"
#include "tests/core/plan/knapsack_support.hpp"

#include "core/plan/knapsack_search.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace loadline::test {
namespace {

constexpr Family kFamilies[] = {Family::Grouped, Family::Noisy, Family::Analytic, Family::SubsetSum, Family::Uncorrelated};

Knapsack prepared(const std::vector<KnapsackClass>& classes, bool reduction = true)
{
    auto result = knapsack::prepare(classes, {reduction});
    if (!result.ok())
        throw std::invalid_argument(result.error().message);
    return std::move(result).value();
}

std::int64_t budgetBetween(const Knapsack& problem, double fraction)
{
    const std::int64_t least = problem.leastBudget();
    return least + static_cast<std::int64_t>(fraction * static_cast<double>(ampleBudget(problem.classes()) - least));
}

TEST(KnapsackSecond, SameTicksAsFullStairsOnRealShapes)
{
    for (const Family family : kFamilies)
        for (const int operators : {3, 8, 14})
            for (const int slices : {1, 2, 4}) {
                const auto classes = familyOf(family, operators, slices, static_cast<std::uint64_t>(operators * 10 + slices));
                const Knapsack problem = prepared(classes);
                for (const double fraction : {0.0, 0.03, 0.3, 0.55, 0.9, 1.0}) {
                    const std::int64_t budget = budgetBetween(problem, fraction);
                    if (family != Family::Grouped && operators > 8 && slices > 1)
                        continue; // the plain stairs grow too large
                    const KnapsackPlan plan = problem.solve(budget);
                    ASSERT_EQ(plan.status, SearchStatus::Optimal);
                    ASSERT_EQ(plan.ticks, stairForEachTransient(classes, budget));
                    ASSERT_EQ(faultOf(classes, plan, budget), "");
                }
            }
}

TEST(KnapsackSecond, ShortcutsOffOneByOneGiveTheSameTicks)
{
    for (const Family family : kFamilies)
        for (const std::uint64_t seed : {1U, 2U}) {
            const auto classes = familyOf(family, family == Family::Grouped ? 60 : 16, 3, seed);
            const Knapsack problem = prepared(classes);
            const Knapsack unreduced = prepared(classes, false);
            for (const double fraction : {0.02, 0.2, 0.5, 0.8}) {
                const std::int64_t budget = budgetBetween(problem, fraction);
                const KnapsackPlan plan = problem.solve(budget);
                ASSERT_EQ(plan.status, SearchStatus::Optimal);
                const KnapsackPlan others[] = {knapsack::Search(unreduced, budget, {}, {}).run(),
                                               knapsack::Search(problem, budget, {}, {false, true}).run(),
                                               knapsack::Search(problem, budget, {}, {true, false}).run(),
                                               knapsack::Search(unreduced, budget, {}, {false, false}).run()};
                for (const KnapsackPlan& other : others) {
                    ASSERT_EQ(other.status, SearchStatus::Optimal);
                    ASSERT_EQ(other.ticks, plan.ticks);
                    ASSERT_EQ(faultOf(classes, other, budget), "");
                }
            }
        }
}

TEST(KnapsackSecond, SmallProblemsWithEveryShortcutOff)
{
    std::mt19937_64 random(5);
    for (int round = 0; round < 1500; ++round) {
        const auto classes = randomClasses(random, {4, 4, 4, round % 2 == 0 ? 5 : 50});
        const Knapsack problem = prepared(classes);
        const Knapsack unreduced = prepared(classes, false);
        const std::int64_t ample = ampleBudget(classes);
        for (int draw = 0; draw < 4; ++draw) {
            const std::int64_t budget = problem.leastBudget() + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(ample + 1));
            const std::int64_t best = stairForEachTransient(classes, budget);
            for (const bool fixing : {false, true})
                for (const bool warmStart : {false, true})
                    for (const Knapsack* one : {&problem, &unreduced}) {
                        const KnapsackPlan plan = knapsack::Search(*one, budget, {}, {fixing, warmStart}).run();
                        ASSERT_EQ(plan.status, SearchStatus::Optimal);
                        ASSERT_EQ(plan.ticks, best);
                        ASSERT_EQ(faultOf(classes, plan, budget), "");
                    }
        }
    }
}

/// Tiny lists drop most states: what is left must say so, and never claim a proof that the second solver denies.
TEST(KnapsackSecond, TinyListsGiveValidBoundsAndNoFalseProof)
{
    std::mt19937_64 random(6);
    int unproved = 0, beaten = 0;
    const auto check = [&](const std::vector<KnapsackClass>& classes, double fraction) {
        const Knapsack problem = prepared(classes);
        const std::int64_t budget = budgetBetween(problem, fraction);
        const std::int64_t best = stairForEachTransient(classes, budget);
        for (const std::int64_t cap : {0, 1, 2, 3, 8}) {
            SearchLimits limits;
            limits.listCap = cap;
            for (const bool warmStart : {false, true}) {
                const KnapsackPlan plan = knapsack::Search(problem, budget, limits, {true, warmStart}).run();
                ASSERT_LE(plan.lowerBound, best);
                ASSERT_GE(plan.ticks, best);
                ASSERT_EQ(plan.status == SearchStatus::Optimal, plan.lowerBound == plan.ticks);
                ASSERT_EQ(faultOf(classes, plan, budget), "");
                unproved += plan.status == SearchStatus::Optimal ? 0 : 1;
                beaten += plan.ticks > best ? 1 : 0;
            }
        }
    };
    for (int round = 0; round < 600; ++round)
        check(randomClasses(random, {8, 5, 4, 200}), static_cast<double>(random() % 1000) / 1000);
    for (const Family family : kFamilies)
        for (std::uint64_t seed = 0; seed < 6; ++seed)
            check(familyOf(family, family == Family::Grouped ? 30 : 10, 2, seed), 0.1 + 0.13 * static_cast<double>(seed));
    EXPECT_GT(unproved, 100); // else the lists were never too small and this proves nothing
    EXPECT_GT(beaten, 10);
}

/// Stops after every amount of work: each bound must hold and no stop may look like a proof.
TEST(KnapsackSecond, LittleWorkGivesValidBounds)
{
    for (const Family family : kFamilies) {
        const auto classes = familyOf(family, family == Family::Grouped ? 40 : 10, 3, 9);
        const Knapsack problem = prepared(classes);
        const std::int64_t budget = budgetBetween(problem, 0.35);
        const std::int64_t best = stairForEachTransient(classes, budget);
        for (std::int64_t work = 0; work < 20'000; work += 1 + work / 7) {
            SearchLimits limits;
            limits.work = work;
            const KnapsackPlan plan = problem.solve(budget, limits);
            ASSERT_LE(plan.lowerBound, best);
            ASSERT_GE(plan.ticks, best);
            ASSERT_EQ(plan.status == SearchStatus::Optimal, plan.lowerBound == plan.ticks);
            ASSERT_EQ(faultOf(classes, plan, budget), "");
            ASSERT_FALSE(plan.cancelled);
        }
    }
}

TEST(KnapsackSecond, GapToleranceStopsWithinTheGap)
{
    for (const Family family : kFamilies) {
        const auto classes = familyOf(family, family == Family::Grouped ? 40 : 10, 3, 3);
        const Knapsack problem = prepared(classes);
        for (const double fraction : {0.1, 0.5}) {
            const std::int64_t budget = budgetBetween(problem, fraction);
            const std::int64_t best = stairForEachTransient(classes, budget);
            for (const double tolerance : {1e-6, 1e-3, 0.05, 1.0, 7.0}) {
                SearchLimits limits;
                limits.gapTolerance = tolerance;
                const KnapsackPlan plan = problem.solve(budget, limits);
                ASSERT_LE(plan.lowerBound, best);
                ASSERT_GE(plan.ticks, best);
                ASSERT_LE(static_cast<double>(plan.ticks - plan.lowerBound), tolerance * static_cast<double>(plan.ticks) + 1);
            }
        }
    }
}

} // namespace
} // namespace loadline::test
