// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/plan_frontier.hpp"
#include "core/plan/replanner.hpp"
#include "tests/support/plan_setups.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>

namespace loadline {
namespace {

PlanRequest openRequest()
{
    PlanRequest request;
    request.setup = testing::tinyGpt();
    request.recompute = Recompute::Auto;
    request.chooseBatch = true;
    request.mostBatch = 12;
    return request;
}

void expectSame(const PlanOutcome& a, const PlanOutcome& b)
{
    EXPECT_EQ(a.budget, b.budget);
    EXPECT_EQ(a.status, b.status);
    EXPECT_EQ(a.gap, b.gap);
    EXPECT_EQ(a.lowerBound, b.lowerBound);
    EXPECT_EQ(a.secondsPerGib, b.secondsPerGib);
    ASSERT_EQ(a.plan.has_value(), b.plan.has_value());
    if (a.plan) {
        EXPECT_EQ(a.plan->choice, b.plan->choice);
        EXPECT_EQ(a.plan->peak, b.plan->peak);
        EXPECT_EQ(a.plan->objective, b.plan->objective);
        EXPECT_EQ(a.plan->table.setup.batch, b.plan->table.setup.batch);
        return;
    }
    EXPECT_EQ(a.infeasible->leastBudget, b.infeasible->leastBudget);
    EXPECT_EQ(a.infeasible->provenBelow, b.infeasible->provenBelow);
    EXPECT_EQ(a.infeasible->because, b.infeasible->because);
    ASSERT_EQ(a.infeasible->waysOut.size(), b.infeasible->waysOut.size());
    for (std::size_t i = 0; i < a.infeasible->waysOut.size(); ++i)
        EXPECT_EQ(a.infeasible->waysOut[i].leastBudget, b.infeasible->waysOut[i].leastBudget);
}

TEST(Replanner, WhatIsKeptChangesNoAnswer)
{
    PlanRequest request = openRequest();
    Replanner kept(request);
    std::mt19937_64 random(5);
    for (int round = 0; round < 120; ++round) {
        request.budget = Bytes(std::uniform_int_distribution<std::int64_t>(0, (1_GiB).count() * 2)(random));
        const auto alone = makePlan(request);
        const auto again = kept.plan(request.budget);
        ASSERT_TRUE(alone.ok() && again.ok());
        SCOPED_TRACE(request.budget.count());
        expectSame(*again, *alone);
    }
}

TEST(Replanner, RefusesWhatCannotBeAsked)
{
    PlanRequest request = openRequest();
    EXPECT_FALSE(Replanner(request).plan(Bytes(-1)).ok());
    request.setup.model = nullptr;
    EXPECT_FALSE(Replanner(request).plan(1_GiB).ok());
}

TEST(PlanFrontier, LearnsTheBudgetsItIsTold)
{
    PlanFrontier frontier(openRequest(), 4_GiB);
    const Bytes budget(std::int64_t{300} << 20);
    EXPECT_FALSE(frontier.find(budget));
    const PlanFrontier before = frontier;
    const auto went = frontier.learnAt(budget, {});
    ASSERT_TRUE(went.ok() && *went);
    const auto found = frontier.find(budget);
    ASSERT_TRUE(found && found->plan);
    EXPECT_LE(found->plan->peak, budget);
    EXPECT_FALSE(before.find(budget)); // a copy keeps to what it knew
    const auto searched = frontier.searched(budget);
    PlanRequest request = openRequest();
    request.budget = budget;
    const auto asked = makePlan(request);
    ASSERT_TRUE(searched && asked.ok());
    expectSame(*searched, *asked);
    EXPECT_FALSE(frontier.searched(budget - Bytes(1)));
    EXPECT_EQ(frontier.gapAt(budget), asked->gap);
    EXPECT_FALSE(frontier.gapAt(Bytes(1)));
    ASSERT_TRUE(frontier.learnAt(Bytes(1), {}).ok());
    EXPECT_EQ(frontier.gapAt(Bytes(1)), 0.0);
    const auto again = frontier.learnAt(budget, {});
    ASSERT_TRUE(again.ok());
    EXPECT_FALSE(*again);
}

} // namespace
} // namespace loadline
