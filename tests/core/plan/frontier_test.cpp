// SPDX-License-Identifier: GPL-3.0-or-later
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

/// Ticks that the frontier promises at a budget; kNone below its first corner.
std::int64_t ticksAt(const KnapsackFrontier& frontier, std::int64_t budget)
{
    std::int64_t ticks = kNone;
    for (const FrontierPoint& point : frontier.points)
        if (point.bytes <= budget)
            ticks = point.ticks;
    return ticks;
}

void expectStair(const KnapsackFrontier& frontier)
{
    for (std::size_t i = 1; i < frontier.points.size(); ++i) {
        ASSERT_LT(frontier.points[i - 1].bytes, frontier.points[i].bytes);
        ASSERT_GT(frontier.points[i - 1].ticks, frontier.points[i].ticks);
    }
}

/// The corners of the whole Pareto set.
std::vector<FrontierPoint> cornersOf(const std::vector<KnapsackOption>& set)
{
    std::vector<FrontierPoint> all, corners;
    for (const KnapsackOption& one : set)
        all.push_back({one.persist + one.transient, one.ticks});
    std::sort(all.begin(), all.end());
    for (const FrontierPoint& one : all)
        if (corners.empty() || one.ticks < corners.back().ticks)
            corners.push_back(one);
    return corners;
}

TEST(Frontier, EveryCornerOfThousandsOfSmallProblems)
{
    std::mt19937_64 random(11);
    for (int round = 0; round < 3000; ++round) {
        const auto classes = randomClasses(random, {4, 4, 4, round % 3 == 0 ? 6 : 60});
        const KnapsackFrontier frontier = exactFrontier(prepared(classes));
        ASSERT_TRUE(frontier.exact);
        ASSERT_EQ(frontier.points, cornersOf(paretoSet(classes))) << "round " << round;
    }
}

TEST(Frontier, AgreesWithTheSearchAtThousandsOfBudgets)
{
    std::mt19937_64 random(12);
    int lookUps = 0;
    for (const Family family : {Family::Grouped, Family::Noisy, Family::Analytic, Family::Uncorrelated})
        for (const int operators : {12, 45}) {
            const auto classes = familyOf(family, operators, 2, 4);
            const Knapsack problem = prepared(classes);
            SearchLimits ample;
            ample.work = 500'000'000;
            const KnapsackFrontier frontier = exactFrontier(problem, ample);
            ASSERT_TRUE(frontier.exact);
            expectStair(frontier);
            ASSERT_EQ(frontier.points.front().bytes, problem.leastBudget());
            const std::int64_t range = ampleBudget(classes) - problem.leastBudget();
            for (int i = 0; i < 400; ++i, ++lookUps) {
                std::int64_t budget = problem.leastBudget() + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(range));
                if (i % 2 == 0) // at a corner, or one byte short of it
                    budget = frontier.points[random() % frontier.points.size()].bytes - i / 2 % 2;
                const KnapsackPlan plan = problem.solve(budget);
                if (budget < problem.leastBudget()) {
                    ASSERT_EQ(plan.status, SearchStatus::Infeasible);
                    continue;
                }
                ASSERT_EQ(plan.status, SearchStatus::Optimal);
                ASSERT_EQ(plan.ticks, ticksAt(frontier, budget));
            }
        }
    EXPECT_GE(lookUps, 3000);
}

TEST(Frontier, ApproximateOneIsAStairOfRealAssignments)
{
    for (const Family family : {Family::Grouped, Family::Noisy, Family::Analytic, Family::SubsetSum}) {
        const auto classes = familyOf(family, family == Family::SubsetSum ? 12 : 40, 2, 5);
        const Knapsack problem = prepared(classes);
        for (const std::int64_t states : {0, 2, 16, 256, 1024}) {
            const KnapsackFrontier frontier = approximateFrontier(problem, states);
            expectStair(frontier);
            ASSERT_EQ(frontier.points.front().bytes, problem.leastBudget());
            std::size_t step = frontier.points.size() / 20 + 1;
            for (std::size_t i = 0; i < frontier.points.size(); i += step) {
                const KnapsackPlan plan = problem.solve(frontier.points[i].bytes);
                ASSERT_LE(plan.lowerBound, frontier.points[i].ticks); // nothing promised that does not exist
            }
            // Its last corner is the fastest assignment of all.
            ASSERT_EQ(frontier.points.back().ticks, problem.solve(ampleBudget(classes)).ticks);
        }
    }
}

TEST(Frontier, LimitsLeaveAUsableStairThatDoesNotCallItselfExact)
{
    const auto classes = familyOf(Family::Noisy, 60, 3, 6);
    const Knapsack problem = prepared(classes);
    SearchLimits little;
    little.work = 20'000;
    const KnapsackFrontier frontier = exactFrontier(problem, little);
    EXPECT_FALSE(frontier.exact);
    EXPECT_FALSE(frontier.points.empty());
    expectStair(frontier);
    EXPECT_LT(frontier.work, 200'000);

    SearchLimits stopped;
    std::stop_source source;
    source.request_stop();
    stopped.stop = source.get_token();
    EXPECT_FALSE(exactFrontier(problem, stopped).exact);

    SearchLimits shortLists;
    shortLists.listCap = 20;
    const KnapsackFrontier coarse = exactFrontier(problem, shortLists);
    EXPECT_FALSE(coarse.exact);
    expectStair(coarse);
}

TEST(Frontier, SameEveryTime)
{
    const Knapsack problem = prepared(familyOf(Family::Analytic, 30, 2, 7));
    const KnapsackFrontier first = exactFrontier(problem), second = exactFrontier(problem);
    EXPECT_EQ(first.points, second.points);
    EXPECT_EQ(first.work, second.work);
}

} // namespace
} // namespace loadline::test
