// SPDX-License-Identifier: GPL-3.0-or-later
// What a training refuses, with the sentence that says why; what it says of itself.
#include "training.hpp"

#include "core/exchange/request.hpp"

#include <ATen/ops/arange.h>

#include <gtest/gtest.h>

using namespace loadline;
using namespace loadline::test;

namespace {

std::string refusalOf(const CostTable& table, const TrainingOptions& options = {}, Communicator* world = nullptr)
{
    const auto trainer = Trainer::create(table, Choice(table.units.size(), 0), world, options);
    EXPECT_FALSE(trainer);
    return trainer ? std::string() : trainer.error().message;
}

void expectSays(const std::string& sentence, const char* words)
{
    EXPECT_NE(sentence.find(words), std::string::npos) << sentence;
}

} // namespace

TEST(Trainer, RefusesWhatItCannotTrainAndSaysWhy)
{
    Question question;
    question.ranks = 1;
    const CostTable table = tableOf(question);

    Question four = question;
    four.ranks = 4;
    expectSays(refusalOf(tableOf(four)), "4 ranks, but 1 run");

    CostTable other = table;
    other.setup.rules = fsdp2Rules();
    expectSays(refusalOf(other), "--runtime loadline");
    other = table;
    other.setup.precision = *loadPrecision("bf16");
    expectSays(refusalOf(other), "precision");
    other = table;
    other.setup.optimizer = *loadOptimizer("adafactor");
    expectSays(refusalOf(other), "adafactor");
    other = table;
    other.setup.sequence = 17;
    expectSays(refusalOf(other), "16 positions");

    TrainingOptions options;
    options.data = "/no/such/text";
    expectSays(refusalOf(table, options), "/no/such/text");
    options.data = LOADLINE_SOURCE_DIR "/README.md";
    expectSays(refusalOf(table, options), "at least 256"); // bytes, and a vocabulary of 61
}

TEST(Trainer, SecondsOfAStepAddUp)
{
    Question question;
    question.steps = 2;
    const CostTable table = tableOf(question);
    const Outcome outcome = train(table, chooseBy(table, [](const Strategy& s) { return s.group == 4 && s.slices == 1; }), question);
    for (const auto& rank : outcome.steps) {
        const WorkerStep& step = rank.back();
        EXPECT_GT(step.exposed.value(), 0);
        EXPECT_GT(step.forward.value(), 0);
        EXPECT_GT(step.backward.value(), 0);
        const double parts = step.forward.value() + step.backward.value() + step.optimizer.value() + step.exposed.value();
        EXPECT_LE(parts, step.seconds.value() * 1.0001);
    }
    double gather = 0;
    for (const UnitSeconds& unit : outcome.units)
        gather += unit.gather + unit.reduce;
    EXPECT_NEAR(gather, outcome.steps.front().back().exposed.value(), 1e-9);
}

TEST(Trainer, LogitsAreThoseOfTheWholeNetworkUnderEveryPlan)
{
    Question question;
    const CostTable table = tableOf(question);
    const at::Tensor tokens = at::arange(12, at::kLong).view({2, 6});
    const auto logitsOf = [&](const CostTable& of, const Choice& choice, Communicator* world) {
        auto trainer = Trainer::create(of, choice, world, optionsOf(question));
        TORCH_CHECK(trainer, "not created");
        return (*trainer)->logits(tokens);
    };
    const CostTable one = unshardedTable(table).value();
    const at::Tensor wanted = logitsOf(one, Choice(one.units.size(), 0), nullptr);
    std::mt19937 random(2);
    const Choice choice = randomChoice(table, random);
    runThreads(question.ranks, [&](Communicator& world) {
        TORCH_CHECK(logitsOf(table, choice, &world).sub(wanted).abs().max().item<double>() < 1e-5, "other logits");
    });
}
