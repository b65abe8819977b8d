// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/step_time.hpp"

#include "tests/support/stream_simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace loadline {
namespace {

using test::StreamRules;
using test::StreamSimulator;
using test::StreamWork;
using Kind = StreamSpan::Kind;

/// A table whose unit u has one class and one option that costs `work[u]` in each micro-step.
CostTable tableOf(const std::vector<StreamWork>& work, const StreamRules& rules)
{
    CostTable table;
    const double a = rules.microSteps;
    for (const auto& unit : work) {
        OptionCost option;
        option.gatherForward = Seconds(unit.gatherForward * a);
        option.forwardCompute = Seconds(unit.computeForward * a);
        option.gatherBackward = Seconds(unit.gatherBackward * a);
        option.backwardCompute = Seconds(unit.computeBackward * a);
        option.reduce = Seconds(unit.reduce + unit.scatter * (a - 1));
        option.scatter = Seconds(unit.scatter * a);
        option.step = Seconds(unit.step);
        Unit entry;
        entry.costClass = table.classOptions.size();
        table.units.push_back(entry);
        table.classOptions.push_back({option});
    }
    table.setup.accumulation = rules.microSteps;
    table.setup.rules.gatherAheadForward = rules.aheadForward;
    table.setup.rules.gatherAheadBackward = rules.aheadBackward;
    table.setup.cluster.overlapCompute = rules.slowCompute;
    table.setup.cluster.overlapTransfer = rules.slowTransfer;
    return table;
}

Choice firstOptions(const CostTable& table)
{
    return Choice(table.units.size(), 0);
}

class RandomPlans {
public:
    explicit RandomPlans(unsigned seed) : m_random(seed) {}

    std::vector<StreamWork> work(int units)
    {
        const double scale = std::pow(10.0, number(-6, 1));
        const double transfers = std::pow(10.0, number(-2, 2));
        std::vector<StreamWork> all(static_cast<std::size_t>(units));
        for (auto& unit : all) {
            unit.computeForward = scale * maybe(0.9) * number(0, 1);
            unit.computeBackward = scale * maybe(0.95) * number(0, 2);
            unit.gatherForward = scale * transfers * maybe(0.5) * number(0, 1);
            unit.gatherBackward = scale * transfers * maybe(0.5) * number(0, 1);
            unit.reduce = scale * transfers * maybe(0.7) * number(0, 2);
            unit.step = scale * number(0, 0.1);
            unit.scatter = pick(0, 1) == 1 ? unit.reduce * number(0, 1) : 0;
        }
        return all;
    }

    StreamRules rules()
    {
        StreamRules rules;
        rules.aheadForward = pick(0, 3);
        rules.aheadBackward = pick(0, 3);
        rules.microSteps = pick(1, 4);
        if (pick(0, 1) == 1) {
            rules.slowCompute = number(1, 2);
            rules.slowTransfer = number(1, 2);
        }
        return rules;
    }

    int pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(m_random); }
    double number(double least, double most) { return std::uniform_real_distribution<double>(least, most)(m_random); }

private:
    double maybe(double share) { return number(0, 1) < share ? 1 : 0; }
    std::mt19937 m_random;
};

/// The closed recurrence of docs/time-model.md, 3, for one gather ahead and one micro-step.
double closedForm(const std::vector<StreamWork>& work, double alpha, double beta)
{
    const double sg = beta * (1 - 1 / alpha);
    const double ta = alpha * (1 - 1 / beta);
    const auto pair = [&](double c, double g) { return std::max(c + sg * g, g + ta * c); };
    const std::size_t n = work.size();
    double time = work[0].gatherForward;
    for (std::size_t p = 0; p + 1 < n; ++p)
        time += pair(work[p].computeForward, work[p + 1].gatherForward);
    time += work[n - 1].computeForward + work[n - 1].gatherBackward;
    double lag = 0;
    for (std::size_t p = n - 1; p > 0; --p) {
        const double c = work[p].computeBackward;
        const double next = work[p - 1].gatherBackward;
        if (next > 0) {
            time += pair(c, lag + next);
            lag = work[p].reduce;
        } else {
            time += std::min(alpha * c, c + sg * lag);
            lag = std::max(0.0, lag - alpha / beta * c) + work[p].reduce;
        }
    }
    time += pair(work[0].computeBackward, lag) + work[0].reduce;
    for (const auto& unit : work)
        time += unit.step;
    return time;
}

