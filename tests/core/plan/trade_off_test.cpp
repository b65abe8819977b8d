// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/trade_off.hpp"
#include "tests/support/plan_setups.hpp"

#include <gtest/gtest.h>

namespace loadline {
namespace {

PlanRequest requestOf(Recompute recompute)
{
    PlanRequest request;
    request.setup = testing::tinyGpt();
    request.setup.batch = 8;
    request.recompute = recompute;
    return request;
}

TEST(TradeOff, IsAFallingStairOfPlansThatCanBeHad)
{
    for (const auto recompute : {Recompute::Off, Recompute::Auto, Recompute::All}) {
        PlanRequest request = requestOf(recompute);
        const auto stair = tradeOff(request, 24);
        ASSERT_TRUE(stair.ok()) << stair.error().message;
        ASSERT_GE(stair->size(), 3U);
        for (std::size_t i = 0; i < stair->size(); ++i) {
            const TradeOffPoint& point = (*stair)[i];
            if (i > 0) {
                EXPECT_GT(point.peak, (*stair)[i - 1].peak);
                EXPECT_LT(point.time, (*stair)[i - 1].time);
            }
            request.budget = point.peak;
            const auto outcome = makePlan(request);
            ASSERT_TRUE(outcome.ok() && outcome->plan) << "a corner of the stair must be feasible";
            EXPECT_LE(outcome->lowerBound, point.time);
            if (outcome->status == SearchStatus::Optimal) {
                EXPECT_LE(outcome->plan->objective, point.time);
            }
        }
    }
}

TEST(TradeOff, ChoosingRecomputationReachesBelowAndNeverLies)
{
    const auto off = tradeOff(requestOf(Recompute::Off), 24);
    const auto chosen = tradeOff(requestOf(Recompute::Auto), 24);
    const auto all = tradeOff(requestOf(Recompute::All), 24);
    ASSERT_TRUE(off.ok() && chosen.ok() && all.ok());
    EXPECT_LT(chosen->front().peak, off->front().peak);
    EXPECT_EQ(chosen->front().peak, all->front().peak);
    EXPECT_EQ(chosen->back().time, off->back().time);
}

TEST(TradeOff, StopsWhenAsked)
{
    std::stop_source source;
    source.request_stop();
    PlanRequest request = requestOf(Recompute::Auto);
    request.limits.stop = source.get_token();
    const auto stair = tradeOff(request, 24);
    ASSERT_TRUE(stair.ok());
    EXPECT_TRUE(stair->empty());
}

} // namespace
} // namespace loadline
