// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/check.hpp"
#include "core/plan/plan_frontier.hpp"
#include "tests/support/plan_setups.hpp"

#include <gtest/gtest.h>

#include <random>

namespace loadline {
namespace {

constexpr int kMostSearches = 20'000;

PlanRequest tinyRequest(Recompute recompute)
{
    PlanRequest request;
    request.setup = testing::tinyGpt();
    request.setup.batch = 8;
    request.recompute = recompute;
    return request;
}

/// A budget that every plan of `request` fits.
Bytes plenty(PlanRequest request)
{
    request.budget = 1024_GiB;
    const auto outcome = makePlan(request);
    return outcome.ok() && outcome->plan ? outcome->plan->peak : Bytes();
}

PlanFrontier refined(const PlanRequest& request, Bytes most, int searches)
{
    PlanFrontier frontier(request, most);
    for (int i = 0; i < searches; ++i) {
        const auto went = frontier.refine({});
        EXPECT_TRUE(went.ok()) << went.error().message;
        if (!went.ok() || !*went)
            break;
    }
    return frontier;
}

TEST(PlanFrontier, AnswersEveryBudgetAsMakePlanDoes)
{
    for (const auto recompute : {Recompute::Off, Recompute::Auto}) {
        PlanRequest request = tinyRequest(recompute);
        const Bytes most = plenty(request);
        const PlanFrontier frontier = refined(request, most, kMostSearches);
        ASSERT_TRUE(frontier.complete());
        ASSERT_EQ(frontier.unknown(), Bytes());
        std::mt19937_64 random(7);
        for (int i = 0; i < 200; ++i) {
            request.budget = Bytes(std::uniform_int_distribution<std::int64_t>(0, most.count())(random));
            const auto asked = makePlan(request);
            const auto found = frontier.find(request.budget);
            ASSERT_TRUE(asked.ok() && found);
            EXPECT_EQ(found->budget, request.budget);
            ASSERT_EQ(found->plan.has_value(), asked->plan.has_value());
            if (!asked->plan) {
                EXPECT_EQ(found->infeasible->leastBudget, asked->infeasible->leastBudget);
                continue;
            }
            EXPECT_LE(found->plan->peak, request.budget);
            EXPECT_EQ(found->plan->time.serial, found->plan->objective);
            if (asked->status == SearchStatus::Optimal) {
                EXPECT_EQ(found->status, SearchStatus::Optimal);
                EXPECT_EQ(found->plan->objective, asked->plan->objective);
            } else {
                EXPECT_LE(found->plan->objective, asked->plan->objective);
            }
        }
    }
}

TEST(PlanFrontier, PlansHoldUnderTheIndependentCheck)
{
    PlanRequest request = tinyRequest(Recompute::Auto);
    const Bytes most = plenty(request);
    const PlanFrontier frontier = refined(request, most, 200);
    for (int i = 1; i <= 20; ++i) {
        const auto outcome = frontier.approximate(Bytes(most.count() * i / 20));
        ASSERT_TRUE(outcome);
        if (outcome->plan) {
            EXPECT_TRUE(checkPlan(*outcome).violations.empty());
        }
    }
}

TEST(PlanFrontier, FewSearchesGiveUsableAnswersWithAProvenGap)
{
    PlanRequest request = tinyRequest(Recompute::Off);
    const Bytes most = plenty(request);
    const PlanFrontier coarse = refined(request, most, 12);
    const PlanFrontier fine = refined(request, most, kMostSearches);
    EXPECT_LT(fine.unknown(), coarse.unknown());
    for (int i = 1; i <= 100; ++i) {
        const Bytes budget(most.count() * i / 100);
        const auto near = coarse.approximate(budget);
        const auto exact = fine.find(budget);
        ASSERT_TRUE(exact);
        if (!near || !near->plan)
            continue;
        ASSERT_TRUE(exact->plan);
        EXPECT_GE(near->plan->objective, exact->plan->objective);
        EXPECT_LE(near->lowerBound, exact->plan->objective * (1 + 1e-12));
        EXPECT_LE(near->plan->peak, budget);
    }
}

void expectMoreMemoryIsNeverSlower(const PlanRequest& request, Bytes least, Bytes most)
{
    PlanFrontier frontier = refined(request, most, 60);
    double before = 0;
    for (int i = 0; i <= 300; ++i) {
        const Bytes budget = least + Bytes((most - least).count() * i / 300);
        const auto outcome = frontier.approximate(budget);
        ASSERT_TRUE(outcome);
        if (!outcome->plan)
            continue;
        EXPECT_GE(outcome->plan->samplesPerSecond(), before) << budget.count();
        before = outcome->plan->samplesPerSecond();
        EXPECT_LE(outcome->gap, 1.0);
    }
    EXPECT_GT(before, 0);
}

// Settings in which single searches cannot prove all their plans.
TEST(PlanFrontier, MoreMemoryIsNeverSlowerWhereSearchesAreUnproven)
{
    PlanRequest gpt;
    gpt.setup = testing::bundledSetup("gpt2-xl", "8xA100-40", "bf16-mixed", 64);
    gpt.setup.rules = fsdp2Rules();
    expectMoreMemoryIsNeverSlower(gpt, Bytes(), 40_GiB);
    PlanRequest llama;
    llama.setup = testing::bundledSetup("llama3-8b", "8xB200-180", "bf16-mixed", 512);
    llama.setup.rules = fsdp2Rules();
    llama.setup.recomputedBlocks = 32;
    expectMoreMemoryIsNeverSlower(llama, Bytes(), 180_GiB);
}

TEST(PlanFrontier, LearnsWhatOthersFoundAndStopsWhenAsked)
{
    PlanRequest request = tinyRequest(Recompute::Off);
    const Bytes most = plenty(request);
    PlanFrontier frontier(request, most);
    EXPECT_FALSE(frontier.find(most));
    request.budget = most;
    frontier.learn(makePlan(request).value());
    ASSERT_TRUE(frontier.find(most));
    EXPECT_EQ(frontier.answers(), 1U);

    std::stop_source source;
    source.request_stop();
    SearchLimits stopped;
    stopped.stop = source.get_token();
    EXPECT_FALSE(frontier.refine(stopped).value());
    EXPECT_EQ(frontier.answers(), 1U);
    const PlanFrontier copy = frontier;
    EXPECT_TRUE(frontier.refine({}).value());
    EXPECT_EQ(copy.answers(), 1U);
}

TEST(PlanFrontier, SaysWhyARequestCannotBeAsked)
{
    PlanRequest request = tinyRequest(Recompute::Off);
    request.setup.batch = 0;
    PlanFrontier frontier(request, 1_GiB);
    EXPECT_FALSE(frontier.refine({}).ok());
}

} // namespace
} // namespace loadline
