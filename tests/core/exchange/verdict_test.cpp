// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/verdict.hpp"

#include "core/base/json.hpp"
#include "core/cost/step_time.hpp"
#include "core/exchange/plan_document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace loadline {
namespace {

using testing::HasSubstr;

/// A plan for the tiny GPT on two ranks, and a run that did exactly what it says.
struct Trained {
    Plan plan;
    RunTrace record;

    Trained()
    {
        RequestOptions options;
        options.model = "gpt-tiny";
        options.nodes = 1;
        options.gpusPerNode = 2;
        options.batch = "2";
        options.precision = "fp32";
        options.overhead = "0";
        auto resolved = resolveRequest(options);
        EXPECT_TRUE(resolved) << (resolved ? "" : resolved.error().message);
        auto outcome = makePlan(resolved->request);
        EXPECT_TRUE(outcome && outcome->plan);
        plan = *std::move(outcome->plan);
        perfect();
    }

    void perfect()
    {
        const auto time = stepTime(plan.table, plan.choice);
        for (std::int64_t number = 1; number <= 3; ++number) {
            for (int rank = 0; rank < 2; ++rank) {
                WorkerStep step;
                step.rank = rank;
                step.step = number;
                step.loss = 5;
                for (std::size_t unit = 0; unit < plan.table.units.size(); ++unit) {
                    step.forward += plan.cost(unit).forwardCompute;
                    step.backward += plan.cost(unit).backwardCompute;
                    step.optimizer += plan.cost(unit).step;
                }
                step.exposed = time.exposed;
                step.seconds = time.overlapped;
                step.peak = plan.peak;
                step.traffic = stepTraffic(plan.table, plan.choice);
                record.take(step);
            }
        }
        for (int rank = 0; rank < 2; ++rank)
            for (std::size_t unit = 0; unit < plan.table.units.size(); ++unit)
                record.take(WorkerUnit{rank, unit, plan.cost(unit).forwardCompute, plan.cost(unit).backwardCompute, {}, {}});
        record.take(WorkerTimeline{0, playTimeline(plan.table, plan.choice).events});
        record.take(WorkerResult{RunOutcome::Done, "", {5, 4, 3}, {5, 4, 3}});
    }

    [[nodiscard]] RunComparison compare() const { return compareRun(plan.table, plan.choice, record, verdictBounds(plan.table.setup)); }
};

const VerdictLine& lineOf(const RunComparison& comparison, VerdictLine::Kind kind)
{
    return comparison.lines[static_cast<std::size_t>(kind)];
}

double sumOf(const RunComparison& comparison, VerdictTerm::Kind kind, double VerdictTerm::*figure)
{
    double sum = 0;
    for (const auto& term : comparison.terms)
        sum += term.kind == kind ? term.*figure : 0;
    return sum;
}

TEST(Verdict, ARunThatDidWhatThePlanSaysHolds)
{
    const Trained run;
    const auto comparison = run.compare();
    EXPECT_TRUE(comparison.holds()) << verdictText(comparison);
    EXPECT_EQ(comparison.steps, 3);
    EXPECT_NEAR(comparison.measuredStep.value(), comparison.predictedStep.value(), 1e-12);
    for (const auto& term : comparison.terms) {
        EXPECT_NEAR(term.share, 0, 1e-9) << term.name;
        EXPECT_EQ(term.cause, "") << term.name;
    }
    EXPECT_EQ(comparison.units.size(), run.plan.table.units.size());
}

TEST(Verdict, TermsSumToTheirTotals)
{
    Trained run;
    for (auto& step : run.record.steps) {
        step.seconds += Seconds(0.25);
        step.forward += Seconds(0.1);
        step.exposed += Seconds(0.05);
        step.optimizer += Seconds(0.05);
    }
    const auto comparison = run.compare();
    EXPECT_NEAR(sumOf(comparison, VerdictTerm::Kind::Time, &VerdictTerm::predicted), comparison.predictedStep.value(), 1e-9);
    EXPECT_NEAR(sumOf(comparison, VerdictTerm::Kind::Time, &VerdictTerm::measured), comparison.measuredStep.value(), 1e-9);
    EXPECT_NEAR(sumOf(comparison, VerdictTerm::Kind::Memory, &VerdictTerm::predicted), double(comparison.predictedPeak.count()), 1);
    EXPECT_FALSE(*lineOf(comparison, VerdictLine::Kind::Time).holds);
    EXPECT_TRUE(comparison.holds()) << "time is told, not held";
    EXPECT_NE(comparison.terms[0].cause, "");
    EXPECT_THAT(comparisonText(comparison, 3), HasSubstr("beside the units"));
}

TEST(Verdict, AWrongLossFails)
{
    Trained run;
    run.record.result->losses[1] *= 1 + 2e-5;
    auto comparison = run.compare();
    EXPECT_FALSE(comparison.holds());
    EXPECT_NEAR(comparison.largestLossError, 2e-5, 1e-9);
    run.record.result->losses[1] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(run.compare().holds());
    run.record.result->losses.pop_back();
    EXPECT_FALSE(run.compare().holds());
    run.record.result->unshardedLosses.clear();
    comparison = run.compare();
    EXPECT_FALSE(lineOf(comparison, VerdictLine::Kind::Loss).holds.has_value());
    EXPECT_FALSE(comparison.holds()) << "what was not compared does not hold";
}

TEST(Verdict, AByteTooManyFails)
{
    Trained run;
    run.record.steps[3].traffic.allReduce += Bytes(1);
    const auto comparison = run.compare();
    EXPECT_FALSE(*lineOf(comparison, VerdictLine::Kind::Bytes).holds);
    EXPECT_THAT(lineOf(comparison, VerdictLine::Kind::Bytes).text, HasSubstr("5 of 6"));
    EXPECT_FALSE(comparison.holds());
}

TEST(Verdict, APeakOutOfBoundsFailsOnEitherSide)
{
    for (const double factor : {1.04, 0.96}) {
        Trained run;
        for (auto& step : run.record.steps)
            step.peak = Bytes(static_cast<std::int64_t>(factor * double(step.peak.count())));
        EXPECT_FALSE(*lineOf(run.compare(), VerdictLine::Kind::Peak).holds) << factor;
    }
}

TEST(Verdict, ARunThatBrokeOffIsToldAsFarAsItWent)
{
    Trained run;
    std::string text = writeEvent(WorkerHello{1, "0.1.0"}) + '\n';
    for (const auto& step : run.record.steps)
        text += writeEvent(step) + '\n';
    text += R"({"event": "step", "rank": 0, "st)";
    const auto record = readRunTrace(text, "run.jsonl");
    ASSERT_TRUE(record) << record.error().message;
    EXPECT_EQ(record->steps.size(), 6u);
    EXPECT_FALSE(record->result);
    const auto comparison = compareRun(run.plan.table, run.plan.choice, *record, {});
    EXPECT_EQ(comparison.steps, 3);
    EXPECT_TRUE(*lineOf(comparison, VerdictLine::Kind::Bytes).holds);
    const auto empty = compareRun(run.plan.table, run.plan.choice, RunTrace(), {});
    EXPECT_FALSE(empty.holds());
    const auto bad = readRunTrace("{}\n\n", "run.jsonl");
    ASSERT_FALSE(bad);
    EXPECT_THAT(bad.error().message, HasSubstr("run.jsonl, line 1"));
}

