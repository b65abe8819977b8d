// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/unit.hpp"
#include "core/plan/check.hpp"
#include "core/plan/planner.hpp"
#include "core/plan/trade_off.hpp"
#include "tests/support/plan_setups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loadline {
namespace {

using namespace testing;
using ::testing::HasSubstr;

constexpr RecomputedPart kAllParts[] = {RecomputedPart::Block, RecomputedPart::Attention, RecomputedPart::Mlp};

loadline::Setup tiny(RecomputedPart part, std::int64_t blocks)
{
    loadline::Setup setup = tinyGpt();
    setup.batch = 8;
    setup.recomputedBlocks = blocks;
    setup.recomputedPart = part;
    return setup;
}

/// What forward leaves behind and what comes back in backward, over all units.
Bytes savedBy(const CostTable& table)
{
    Bytes sum;
    for (std::size_t unit = 0; unit < table.units.size(); ++unit)
        sum += table.options(unit).front().saved + table.options(unit).front().kept;
    return sum;
}

Seconds backwardBy(const CostTable& table)
{
    Seconds sum;
    for (std::size_t unit = 0; unit < table.units.size(); ++unit)
        sum += table.options(unit).front().backwardCompute;
    return sum;
}

TEST(RecomputedPart, IsTakenFromEachOfTheFirstBlocksAndNothingElse)
{
    for (const UnitKind kind : {UnitKind::Operator, UnitKind::Part}) {
        loadline::Setup setup = tiny(RecomputedPart::Mlp, 2);
        setup.unit = kind;
        const CostTable table = buildCostTable(setup).value();
        for (std::size_t i = 0; i < table.units.size(); ++i) {
            const Unit& unit = table.units[i];
            const std::string& part = setup.model->operators[unit.operators.front()].part;
            const bool expected = unit.layer >= 0 && unit.layer < 2 && part == "mlp";
            for (const OptionCost& option : table.options(i))
                EXPECT_EQ(option.strategy.recompute, expected) << unit.name;
        }
    }
}

// What each part saves follows from the table without recomputation: its units' bytes go, its region's input stays.
TEST(RecomputedPart, KeepsOnlyTheInputOfEachRegion)
{
    const std::int64_t blocks = tinyGpt().model->layerCount();
    for (const RecomputedPart part : {RecomputedPart::Attention, RecomputedPart::Mlp}) {
        const CostTable none = buildCostTable(tiny(part, 0)).value();
        const CostTable some = buildCostTable(tiny(part, blocks)).value();
        Bytes expected;
        for (std::size_t i = 0; i < none.units.size(); ++i) {
            const OptionCost& plain = none.options(i).front();
            const bool again = some.options(i).front().strategy.recompute;
            const bool first = again && (none.units[i - 1].layer != none.units[i].layer || !some.options(i - 1).front().strategy.recompute);
            expected += again ? (first ? plain.input : Bytes()) : plain.saved + plain.kept;
        }
        EXPECT_EQ(savedBy(some), expected);
        EXPECT_LT(savedBy(some), savedBy(none));
        EXPECT_GT(backwardBy(some), backwardBy(none));
    }
}

TEST(RecomputedPart, BothPartsTakeTheTimeOfTheWholeBlockTogether)
{
    const std::int64_t blocks = tinyGpt().model->layerCount();
    const double none = backwardBy(buildCostTable(tiny(RecomputedPart::Block, 0)).value()).value();
    const auto added = [&](RecomputedPart part) { return backwardBy(buildCostTable(tiny(part, blocks)).value()).value() - none; };
    const double whole = added(RecomputedPart::Block);
    EXPECT_GT(added(RecomputedPart::Attention), 0);
    EXPECT_GT(added(RecomputedPart::Mlp), 0);
    EXPECT_NEAR(added(RecomputedPart::Attention) + added(RecomputedPart::Mlp), whole, whole * 1e-9);
}

TEST(RecomputedPart, PlansHoldUnderTheIndependentCheckInEveryRuleSet)
{
    for (const RuntimeRules& rules : {loadlineRules(), fsdp2Rules(), osdpReleaseRules()})
        for (const UnitKind kind : {UnitKind::Operator, UnitKind::Part})
            for (const RecomputedPart part : {RecomputedPart::Attention, RecomputedPart::Mlp}) {
                loadline::Setup setup = tiny(part, 2);
                setup.rules = rules;
                setup.unit = kind;
                const auto planner = Planner::prepare(buildCostTable(setup).value(), {});
                ASSERT_TRUE(planner.ok());
                for (int i = 0; i <= 8; ++i) {
                    const Bytes budget = planner->leastBudget() + Bytes((planner->mostBudget() - planner->leastBudget()).count() * i / 8);
                    const PlanOutcome outcome = planner->plan(budget);
                    ASSERT_TRUE(outcome.plan);
                    EXPECT_THAT(checkPlan(outcome).violations, ::testing::IsEmpty());
                    EXPECT_LE(outcome.plan->peak, budget);
                }
            }
}

TEST(RecomputedPart, SearchFindsTheBestPartAndCountOfAll)
{
    const std::int64_t blocks = tinyGpt().model->layerCount();
    PlanRequest request;
    request.setup = tiny(RecomputedPart::Block, 0);
    request.recompute = Recompute::Auto;
    request.recomputedParts.assign(std::begin(kAllParts), std::end(kAllParts));
    const Bytes least = Planner::prepare(buildCostTable(tiny(RecomputedPart::Block, blocks)).value(), {})->leastBudget();
    const Bytes most = Planner::prepare(buildCostTable(request.setup).value(), {})->leastBudget() + 1_MiB;
    bool partsHelp = false;
    for (int i = 0; i <= 12; ++i) {
        request.budget = least + Bytes((most - least).count() * i / 12);
        double best = 0;
        double bestWhole = 0;
        for (const RecomputedPart part : kAllParts)
            for (std::int64_t count = 0; count <= blocks; ++count) {
                const PlanOutcome one = Planner::prepare(buildCostTable(tiny(part, count)).value(), {})->plan(request.budget);
                if (!one.plan)
                    continue;
                best = std::max(best, one.plan->samplesPerSecond());
                if (part == RecomputedPart::Block)
                    bestWhole = std::max(bestWhole, one.plan->samplesPerSecond());
            }
        const auto outcome = makePlan(request);
        ASSERT_TRUE(outcome.ok() && outcome->plan);
        EXPECT_LE(outcome->plan->samplesPerSecond(), best * (1 + 1e-9));
        EXPECT_GE(outcome->plan->samplesPerSecond(), best * (1 - outcome->gap - 1e-9));
        EXPECT_THAT(checkPlan(*outcome).violations, ::testing::IsEmpty());
        partsHelp = partsHelp || best > bestWhole * (1 + 1e-9);
    }
    EXPECT_TRUE(partsHelp) << "somewhere a part is enough and cheaper than whole blocks";
}

TEST(RecomputedPart, PinsAskForIt)
{
    PlanRequest request;
    request.setup = tiny(RecomputedPart::Block, 0);
    request.setup.unit = UnitKind::Part;
    request.recompute = Recompute::Auto;
    request.recomputedParts.assign(std::begin(kAllParts), std::end(kAllParts));
    request.budget = 80_GiB;
    request.pins = {{"*.mlp", "recompute"}};
    const auto outcome = makePlan(request);
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    ASSERT_TRUE(outcome->plan);
    EXPECT_EQ(outcome->plan->table.setup.recomputedPart, RecomputedPart::Mlp);
    EXPECT_EQ(outcome->plan->table.setup.recomputedBlocks, request.setup.model->layerCount());
}

TEST(RecomputedPart, TradeOffIsNeverAboveThatOfWholeBlocks)
{
    PlanRequest request;
    request.setup = tiny(RecomputedPart::Block, 0);
    request.recompute = Recompute::Auto;
    const auto whole = tradeOff(request, 16);
    request.recomputedParts.assign(std::begin(kAllParts), std::end(kAllParts));
    const auto parts = tradeOff(request, 16);
    ASSERT_TRUE(whole.ok() && parts.ok());
    for (const TradeOffPoint& point : *whole) {
        bool matched = false;
        for (const TradeOffPoint& other : *parts)
            matched = matched || (other.peak <= point.peak && other.time <= point.time);
        EXPECT_TRUE(matched);
    }
}

TEST(RecomputedPart, IsRefusedWhereAUnitIsABlock)
{
    loadline::Setup setup = tiny(RecomputedPart::Mlp, 1);
    setup.unit = UnitKind::Block;
    const auto table = buildCostTable(setup);
    ASSERT_FALSE(table.ok());
    EXPECT_THAT(table.error().message, HasSubstr("--unit block"));
}

} // namespace
} // namespace loadline
