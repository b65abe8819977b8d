// SPDX-License-Identifier: GPL-3.0-or-later
// Whatever the plan, the same training: losses and weights of sharded runs against one process on the same global batches.
#include "training.hpp"

#include "core/cost/traffic.hpp"
#include "core/exchange/request.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace loadline;
using namespace loadline::test;

namespace {

/// fp32: sums in another order differ by a few units in the last place a step (docs/verification.md).
constexpr double kTolerance = 1e-5;

const char* const kModels[] = {"gpt2.json",    "llama.json",
                               "opt.json",     "bert.json",
                               "mixtral.json", "bert-pretraining.json",
                               "qwen3.json",   "inconsistent.loadline-model.json"};

void expectTraffic(const CostTable& table, const Choice& choice, const Outcome& outcome, const std::string& what)
{
    const Traffic predicted = stepTraffic(table, choice);
    for (const auto& rank : outcome.steps) {
        for (const WorkerStep& step : rank) {
            EXPECT_EQ(step.traffic.allGather, predicted.allGather) << what;
            EXPECT_EQ(step.traffic.reduceScatter, predicted.reduceScatter) << what;
            EXPECT_EQ(step.traffic.allReduce, predicted.allReduce) << what;
        }
    }
}

void check(const Question& question, const CostTable& table, const Choice& choice, const Outcome& unsharded, const std::string& what)
{
    const Outcome outcome = train(table, choice, question);
    expectEqual(outcome, unsharded, question, kTolerance, what);
    expectTraffic(table, choice, outcome, what);
}

} // namespace

TEST(Equality, EveryModelUnderEveryUniformStrategy)
{
    for (const char* model : kModels) {
        Question question;
        question.model = model;
        const CostTable table = tableOf(question);
        const Outcome unsharded = trainUnsharded(table, question);
        EXPECT_LT(unsharded.losses.back(), unsharded.losses.front() + 1) << model;
        for (const std::int64_t group : {1, 2, 4}) {
            for (const bool keep : {false, true}) {
                const Choice choice = chooseBy(table, [&](const Strategy& strategy) {
                    return strategy.group == group && strategy.slices == 1 && strategy.reshardAfterForward != keep;
                });
                check(question, table, choice, unsharded, std::string(model) + " d" + std::to_string(group) + (keep ? " kept" : ""));
            }
        }
        for (const int sharded : {1, 3, 4}) {
            const Choice choice = chooseBy(table, [&](const Strategy& strategy) {
                return strategy.group == 4 && strategy.slices == 4 && strategy.shardedSlices == sharded;
            });
            check(question, table, choice, unsharded, std::string(model) + " " + std::to_string(sharded) + " of 4");
        }
    }
}

TEST(Equality, PartsAndBlocksAsUnits)
{
    for (const char* model : kModels) {
        for (const UnitKind unit : {UnitKind::Part, UnitKind::Block}) {
            Question question;
            question.model = model;
            question.unit = unit;
            question.recomputedBlocks = 1;
            const CostTable table = tableOf(question);
            const Outcome unsharded = trainUnsharded(table, question);
            for (const std::int64_t group : {1, 2, 4})
                check(question, table, chooseBy(table, [&](const Strategy& s) { return s.group == group; }), unsharded,
                      std::string(model) + " units of " + std::string(unitWord(unit)) + " d" + std::to_string(group));
        }
    }
}

TEST(Equality, RandomPlans)
{
    std::mt19937 random(20261201);
    int tried = 0;
    for (const int ranks : {2, 3, 4, 8}) {
        for (int trial = 0; trial < 50; ++trial) {
            Question question;
            question.ranks = ranks;
            question.model = kModels[random() % std::size(kModels)];
            question.sequence = 5 + static_cast<std::int64_t>(random() % 4);
            question.batch = 1 + static_cast<std::int64_t>(random() % 2);
            question.accumulation = 1 + static_cast<std::int64_t>(random() % 3);
            question.recomputedBlocks = static_cast<std::int64_t>(random() % 3);
            question.clip = random() % 2 == 0 ? 0 : 0.5;
            question.steps = 2;
            question.optimizer = random() % 3 == 0 ? "sgd-momentum" : "adamw";
            const CostTable table = tableOf(question);
            const Choice choice = randomChoice(table, random);
            check(question, table, choice, trainUnsharded(table, question), "trial " + std::to_string(tried) + " of " + question.model);
            if (HasFatalFailure())
                return;
            ++tried;
        }
    }
    EXPECT_EQ(tried, 200);
}

TEST(Equality, AWrongGradientWouldBeNoticed)
{
    // Ranks that do not average (each as if it were alone, on its own quarter of the batch) drift far beyond the tolerance.
    Question question;
    question.steps = 5;
    const CostTable table = tableOf(question);
    const Outcome unsharded = trainUnsharded(table, question);
    Question alone = question;
    alone.ranks = 1;
    const CostTable one = tableOf(alone);
    const Outcome drifted = train(one, Choice(one.units.size(), 0), alone);
    EXPECT_GT(std::abs(drifted.losses.back() - unsharded.losses.back()), 100 * kTolerance * unsharded.losses.back());
    EXPECT_GT(drifted.weights.front().sub(unsharded.weights.front()).abs().mean().item<double>(), question.learningRate / 10);
}

TEST(Equality, TwentySteps)
{
    constexpr int kRanks[] = {2, 3, 4, 8};
    double worst = 0;
    int number = 0;
    for (const char* model : kModels) {
        for (const char* optimizer : {"adamw", "sgd-momentum"}) {
            Question question;
            question.model = model;
            question.optimizer = optimizer;
            question.steps = 20;
            question.ranks = kRanks[number++ % 4];
            question.clip = 1;
            const CostTable table = tableOf(question);
            std::mt19937 random(1);
            const Outcome unsharded = trainUnsharded(table, question);
            const Choice choice = randomChoice(table, random);
            const Outcome outcome = train(table, choice, question);
            expectEqual(outcome, unsharded, question, kTolerance, std::string(model) + " with " + optimizer);
            expectTraffic(table, choice, outcome, model);
            for (std::size_t step = 0; step < outcome.losses.size(); ++step)
                worst = std::max(worst, std::abs(outcome.losses[step] / unsharded.losses[step] - 1));
        }
    }
    std::printf("worst relative difference of a loss: %.1e\n", worst);
}

TEST(Equality, MixedPrecision)
{
    // bf16 rounds each gradient to 8 bits; another order of sums moves a loss in the third digit at most.
    for (const char* model : kModels) {
        Question question;
        question.model = model;
        question.precision = "bf16-mixed";
        const CostTable table = tableOf(question);
        const Outcome unsharded = trainUnsharded(table, question);
        std::mt19937 random(3);
        const Choice choice = randomChoice(table, random);
        const Outcome outcome = train(table, choice, question);
        for (std::size_t step = 0; step < outcome.losses.size(); ++step)
            EXPECT_NEAR(outcome.losses[step], unsharded.losses[step], 5e-3 * unsharded.losses[step]) << model;
        expectTraffic(table, choice, outcome, model);
    }
}
