// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/known_plans.hpp"
#include "core/model/reader.hpp"

#include <gtest/gtest.h>

using namespace loadline;

namespace {

Inputs inputsOf(const char* model, Bytes budget)
{
    Inputs inputs;
    inputs.options.model = model;
    inputs.options.batch = "2";
    inputs.model = std::make_shared<const Model>(*loadModel(model));
    inputs.budget = budget;
    return inputs;
}

PlanOutcome asTheTerminal(const Inputs& inputs)
{
    auto resolved = resolveRequest(inputs.options, inputs.model);
    resolved->request.budget = inputs.budget;
    return *makePlan(resolved->request);
}

void expectSame(const PlanAnswer& shown, const PlanOutcome& expected)
{
    ASSERT_EQ(shown.outcome->plan.has_value(), expected.plan.has_value());
    EXPECT_EQ(shown.outcome->status, expected.status);
    if (!expected.plan) {
        EXPECT_EQ(shown.outcome->infeasible->leastBudget, expected.infeasible->leastBudget);
        EXPECT_EQ(shown.outcome->infeasible->because, expected.infeasible->because);
        return;
    }
    EXPECT_EQ(shown.outcome->plan->choice, expected.plan->choice);
    EXPECT_EQ(shown.outcome->plan->peak, expected.plan->peak);
    EXPECT_EQ(shown.outcome->secondsPerGib, expected.secondsPerGib);
    EXPECT_EQ(shown.outcome->lowerBound, expected.lowerBound);
}

} // namespace

TEST(KnownPlans, OnceFilledNoMoveOfAHandleSearches)
{
    KnownPlans known;
    Inputs inputs = inputsOf("gpt2-small", 8_GiB);
    EXPECT_FALSE(known.knows(inputs));
    known.fill(inputs, {});
    const Bytes device = (*known.answer(inputs, false, {}))->device;
    EXPECT_EQ(known.searches(), 0); // the line stood there
    for (const int granularity : kGranularities) {
        inputs.options.granularity = granularityFlag(granularity);
        EXPECT_TRUE(known.complete(inputs));
        for (std::int64_t tenth = 0; tenth <= device.count() * 10 >> 30; ++tenth) {
            inputs.budget = Bytes((tenth / 10 << 30) + ((tenth % 10 << 30) / 10));
            ASSERT_TRUE(known.knows(inputs)) << tenth;
            if (tenth % 16 != 0)
                continue;
            const auto answer = known.answer(inputs, true, {});
            ASSERT_TRUE(answer.ok());
            EXPECT_TRUE((*answer)->lookedUp);
            const PlanOutcome expected = asTheTerminal(inputs);
            ASSERT_EQ((*answer)->outcome->plan.has_value(), expected.plan.has_value());
            if (expected.plan) {
                EXPECT_LE((*answer)->outcome->plan->peak, inputs.budget);
                EXPECT_LE((*answer)->outcome->plan->objective.value(),
                          expected.plan->objective.value() * (1 + KnownPlans::kNearEnough + expected.gap));
                EXPECT_EQ((*answer)->timeline->peak, (*answer)->outcome->plan->peak);
            }
        }
    }
    EXPECT_EQ(known.searches(), 0);
}

TEST(KnownPlans, WhatIsCommittedIsWhatTheTerminalSays)
{
    KnownPlans known;
    Inputs inputs = inputsOf("gpt-tiny", 8_GiB);
    inputs.options.batch = "auto";
    for (const bool filled : {false, true}) {
        for (int step = 0; step < 12; ++step) {
            inputs.budget = Bytes(std::int64_t{step} * 130'000'000);
            const auto answer = known.answer(inputs, false, {});
            ASSERT_TRUE(answer.ok());
            EXPECT_FALSE((*answer)->lookedUp);
            SCOPED_TRACE(step);
            expectSame(**answer, asTheTerminal(inputs));
        }
        if (!filled)
            known.fill(inputs, {});
    }
}

TEST(KnownPlans, RestsAreLookedUpTooAndOtherInputsForgotten)
{
    KnownPlans known;
    Inputs inputs = inputsOf("gpt-tiny", 1_GiB);
    const Bytes rest(123'456'789);
    EXPECT_TRUE(known.addRests(inputs, {rest})); // before anything is known
    known.fill(inputs, {});
    EXPECT_FALSE(known.addRests(inputs, {rest}));
    EXPECT_TRUE(known.complete(inputs));
    Inputs other = inputs;
    other.options.batch = "3";
    EXPECT_FALSE(sameKind(inputs, other));
    ASSERT_TRUE(known.answer(other, false, {}).ok());
    EXPECT_FALSE(known.knows(inputs));
    known.fill(inputs, {});
    EXPECT_TRUE(known.knows(inputs));
    known.forget();
    EXPECT_FALSE(known.knows(inputs));
}

TEST(KnownPlans, StoppingEndsTheFilling)
{
    KnownPlans known;
    const Inputs inputs = inputsOf("gpt-tiny", 1_GiB);
    std::stop_source stop;
    stop.request_stop();
    known.fill(inputs, stop.get_token());
    EXPECT_FALSE(known.complete(inputs));
    EXPECT_FALSE(known.knows(inputs));
    Inputs wrong = inputs;
    wrong.options.batch = "none";
    EXPECT_FALSE(known.answer(wrong, false, {}).ok());
}
