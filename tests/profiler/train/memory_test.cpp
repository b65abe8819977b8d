// SPDX-License-Identifier: GPL-3.0-or-later
// Measured memory beside the predicted timeline, from the counting allocator of real runs.
#include "training.hpp"

#include "core/cost/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace loadline;
using namespace loadline::test;

namespace {

constexpr double kBound = 0.03; ///< of the predicted peak

Bytes of(const CategoryBytes& bytes, MemoryCategory category)
{
    return bytes[static_cast<std::size_t>(category)];
}

Question medium(const char* model)
{
    Question question;
    question.model = model;
    question.ranks = 2;
    question.sequence = 64;
    question.batch = 2;
    question.steps = 2;
    question.granularities = {1, 2, 4};
    return question;
}

/// Deviation of the peak; states are held to the byte.
double compare(const Question& question, const Choice& choice, const CostTable& table, const std::string& what)
{
    const Outcome outcome = train(table, choice, question);
    Bytes parameters;
    Bytes optimizer;
    Bytes steady;
    for (std::size_t unit = 0; unit < table.units.size(); ++unit) {
        const OptionCost& cost = table.options(unit)[choice[unit]];
        parameters += cost.parameters;
        optimizer += cost.optimizer;
        steady += cost.steadyGradients;
    }
    for (const CategoryBytes& alive : outcome.alive) {
        EXPECT_EQ(of(alive, MemoryCategory::Parameters), parameters) << what;
        EXPECT_EQ(of(alive, MemoryCategory::Optimizer), optimizer) << what;
        EXPECT_EQ(of(alive, MemoryCategory::Gradients), steady) << what;
        EXPECT_EQ(of(alive, MemoryCategory::Gathered), Bytes(0)) << what << ": a gathered copy was forgotten";
    }
    const double predicted = double(playTimeline(table, choice).peak.count());
    const double measured = double(outcome.steps.front().back().peak.count());
    const double deviation = measured / predicted - 1;
    EXPECT_LE(std::abs(deviation), kBound) << what << ": measured " << measured << ", predicted " << predicted;
    return std::abs(deviation);
}

} // namespace

TEST(Memory, PeaksAreAsPredicted)
{
    std::vector<double> deviations;
    for (const char* model : {"gpt2-medium.json", "llama-medium.json"}) {
        for (const std::int64_t recomputed : {0, 3}) {
            for (const std::int64_t accumulation : {1, 2}) {
                Question question = medium(model);
                question.recomputedBlocks = recomputed;
                question.accumulation = accumulation;
                const CostTable table = tableOf(question);
                const std::string what = std::string(model) + ", " + std::to_string(recomputed) + " blocks recomputed, " +
                                         std::to_string(accumulation) + " micro-steps, ";
                const auto add = [&](const char* plan, const Choice& choice) {
                    deviations.push_back(compare(question, choice, table, what + plan));
                };
                add("replicated", Choice(table.units.size(), 0));
                add("sharded", chooseBy(table, [](const Strategy& s) { return s.group == 2 && s.slices == 1 && s.reshardAfterForward; }));
                add("kept", chooseBy(table, [](const Strategy& s) { return s.group == 2 && !s.reshardAfterForward; }));
                add("2 of 4", chooseBy(table, [](const Strategy& s) { return s.slices == 4 && s.shardedSlices == 2; }));
                std::mt19937 random(11);
                add("random", randomChoice(table, random));
            }
        }
    }
    std::sort(deviations.begin(), deviations.end());
    RecordProperty("median", std::to_string(deviations[deviations.size() / 2]));
    RecordProperty("worst", std::to_string(deviations.back()));
    std::printf("median %.4f worst %.4f of %zu\n", deviations[deviations.size() / 2], deviations.back(), deviations.size());
}

TEST(Memory, PartsAndBlocksAsUnits)
{
    for (const UnitKind unit : {UnitKind::Part, UnitKind::Block}) {
        for (const char* model : {"gpt2-medium.json", "llama-medium.json"}) {
            Question question = medium(model);
            question.unit = unit;
            const CostTable table = tableOf(question);
            compare(question, chooseBy(table, [](const Strategy& s) { return s.group == 2; }), table, model);
        }
    }
}

TEST(Memory, TheMeasuredTimelineHasTheEventsOfThePredictedOne)
{
    const Question question = medium("gpt2-medium.json");
    const CostTable table = tableOf(question);
    const Choice choice = chooseBy(table, [](const Strategy& s) { return s.group == 2 && s.slices == 1; });
    const Outcome outcome = train(table, choice, question);
    std::size_t forward = 0;
    std::size_t backward = 0;
    std::size_t last = 0;
    for (const TimelineEvent& event : outcome.timelines.front()) {
        if (event.phase == Phase::Forward) {
            EXPECT_GE(event.unit, last);
            last = event.unit;
            ++forward;
        } else if (event.phase == Phase::Backward) {
            EXPECT_LE(event.unit, last);
            last = event.unit;
            ++backward;
        }
    }
    EXPECT_EQ(forward, backward);
    EXPECT_EQ(outcome.timelines.front().back().phase, Phase::Step);
    // Dropout of probability 0 does not run.
    const auto idle = std::count_if(table.units.begin(), table.units.end(), [&](const Unit& unit) {
        return std::holds_alternative<DropoutTraits>(table.setup.model->operators[unit.operators.front()].traits);
    });
    EXPECT_EQ(forward + static_cast<std::size_t>(idle), table.units.size());
}
