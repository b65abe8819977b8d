// SPDX-License-Identifier: GPL-3.0-or-later
// Every strategy beside every other, and what a plan does not decide: frozen and borrowed parameters, dropout, optimizers, data.
#include "training.hpp"

#include "../device/processes.hpp"

#include "core/cost/traffic.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/full.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace loadline;
using namespace loadline::test;

namespace {

constexpr double kTolerance = 1e-5;

/// Every strategy that some unit of the table offers.
std::vector<Strategy> strategiesOf(const CostTable& table)
{
    std::set<Strategy> all;
    for (std::size_t unit = 0; unit < table.units.size(); ++unit)
        for (const OptionCost& option : table.options(unit))
            all.insert(option.strategy);
    return {all.begin(), all.end()};
}

/// The option with this strategy; where a unit is not offered it, its counterpart in one slice.
std::uint32_t optionLike(const CostTable& table, std::size_t unit, const Strategy& wanted)
{
    const auto& options = table.options(unit);
    const auto find = [&](const auto& same) {
        return std::find_if(options.begin(), options.end(), [&](const OptionCost& option) { return same(option.strategy); });
    };
    auto found = find([&](const Strategy& strategy) {
        return strategy.group == wanted.group && strategy.slices == wanted.slices && strategy.shardedSlices == wanted.shardedSlices &&
               strategy.reshardAfterForward == wanted.reshardAfterForward;
    });
    if (found == options.end())
        found = find([&](const Strategy& strategy) { return strategy.group == wanted.group && strategy.slices == 1; });
    return found == options.end() ? 0 : static_cast<std::uint32_t>(found - options.begin());
}

void expectAsUnsharded(const Question& question, const std::string& what)
{
    const CostTable table = tableOf(question);
    const Outcome unsharded = trainUnsharded(table, question);
    std::mt19937 random(3);
    for (int plan = 0; plan < 4; ++plan) {
        const Choice choice = plan == 0   ? Choice(table.units.size(), 0)
                              : plan == 1 ? chooseBy(table, [&](const Strategy& s) { return s.group == question.ranks && s.slices == 1; })
                                          : randomChoice(table, random);
        const Outcome outcome = train(table, choice, question);
        expectEqual(outcome, unsharded, question, kTolerance, what + ", plan " + std::to_string(plan));
        EXPECT_EQ(outcome.steps.front().back().traffic, stepTraffic(table, choice)) << what << ", plan " << plan;
        for (const CategoryBytes& alive : outcome.alive)
            EXPECT_EQ(alive[static_cast<std::size_t>(MemoryCategory::Gathered)], Bytes(0)) << what;
    }
}

} // namespace

TEST(Strategies, EveryPairSideBySide)
{
    Question question;
    question.granularities = {1, 3};
    question.steps = 2;
    question.recomputedBlocks = 1;
    const CostTable table = tableOf(question);
    const Outcome unsharded = trainUnsharded(table, question);
    const auto all = strategiesOf(table);
    ASSERT_GE(all.size(), 10U);
    int pairs = 0;
    for (std::size_t a = 0; a < all.size(); ++a) {
        for (std::size_t b = a; b < all.size(); ++b) {
            Choice choice;
            for (std::size_t unit = 0; unit < table.units.size(); ++unit)
                choice.push_back(optionLike(table, unit, choice.size() % 2 == 0 ? all[a] : all[b]));
            const std::string what = strategyLabel(all[a], question.ranks) + " beside " + strategyLabel(all[b], question.ranks);
            const Outcome outcome = train(table, choice, question);
            expectEqual(outcome, unsharded, question, kTolerance, what);
            EXPECT_EQ(outcome.steps.back().back().traffic, stepTraffic(table, choice)) << what;
            ++pairs;
            if (HasFatalFailure())
                return;
        }
    }
    RecordProperty("pairs", pairs);
}