TEST(StepTime, EqualsAnEventByEventSimulatorOnRandomPlans)
{
    RandomPlans plans(20260101);
    for (int round = 0; round < 6000; ++round) {
        const auto work = plans.work(plans.pick(1, round % 50 == 0 ? 200 : 12));
        const auto rules = plans.rules();
        const auto table = tableOf(work, rules);
        const auto time = stepTime(table, firstOptions(table));
        const double expected = StreamSimulator(work, rules).run();
        ASSERT_GE(expected, 0);
        ASSERT_NEAR(time.overlapped.value(), expected, 1e-12 * expected) << "round " << round;
    }
}

TEST(StepTime, EqualsTheClosedRecurrence)
{
    RandomPlans plans(7);
    for (int round = 0; round < 3000; ++round) {
        const auto work = plans.work(plans.pick(1, 30));
        auto rules = plans.rules();
        rules.aheadForward = rules.aheadBackward = rules.microSteps = 1;
        const auto table = tableOf(work, rules);
        const double expected = closedForm(work, rules.slowCompute, rules.slowTransfer);
        ASSERT_NEAR(stepTime(table, firstOptions(table)).overlapped.value(), expected, 1e-12 * expected) << "round " << round;
    }
}

TEST(StepTime, SumsAndSpansAgree)
{
    RandomPlans plans(11);
    for (int round = 0; round < 1000; ++round) {
        const auto rules = plans.rules();
        const auto table = tableOf(plans.work(plans.pick(1, 20)), rules);
        const auto choice = firstOptions(table);
        const auto time = stepTime(table, choice);
        const double scale = time.overlapped.value();
        double serial = 0;
        for (std::size_t unit = 0; unit < table.units.size(); ++unit)
            serial += table.options(unit)[0].serial().value();
        EXPECT_DOUBLE_EQ(time.serial.value(), serial);
        EXPECT_NEAR(time.compute.value() + time.communication.value(), serial, 1e-12 * serial);
        double exposed = 0;
        for (const auto seconds : time.exposedByUnit)
            exposed += seconds.value();
        EXPECT_NEAR(exposed, time.exposed.value(), 1e-12 * scale);
        EXPECT_NEAR(time.overlapped.value() - time.compute.value(), time.exposed.value(), 1e-12 * scale);
        // Slowing each other never costs more than taking turns when 1/alpha + 1/beta >= 1.
        EXPECT_LE(scale, serial * (1 + 1e-12));

        double end = 0;
        double stepStart = scale;
        double lastTransfer = 0;
        for (const auto& span : streamSpans(table, choice)) {
            ASSERT_LE(span.start, span.end);
            end = std::max(end, span.end.value());
            if (span.kind == Kind::Step)
                stepStart = std::min(stepStart, span.start.value());
            if (span.kind == Kind::Reduce)
                lastTransfer = std::max(lastTransfer, span.end.value());
        }
        EXPECT_NEAR(end, scale, 1e-12 * scale);
        EXPECT_LE(lastTransfer, stepStart + 1e-12 * scale);
    }
}

TEST(StepTime, OneStreamNeverDoesTwoThingsAtOnce)
{
    RandomPlans plans(5);
    for (int round = 0; round < 300; ++round) {
        const auto table = tableOf(plans.work(plans.pick(2, 20)), plans.rules());
        auto spans = streamSpans(table, firstOptions(table));
        const auto transfers = std::stable_partition(spans.begin(), spans.end(), [](const StreamSpan& span) {
            return span.kind == Kind::ForwardGather || span.kind == Kind::BackwardGather || span.kind == Kind::Reduce;
        });
        const auto disjoint = [&](auto first, auto last) {
            std::sort(first, last, [](const StreamSpan& a, const StreamSpan& b) { return a.start < b.start; });
            for (auto at = first; at != last && at + 1 != last; ++at)
                EXPECT_LE(at->end.value(), (at + 1)->start.value() * (1 + 1e-12));
        };
        disjoint(spans.begin(), transfers);
        disjoint(transfers, spans.end());
    }
}

