// SPDX-License-Identifier: GPL-3.0-or-later
// loadline-plan verdict: a saved plan beside the lines of a training.
#include "core/base/json.hpp"
#include "core/cost/traffic.hpp"
#include "core/exchange/plan_document.hpp"
#include "core/exchange/worker.hpp"
#include "tests/app/plan/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace loadline::test {
namespace {

using testing::HasSubstr;

/// A plan for the tiny GPT on two ranks, and the lines of a run that did what it says.
struct Trained {
    Folder folder;
    std::string plan = folder.file("a.loadline-plan.json");

    Trained()
    {
        const auto planned = runPlanner({"plan", "--model", "gpt-tiny", "--nodes", "1", "--gpus-per-node", "2", "--batch", "2",
                                         "--precision", "fp32", "--overhead", "0", "--output", plan});
        EXPECT_EQ(planned.code, 0) << planned.err;
    }

    /// `peak` and `loss` may be off by factors.
    [[nodiscard]] std::string run(double peak, double loss) const
    {
        const auto saved = loadPlan(plan);
        EXPECT_TRUE(saved.ok() && saved->document.outcome.plan);
        if (!saved.ok() || !saved->document.outcome.plan)
            return "";
        const Plan& of = *saved->document.outcome.plan;
        std::string lines = writeEvent(WorkerHello{}) + '\n';
        for (std::int64_t number = 1; number <= 3; ++number) {
            for (int rank = 0; rank < 2; ++rank) {
                WorkerStep step;
                step.rank = rank;
                step.step = number;
                step.loss = 5;
                step.seconds = Seconds(0.1);
                step.peak = Bytes(static_cast<std::int64_t>(static_cast<double>(of.peak.count()) * peak));
                step.traffic = stepTraffic(of.table, of.choice);
                lines += writeEvent(step) + '\n';
            }
        }
        lines += writeEvent(WorkerResult{RunOutcome::Done, "", {5 * loss, 5, 5}, {5, 5, 5}}) + '\n';
        return lines;
    }
};

TEST(VerdictVerb, ARunAsPlannedHolds)
{
    const Trained trained;
    const auto run = runPlanner({"verdict", trained.plan, trained.folder.write("run.jsonl", trained.run(1, 1))});
    EXPECT_EQ(run.code, 0) << run.out << run.err;
    EXPECT_THAT(run.out, HasSubstr("verdict"));
    const auto json = runPlanner({"verdict", trained.plan, trained.folder.file("run.jsonl"), "--json"});
    const auto document = Json::parse(json.out, nullptr, false);
    ASSERT_TRUE(document.is_object()) << json.out;
    EXPECT_EQ(document["format"], "loadline.verdict/1");
    EXPECT_EQ(document["holds"], true);
    EXPECT_EQ(document["steps"], 3);
}

TEST(VerdictVerb, OtherLossesOrMoreMemoryDoNotHold)
{
    const Trained trained;
    const auto losses = runPlanner({"verdict", trained.plan, trained.folder.write("loss.jsonl", trained.run(1, 1.01)), "--json"});
    EXPECT_EQ(losses.code, 1);
    EXPECT_NEAR(Json::parse(losses.out, nullptr, false).value("largest_loss_error", 0.0), 0.01, 1e-9) << losses.out;
    const auto peak = runPlanner({"verdict", trained.plan, trained.folder.write("peak.jsonl", trained.run(1.1, 1)), "--json"});
    EXPECT_EQ(peak.code, 1);
    EXPECT_EQ(Json::parse(peak.out, nullptr, false).value("largest_loss_error", 1.0), 0.0) << peak.out;
}

TEST(VerdictVerb, WrongFilesAreASentence)
{
    const Trained trained;
    const auto missing = runPlanner({"verdict", trained.plan, trained.folder.file("no.jsonl")});
    EXPECT_EQ(missing.code, 2);
    EXPECT_TRUE(isOneLine(missing.err)) << missing.err;
    const auto garbage = runPlanner({"verdict", trained.plan, trained.folder.write("bad.jsonl", "{\"event\": 3}\n")});
    EXPECT_EQ(garbage.code, 2);
    EXPECT_TRUE(isOneLine(garbage.err)) << garbage.err;
    EXPECT_THAT(garbage.err, HasSubstr("bad.jsonl"));
    const auto notAPlan = runPlanner({"verdict", trained.folder.write("plan.json", "{}"), trained.folder.file("bad.jsonl")});
    EXPECT_EQ(notAPlan.code, 2);
    EXPECT_TRUE(isOneLine(notAPlan.err)) << notAPlan.err;
}

} // namespace
} // namespace loadline::test