TEST(Verdict, FiguresOfOtherPlansAreLeftOut)
{
    Trained run;
    run.record.take(WorkerUnit{0, 100000, Seconds(1), Seconds(1), {}, {}});
    WorkerStep stray = run.record.steps.front();
    stray.rank = 9;
    stray.seconds = Seconds(1e6);
    run.record.take(stray);
    const auto comparison = run.compare();
    EXPECT_LT(comparison.measuredStep, Seconds(1e5));
    EXPECT_EQ(comparison.units.size(), run.plan.table.units.size());
}

TEST(Verdict, IsAlsoADocument)
{
    const Trained run;
    const auto json = parseJson(verdictJson(run.compare()), "verdict");
    ASSERT_TRUE(json) << json.error().message;
    EXPECT_EQ((*json)["format"], "loadline.verdict/1");
    EXPECT_EQ((*json)["holds"], true);
    EXPECT_EQ((*json)["lines"]["loss"]["holds"], true);
}

TEST(Calibration, PredictsTheRunThatItCameFrom)
{
    Trained run;
    for (auto& unit : run.record.units) {
        unit.forward = unit.forward * 1.7;
        unit.backward = unit.backward * 2.3;
    }
    for (auto& step : run.record.steps) {
        step.seconds += step.optimizer * 2;
        step.optimizer = step.optimizer * 3;
    }
    const auto profile = calibratedProfile(nullptr, run.plan.table, run.plan.choice, run.record, "this machine", "2026-12-01");
    EXPECT_EQ(profile.header().date, "2026-12-01");
    auto setup = run.plan.table.setup;
    setup.profile = std::make_shared<const Profile>(profile);
    const auto table = buildCostTable(setup);
    ASSERT_TRUE(table);
    for (std::size_t unit = 0; unit < table->units.size(); ++unit) {
        const auto& before = run.plan.cost(unit);
        const auto& after = table->options(unit)[run.plan.choice[unit]];
        EXPECT_NEAR(after.forwardCompute.value(), 1.7 * before.forwardCompute.value(), 1e-6 * before.forwardCompute.value() + 1e-15);
        EXPECT_NEAR(after.backwardCompute.value(), 2.3 * before.backwardCompute.value(), 1e-6 * before.backwardCompute.value() + 1e-15);
        EXPECT_NEAR(after.step.value(), 3 * before.step.value(), 1e-2 * before.step.value() + 1e-15);
    }
    // A second calibration replaces the first instead of being mixed with it.
    const auto again = calibratedProfile(&profile, run.plan.table, run.plan.choice, run.record, "", "2026-12-02");
    EXPECT_EQ(again.operators().size(), profile.operators().size());
    EXPECT_EQ(again.steps().size(), profile.steps().size());
    const auto read = readProfile(writeProfile(again), "profile");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, again);
}

} // namespace
} // namespace loadline
