// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/outer_bound.hpp"
#include "core/plan/planner.hpp"
#include "tests/support/plan_setups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace loadline {
namespace {

using namespace testing;
using ::testing::HasSubstr;

PlanRequest requestFor(loadline::Setup setup, Bytes budget)
{
    PlanRequest request;
    request.setup = std::move(setup);
    request.budget = budget;
    return request;
}

/// Least budget of a setting without outer loops.
Bytes leastBudgetOf(const loadline::Setup& setup)
{
    return Planner::prepare(*buildCostTable(setup), {})->leastBudget();
}

double bestByTryingAll(const PlanRequest& request, std::int64_t mostBatch)
{
    double best = 0;
    for (std::int64_t batch = 1; batch <= mostBatch; ++batch)
        for (std::int64_t blocks = 0; blocks <= request.setup.model->layerCount(); ++blocks) {
            loadline::Setup setup = request.setup;
            setup.batch = batch;
            setup.recomputedBlocks = blocks;
            const PlanOutcome outcome = Planner::prepare(*buildCostTable(setup), request.pins)->plan(request.budget);
            if (outcome.plan)
                best = std::max(best, outcome.plan->samplesPerSecond());
        }
    return best;
}

TEST(OuterLoops, FindTheBestBatchAndRecomputationOfAll)
{
    loadline::Setup setup = tinyGpt();
    const Bytes least = leastBudgetOf(setup);
    setup.batch = 8;
    const Bytes large = leastBudgetOf(setup);
    for (int i = 1; i <= 6; ++i) {
        PlanRequest request = requestFor(setup, least + Bytes((large - least).count() * i / 6));
        request.chooseBatch = true;
        request.mostBatch = 8;
        request.recompute = Recompute::Auto;
        const auto outcome = makePlan(request);
        ASSERT_TRUE(outcome.ok()) << outcome.error().message;
        ASSERT_TRUE(outcome->plan.has_value());
        const double best = bestByTryingAll(request, 8);
        EXPECT_LE(outcome->plan->samplesPerSecond(), best * (1 + 1e-9));
        EXPECT_GE(outcome->plan->samplesPerSecond(), best * (1 - outcome->gap - 1e-9));
        EXPECT_LT(outcome->gap, 0.02);
        EXPECT_LE(outcome->plan->peak, request.budget);
        EXPECT_EQ(outcome->plan->peak, plannedPeak(outcome->plan->table, outcome->plan->choice));
    }
}

TEST(OuterLoops, BoundOfARangeHoldsForEachCountInIt)
{
    const loadline::Setup setup = tinyGpt();
    PlanRequest request = requestFor(setup, leastBudgetOf(setup) + 1_MiB);
    OuterBounds bounds(request);
    const auto range = bounds.bound({setup.batch, 1, 0, setup.model->layerCount()});
    ASSERT_TRUE(range.ok());
    for (std::int64_t blocks = 0; blocks <= setup.model->layerCount(); ++blocks) {
        loadline::Setup one = setup;
        one.recomputedBlocks = blocks;
        const auto planner = Planner::prepare(*buildCostTable(one), {});
        EXPECT_LE(range->leastBudget, planner->leastBudget());
        const PlanOutcome outcome = planner->plan(request.budget);
        EXPECT_TRUE(!outcome.plan || range->least.value() <= outcome.plan->objective.value() + 1e-12) << blocks;
    }
}

TEST(OuterLoops, KeepTheGlobalBatch)
{
    PlanRequest request = requestFor(tinyGpt(), 64_GiB);
    request.chooseBatch = request.chooseAccumulation = true;
    request.mostBatch = 16;
    request.globalBatch = 12 * request.setup.cluster.ranks();
    const auto outcome = makePlan(request);
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    ASSERT_TRUE(outcome->plan.has_value());
    const loadline::Setup& chosen = outcome->plan->table.setup;
    EXPECT_EQ(chosen.batch * chosen.accumulation * chosen.cluster.ranks(), request.globalBatch);
}

TEST(OuterLoops, TakeWhatIsGivenWhenNothingIsOpen)
{
    PlanRequest request = requestFor(tinyGpt(), 64_GiB);
    request.setup.batch = 3;
    request.setup.accumulation = 2;
    request.recompute = Recompute::All;
    const auto outcome = makePlan(request);
    ASSERT_TRUE(outcome.ok() && outcome->plan.has_value());
    EXPECT_EQ(outcome->plan->table.setup.batch, 3);
    EXPECT_EQ(outcome->plan->table.setup.accumulation, 2);
    EXPECT_EQ(outcome->plan->table.setup.recomputedBlocks, request.setup.model->layerCount());
    EXPECT_EQ(outcome->status, SearchStatus::Optimal);
}

TEST(OuterLoops, RefuseWhatCannotBeAsked)
{
    const auto failure = [](auto change) {
        PlanRequest request = requestFor(tinyGpt(), 1_GiB);
        change(request);
        const auto outcome = makePlan(request);
        return outcome.ok() ? std::string() : outcome.error().message;
    };
    EXPECT_THAT(failure([](PlanRequest& r) { r.setup.model = nullptr; }), HasSubstr("--model"));
    EXPECT_THAT(failure([](PlanRequest& r) { r.setup.batch = 0; }), HasSubstr("--batch 0"));
    EXPECT_THAT(failure([](PlanRequest& r) { r.setup.accumulation = -1; }), HasSubstr("--accumulation -1"));
    EXPECT_THAT(failure([](PlanRequest& r) { r.chooseAccumulation = true; }), HasSubstr("--global-batch"));
    EXPECT_THAT(failure([](PlanRequest& r) { r.globalBatch = 13; }), HasSubstr("--global-batch 13"));
    EXPECT_THAT(failure([](PlanRequest& r) { r.globalBatch = 8 * 7; }), HasSubstr("--global-batch 56"));
    EXPECT_THAT(failure([](PlanRequest& r) { r.budget = Bytes(-1); }), HasSubstr("--budget"));
    EXPECT_THAT(failure([](PlanRequest& r) { r.pins = {{"nothing", "dp"}}; }), HasSubstr("--pin nothing"));
    EXPECT_THAT(failure([](PlanRequest& r) { r.setup.cluster.nodes = 0; }), HasSubstr("cluster"));
}

TEST(OuterLoops, ExplainWhatForcesTheBudgetAndWhatWouldHelp)
{
    PlanRequest request = requestFor(tinyGpt(), 1_MiB);
    request.setup.batch = 4;
    const auto outcome = makePlan(request);
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    ASSERT_EQ(outcome->status, SearchStatus::Infeasible);
    const Infeasibility& why = *outcome->infeasible;
    EXPECT_EQ(why.leastBudget, leastBudgetOf(request.setup));
    EXPECT_FALSE(why.because.empty());
    ASSERT_FALSE(why.waysOut.empty());
    for (std::size_t i = 0; i < why.waysOut.size(); ++i) {
        EXPECT_LT(why.waysOut[i].leastBudget, why.leastBudget);
        EXPECT_TRUE(i == 0 || why.waysOut[i - 1].leastBudget <= why.waysOut[i].leastBudget);
    }
    const auto batchOne = std::find_if(why.waysOut.begin(), why.waysOut.end(), [](const WayOut& way) { return way.what == "batch 1"; });
    ASSERT_NE(batchOne, why.waysOut.end());
    loadline::Setup smaller = request.setup;
    smaller.batch = 1;
    EXPECT_EQ(batchOne->leastBudget, leastBudgetOf(smaller));
}

TEST(OuterLoops, StopWhenAsked)
{
    PlanRequest request = requestFor(tinyGpt(), 64_GiB);
    request.chooseBatch = true;
    request.recompute = Recompute::Auto;
    std::stop_source source;
    source.request_stop();
    request.limits.stop = source.get_token();
    const auto outcome = makePlan(request);
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    EXPECT_TRUE(outcome->cancelled);
}

/// The sample that the window opens with: proven at every budget, so more memory never costs time.
TEST(OuterLoops, LlamaIsProvenOverItsWholeRange)
{
    const auto planner = Planner::prepare(*buildCostTable(llama8b()), {});
    ASSERT_TRUE(planner.ok());
    const std::int64_t least = planner->leastBudget().count();
    const std::int64_t most = planner->mostBudget().count();
    double before = std::numeric_limits<double>::infinity();
    for (int i = 0; i <= 100; ++i) {
        const PlanOutcome outcome = planner->plan(Bytes(least + (most - least) / 100 * i));
        ASSERT_EQ(outcome.status, SearchStatus::Optimal) << i;
        ASSERT_LE(outcome.plan->objective.value(), before + 1e-12);
        before = outcome.plan->objective.value();
    }
}

} // namespace
} // namespace loadline