TEST(StepTime, GatherAheadHidesAGatherBehindTheUnitBefore)
{
    // Gather 4 then compute 5 | gather 3 hides behind compute 5 | backward: gather 3, compute 2; gather 4 partly hidden.
    const std::vector<StreamWork> work = {{4, 5, 4, 1, 0, 0}, {3, 1, 3, 2, 0, 0}};
    StreamRules rules;
    EXPECT_DOUBLE_EQ(stepTime(tableOf(work, rules), {0, 0}).overlapped.value(), 4 + 5 + 1 + 3 + 4 + 1);
    rules.aheadForward = rules.aheadBackward = 0;
    EXPECT_DOUBLE_EQ(stepTime(tableOf(work, rules), {0, 0}).overlapped.value(), 4 + 5 + 3 + 1 + 3 + 2 + 4 + 1);
}

TEST(StepTime, ReductionsIntoShardsRecurAndOthersComeOnce)
{
    std::vector<StreamWork> work = {{0, 1, 0, 2, 10, 0.5}};
    StreamRules rules;
    rules.microSteps = 3;
    const auto time = stepTime(tableOf(work, rules), {0});
    EXPECT_DOUBLE_EQ(time.overlapped.value(), 3 * (1 + 2) + 10 + 0.5);
    EXPECT_DOUBLE_EQ(time.exposed.value(), 10);
    EXPECT_DOUBLE_EQ(time.exposedByUnit[0].value(), 10);
    work[0].scatter = 6; // and 10 in the last micro-step: 6 into shards, 4 across replicas
    EXPECT_DOUBLE_EQ(stepTime(tableOf(work, rules), {0}).overlapped.value(), 3 * (1 + 2) + 2 * 6 + 10 + 0.5);
}

TEST(StepTime, ManyMicroStepsCostNoMoreToPlayOrDraw)
{
    const std::vector<StreamWork> work = {{0.25, 1, 0.25, 2, 1, 0}, {0.25, 1, 0.25, 2, 1, 0}};
    StreamRules rules;
    auto table = tableOf(work, rules);
    const double one = stepTime(table, {0, 0}).overlapped.value();
    table = tableOf(work, rules);
    for (auto& options : table.classOptions) {
        for (auto* seconds :
             {&options[0].gatherForward, &options[0].forwardCompute, &options[0].gatherBackward, &options[0].backwardCompute})
            *seconds = *seconds * 1e6;
    }
    table.setup.accumulation = 1'000'000;
    const auto time = stepTime(table, {0, 0});
    EXPECT_GT(time.overlapped.value(), 5e5 * one);
    EXPECT_LT(time.overlapped.value(), 1e6 * one);
    const auto spans = streamSpans(table, {0, 0});
    EXPECT_LT(spans.size(), 10U * kMostDrawnMicroSteps);
    EXPECT_NEAR(spans.back().end.value(), time.overlapped.value(), 1e-9 * time.overlapped.value());
}

TEST(StepTime, AnEmptyTableTakesNoTime)
{
    const CostTable table;
    EXPECT_EQ(stepTime(table, {}).overlapped, Seconds(0));
    EXPECT_TRUE(streamSpans(table, {}).empty());
}

TEST(StepTime, OneRankExposesNothing)
{
    const std::vector<StreamWork> work = {{0, 1, 0, 2, 0, 0.1}, {0, 1, 0, 2, 0, 0.1}};
    const auto time = stepTime(tableOf(work, {}), {0, 0});
    EXPECT_EQ(time.exposed, Seconds(0));
    EXPECT_EQ(time.communication, Seconds(0));
    EXPECT_DOUBLE_EQ(time.overlapped.value(), time.serial.value());
}

} // namespace
} // namespace loadline
