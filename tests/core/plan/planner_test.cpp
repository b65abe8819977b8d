// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/planner.hpp"
#include "tests/support/cost_table_builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace loadline {
namespace {

using namespace testing;

Planner prepared(const CostTable& table, const std::vector<Pin>& pins = {})
{
    auto planner = Planner::prepare(table, pins);
    EXPECT_TRUE(planner.ok()) << planner.error().message;
    return *std::move(planner);
}

/// A small transformer: 6 blocks of attention and MLP between an embedding and a head with a large transient.
CostTable smallTransformer(std::int64_t ranks = 8)
{
    CostTableBuilder builder(ranks, loadlineRules());
    builder.overhead(500);
    const auto embedding = builder.costClass(ladder(8'000'000, 10'000, ranks, 0.004));
    const auto attention = builder.costClass(ladder(4'000'000, 300'000, ranks, 0.002));
    const auto mlp = builder.costClass(ladder(12'000'000, 500'000, ranks, 0.006));
    const auto head = builder.costClass(ladder(8'000'000, 900'000, ranks, 0.004));
    builder.units("embed", embedding);
    for (int block = 0; block < 6; ++block)
        builder.units("attention", attention, 1, block).units("mlp", mlp, 1, block);
    builder.units("head", head);
    return builder.build();
}

/// Every choice of a small table, with its true peak and time.
void forEachChoice(const CostTable& table, const std::function<void(Bytes, double)>& visit)
{
    Choice choice(table.units.size());
    while (true) {
        double seconds = 0;
        for (std::size_t unit = 0; unit < choice.size(); ++unit)
            seconds += table.options(unit)[choice[unit]].serial().value();
        visit(plannedPeak(table, choice), seconds);
        std::size_t unit = 0;
        while (unit < choice.size() && ++choice[unit] == table.options(unit).size())
            choice[unit++] = 0;
        if (unit == choice.size())
            return;
    }
}

struct Truth {
    Bytes least{std::numeric_limits<std::int64_t>::max()};
    double seconds = std::numeric_limits<double>::infinity();
};

Truth bruteForce(const CostTable& table, Bytes budget)
{
    Truth truth;
    forEachChoice(table, [&](Bytes peak, double seconds) {
        truth.least = std::min(truth.least, peak);
        if (peak <= budget)
            truth.seconds = std::min(truth.seconds, seconds);
    });
    return truth;
}

constexpr double kRounding = 1e-9; ///< seconds; ticks are picoseconds, sums have a few dozen terms

void expectHonest(const CostTable& table, const PlanOutcome& outcome, const Truth& truth)
{
    if (outcome.status == SearchStatus::Infeasible) {
        ASSERT_TRUE(outcome.infeasible.has_value());
        EXPECT_FALSE(outcome.plan.has_value());
        EXPECT_LE(outcome.infeasible->provenBelow, truth.least);
        EXPECT_GE(outcome.infeasible->leastBudget, truth.least);
        EXPECT_TRUE(std::isinf(truth.seconds) || outcome.budget >= outcome.infeasible->provenBelow);
        return;
    }
    ASSERT_TRUE(outcome.plan.has_value());
    EXPECT_LE(outcome.plan->peak, outcome.budget);
    EXPECT_EQ(outcome.plan->peak, plannedPeak(table, outcome.plan->choice));
    EXPECT_LE(outcome.lowerBound.value(), truth.seconds + kRounding);
    EXPECT_GE(outcome.plan->objective.value(), truth.seconds - kRounding);
    if (outcome.status == SearchStatus::Optimal) {
        EXPECT_NEAR(outcome.plan->objective.value(), truth.seconds, kRounding);
        EXPECT_EQ(outcome.gap, 0);
        EXPECT_EQ(outcome.lowerBound, outcome.plan->objective);
    } else {
        EXPECT_NEAR(outcome.gap, (outcome.plan->objective - outcome.lowerBound).value() / outcome.plan->objective.value(), 1e-12);
    }
}

struct Tally {
    int optimal = 0;
    int within = 0;
    int infeasible = 0;
    int missed = 0; ///< infeasible said, though a choice fits: only between provenBelow and leastBudget
};

Tally compareWithBruteForce(MemoryMode mode, std::uint64_t seed, int rounds)
{
    const std::vector<RuntimeRules> rules{loadlineRules(), fsdp2Rules(), osdpReleaseRules(), RuntimeRules{}};
    RandomTables random(seed);
    Tally tally;
    for (int round = 0; round < rounds; ++round) {
        CostTable table = random.next(5, 4, rules[static_cast<std::size_t>(round) % 4]);
        table.setup.memory = mode;
        const Planner planner = prepared(table);
        for (int i = 0; i < 4; ++i) {
            const std::int64_t low = planner.leastBudget().count() - 20;
            const Bytes budget(random.number(low, std::max(planner.mostBudget().count(), low)));
            const PlanOutcome outcome = planner.plan(budget);
            const Truth truth = bruteForce(table, budget);
            expectHonest(table, outcome, truth);
            tally.optimal += outcome.status == SearchStatus::Optimal ? 1 : 0;
            tally.within += outcome.status == SearchStatus::WithinGap ? 1 : 0;
            tally.infeasible += outcome.status == SearchStatus::Infeasible ? 1 : 0;
            tally.missed += outcome.status == SearchStatus::Infeasible && std::isfinite(truth.seconds) ? 1 : 0;
            if (::testing::Test::HasFailure()) {
                ADD_FAILURE() << "round " << round << ", budget " << budget.count();
                return tally;
            }
        }
    }
    return tally;
}

TEST(Planner, NeverClaimsMoreThanBruteForceFindsOnTheTimeline)
{
    const Tally tally = compareWithBruteForce(MemoryMode::Timeline, 11, 1500);
    EXPECT_GT(tally.optimal, 8 * tally.within);
    EXPECT_LT(100 * tally.missed, tally.infeasible);
}

TEST(Planner, NeverClaimsMoreThanBruteForceFindsOnThePapersBound)
{
    const Tally tally = compareWithBruteForce(MemoryMode::Paper, 12, 600);
    EXPECT_GT(tally.optimal, 10 * tally.within);
}

TEST(Planner, MoreMemoryNeverLowersThroughput)
{
    // A table whose transients bind nearly everywhere: what is not proven may lose up to its stated gap, and no more.
    const Planner planner = prepared(smallTransformer());
    const std::int64_t least = planner.leastBudget().count();
    const std::int64_t most = planner.mostBudget().count();
    double before = std::numeric_limits<double>::infinity();
    int proven = 0;
    for (int i = 0; i <= 200; ++i) {
        const PlanOutcome outcome = planner.plan(Bytes(least + (most - least) * i / 200));
        ASSERT_TRUE(outcome.plan.has_value());
        ASSERT_LE(outcome.lowerBound.value(), before + kRounding) << i;
        before = std::min(before, outcome.plan->objective.value());
        proven += outcome.status == SearchStatus::Optimal ? 1 : 0;
        EXPECT_LT(outcome.gap, 0.01) << i;
    }
    EXPECT_GT(proven, 60);
}

TEST(Planner, TakesTheFastestOptionsWhenMemoryIsAmple)
{
    const CostTable table = smallTransformer();
    const Planner planner = prepared(table);
    for (const Bytes budget : {planner.mostBudget(), Bytes(std::int64_t{10} << 50)}) {
        const PlanOutcome outcome = planner.plan(budget);
        ASSERT_EQ(outcome.status, SearchStatus::Optimal);
        for (std::size_t unit = 0; unit < table.units.size(); ++unit)
            EXPECT_TRUE(outcome.plan->cost(unit).strategy.replicated());
        EXPECT_EQ(outcome.secondsPerGib, 0);
    }
}

TEST(Planner, FitsAtItsLeastBudgetAndNotOneByteBelow)
{
    const Planner planner = prepared(smallTransformer());
    const PlanOutcome fits = planner.plan(planner.leastBudget());
    ASSERT_TRUE(fits.plan.has_value());
    EXPECT_LE(fits.plan->peak, planner.leastBudget());
    const PlanOutcome below = planner.plan(planner.leastBudget() - Bytes(1));
    EXPECT_EQ(below.status, SearchStatus::Infeasible);
    ASSERT_TRUE(below.infeasible.has_value());
    EXPECT_EQ(below.infeasible->leastBudget, planner.leastBudget());
    EXPECT_FALSE(below.infeasible->because.empty());
}

TEST(Planner, AnswersAtBudgetsThatNobodyHas)
{
    const Planner planner = prepared(smallTransformer());
    EXPECT_EQ(planner.plan(Bytes(0)).status, SearchStatus::Infeasible);
    EXPECT_EQ(planner.plan(Bytes(-5)).status, SearchStatus::Infeasible);
    EXPECT_EQ(planner.plan(Bytes(std::numeric_limits<std::int64_t>::max())).status, SearchStatus::Optimal);
}

TEST(Planner, AnswersTheSameTwice)
{
    const Planner planner = prepared(smallTransformer());
    for (int i = 1; i < 8; ++i) {
        const Bytes budget = planner.leastBudget() + Bytes((planner.mostBudget() - planner.leastBudget()).count() * i / 8);
        const PlanOutcome a = planner.plan(budget);
        const PlanOutcome b = prepared(smallTransformer()).plan(budget);
        EXPECT_EQ(a.plan->choice, b.plan->choice);
        EXPECT_EQ(a.lowerBound, b.lowerBound);
        EXPECT_EQ(a.work, b.work);
    }
}

TEST(Planner, StopsWhenAskedAndStillSaysOnlyWhatItKnows)
{
    const Planner planner = prepared(smallTransformer());
    std::stop_source source;
    source.request_stop();
    SearchLimits limits;
    limits.stop = source.get_token();
    const Bytes budget = planner.leastBudget() + Bytes((planner.mostBudget() - planner.leastBudget()).count() / 3);
    const PlanOutcome stopped = planner.plan(budget, limits);
    EXPECT_TRUE(stopped.cancelled);
    ASSERT_TRUE(stopped.plan.has_value()); // the leanest one is known without a search
    EXPECT_LE(stopped.plan->peak, budget);
    EXPECT_LE(stopped.lowerBound, planner.plan(budget).plan->objective);
}

TEST(Planner, TradeOffIsAFallingStairOfRealPlans)
{
    const Planner planner = prepared(smallTransformer());
    const auto points = planner.tradeOff(40);
    ASSERT_GT(points.size(), 5U);
    EXPECT_EQ(points.back().peak, planner.mostBudget());
    for (std::size_t i = 1; i < points.size(); ++i) {
        EXPECT_GT(points[i].peak, points[i - 1].peak);
        EXPECT_LT(points[i].time, points[i - 1].time);
    }
    for (const TradeOffPoint& point : points)
        EXPECT_LE(planner.plan(point.peak).lowerBound.value(), point.time.value() + kRounding);
}

TEST(Planner, ShadowPriceIsWhatMemoryBuys)
{
    const Planner planner = prepared(smallTransformer());
    const Bytes range = planner.mostBudget() - planner.leastBudget();
    const Bytes low = planner.leastBudget() + Bytes(range.count() / 4);
    const Bytes high = planner.leastBudget() + Bytes(range.count() / 2);
    const PlanOutcome from = planner.plan(low);
    const PlanOutcome to = planner.plan(high);
    const double bought = (from.plan->objective - to.plan->objective).value() / (high - low).gib();
    EXPECT_GT(from.secondsPerGib, 0);
    // Prices fall as memory grows, so what was paid between lies between the two; corners blur that a little.
    EXPECT_LE(bought, from.secondsPerGib * 1.5);
    EXPECT_GE(bought, to.secondsPerGib * 0.5);
}

TEST(Planner, PlansForOddWorldSizesAndForOneGpu)
{
    for (const std::int64_t ranks : {3, 5, 7}) {
        const Planner planner = prepared(smallTransformer(ranks));
        EXPECT_TRUE(planner.plan(planner.leastBudget()).plan.has_value()) << ranks;
    }
    CostTableBuilder builder(1, loadlineRules());
    builder.units("only", builder.costClass({option(replicated(), 1000, 10, 10, 0)}));
    const Planner planner = prepared(builder.build());
    EXPECT_EQ(planner.leastBudget(), planner.mostBudget());
    EXPECT_EQ(planner.plan(planner.leastBudget()).status, SearchStatus::Optimal);
}

TEST(Planner, RefusesTablesThatCannotBeAskedAbout)
{
    EXPECT_FALSE(Planner::prepare(CostTable{}, {}).ok());
    CostTableBuilder negative;
    negative.units("bad", negative.costClass({option(replicated(), -8, 0, 0, 0)}));
    EXPECT_FALSE(Planner::prepare(negative.build(), {}).ok());
    CostTableBuilder endless;
    endless.units("bad", endless.costClass({option(replicated(), 8, 0, 0, std::numeric_limits<double>::quiet_NaN())}));
    EXPECT_FALSE(Planner::prepare(endless.build(), {}).ok());
    CostTableBuilder none;
    none.units("bad", none.costClass({}));
    EXPECT_FALSE(Planner::prepare(none.build(), {}).ok());
}

TEST(Planner, RefusesBytesThatNoSumCouldHold)
{
    CostTableBuilder builder;
    builder.units("vast", builder.costClass({option(replicated(), std::int64_t{1} << 54, 0, 0, 0)}));
    const auto planner = Planner::prepare(builder.build(), {});
    ASSERT_FALSE(planner.ok());
    EXPECT_NE(planner.error().message.find("vast"), std::string::npos);
}

TEST(Planner, KeepsToItsWorkLimit)
{
    const Planner planner = prepared(smallTransformer());
    const Bytes budget = planner.leastBudget() + Bytes((planner.mostBudget() - planner.leastBudget()).count() / 3);
    const PlanOutcome full = planner.plan(budget);
    for (const std::int64_t work : {0, 1, 100, 1000}) {
        SearchLimits limits;
        limits.work = work;
        const PlanOutcome outcome = planner.plan(budget, limits);
        ASSERT_TRUE(outcome.plan.has_value());
        EXPECT_LE(outcome.plan->peak, budget);
        EXPECT_LE(outcome.lowerBound.value(), full.plan->objective.value() + kRounding);
        EXPECT_LT(outcome.work, work + 100'000);
    }
}

TEST(Planner, PlansStepsThatLastForDays)
{
    CostTableBuilder builder(8, loadlineRules());
    builder.units("slow", builder.costClass(ladder(1'000'000, 1000, 8, 3e5)), 5);
    const Planner planner = prepared(builder.build());
    const PlanOutcome outcome = planner.plan(planner.leastBudget());
    ASSERT_TRUE(outcome.plan.has_value());
    EXPECT_GT(outcome.plan->objective.value(), 1e6);
}

} // namespace
} // namespace loadline