TEST(Strategies, FrozenParameters)
{
    for (const char* pattern : {"*.c_fc*", "*.wte*", "*.h.0.*", "*bias"}) {
        for (const std::int64_t recomputed : {0, 2}) {
            Question question;
            question.freeze = pattern;
            question.recomputedBlocks = recomputed;
            question.accumulation = 2;
            question.steps = 2;
            expectAsUnsharded(question, std::string("frozen ") + pattern + ", " + std::to_string(recomputed) + " blocks recomputed");
        }
    }
}

TEST(Strategies, Adapters)
{
    for (const char* model : {"llama.json", "gpt2.json", "bert.json"}) {
        Question question;
        question.model = model;
        question.lora = "rank=3,targets=all-linear";
        question.steps = 3;
        question.learningRate = 1e-2;
        expectAsUnsharded(question, std::string("adapters in ") + model);
    }
}

TEST(Strategies, EveryOptimizer)
{
    for (const char* optimizer : {"adamw", "sgd", "sgd-momentum", "lion"}) {
        Question question;
        question.optimizer = optimizer;
        question.learningRate = std::string(optimizer) == "lion" ? 1e-4 : 1e-2;
        question.clip = 0.7;
        question.steps = 3;
        question.ranks = 3;
        const CostTable table = tableOf(question);
        const Outcome unsharded = trainUnsharded(table, question);
        const Outcome outcome = train(table, chooseBy(table, [](const Strategy& s) { return s.group == 3; }), question);
        for (std::size_t step = 0; step < outcome.losses.size(); ++step)
            EXPECT_NEAR(outcome.losses[step], unsharded.losses[step], kTolerance * unsharded.losses[step]) << optimizer;
        EXPECT_NE(outcome.losses.front(), outcome.losses.back()) << optimizer << " learns nothing";
    }
}

TEST(Strategies, DropoutIsDrawnAgainInRecomputation)
{
    Question question;
    question.ranks = 1;
    question.dropout = 0.3;
    question.steps = 3;
    const CostTable table = tableOf(question);
    const Outcome saved = train(table, Choice(table.units.size(), 0), question);
    question.recomputedBlocks = 2;
    const CostTable recomputing = tableOf(question);
    const Outcome recomputed = train(recomputing, Choice(recomputing.units.size(), 0), question);
    expectEqual(recomputed, saved, question, 1e-7, "recomputed with dropout");
    question.dropout = 0;
    const CostTable dry = tableOf(question);
    EXPECT_NE(train(dry, Choice(dry.units.size(), 0), question).losses.front(), saved.losses.front()) << "nothing was dropped";
}

TEST(Strategies, ProcessesOverGlooWithDropout)
{
    at::set_num_threads(1); // children are forks: no pool of threads before them
    Question question;
    question.dropout = 0.2;
    question.recomputedBlocks = 1;
    question.accumulation = 2;
    question.steps = 3;
    question.nodes = 2;
    for (const bool hierarchical : {false, true}) {
        question.hierarchical = hierarchical;
        const CostTable table = tableOf(question);
        const Outcome unsharded = trainUnsharded(table, question);
        std::mt19937 random(17);
        const Choice choice = randomChoice(table, random);
        const auto statuses = inProcesses(question.ranks, std::chrono::seconds(60), [&](Communicator& world) {
            auto trainer = Trainer::create(table, choice, &world, optionsOf(question));
            if (!trainer)
                return 2;
            for (const double wanted : unsharded.losses) {
                const WorkerStep step = (*trainer)->step();
                const at::Tensor loss = at::full({1}, step.loss, at::kDouble);
                world.allReduce(loss)->wait();
                if (std::abs(loss.item<double>() / question.ranks - wanted) > kTolerance * wanted)
                    return 3;
                if (step.traffic != stepTraffic(table, choice))
                    return 4;
            }
            return 0;
        });
        EXPECT_EQ(statuses, std::vector<int>(4, 0)) << (hierarchical ? "two phases" : "flat");
    }
}
