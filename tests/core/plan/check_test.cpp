// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/check.hpp"

#include "core/plan/check_replay.hpp"
#include "tests/support/cost_table_builder.hpp"
#include "tests/support/plan_setups.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>

namespace loadline {
namespace {

using namespace testing;

TEST(Replay, AgreesWithTheTimelineToTheByte)
{
    const std::vector<RuntimeRules> rules{loadlineRules(), fsdp2Rules(), osdpReleaseRules(), RuntimeRules{}};
    RandomTables random(21);
    for (int round = 0; round < 3000; ++round) {
        CostTable table = random.next(8, 4, rules[static_cast<std::size_t>(round) % 4]);
        if (round % 3 == 0) {
            table.units.front().root = true;
            for (OptionCost& cost : table.classOptions[table.units.front().costClass]) {
                cost.keptToEnd = Bytes(random.number(0, 40));
                cost.heldGradient = Bytes(random.number(0, 40));
                cost.finalBuffer = Bytes(random.number(0, 60));
            }
        }
        if (round % 5 == 0 && table.units.size() > 1)
            table.units.back().borrows = {0};
        Choice choice;
        for (std::size_t unit = 0; unit < table.units.size(); ++unit)
            choice.push_back(static_cast<std::uint32_t>(random.number(0, static_cast<std::int64_t>(table.options(unit).size()) - 1)));
        ASSERT_EQ(replayedPeak(table, choice), timelinePeak(table, choice)) << "round " << round;
    }
}

PlanOutcome plannedOutcome(MemoryMode mode = MemoryMode::Timeline)
{
    loadline::Setup setup = tinyGpt();
    setup.batch = 2;
    setup.memory = mode;
    const auto planner = Planner::prepare(*buildCostTable(setup), {});
    return planner->plan(planner->leastBudget() + Bytes((planner->mostBudget() - planner->leastBudget()).count() / 2));
}

TEST(CheckPlan, HoldsForWhatThePlannerMade)
{
    for (const MemoryMode mode : {MemoryMode::Timeline, MemoryMode::Paper}) {
        const PlanOutcome outcome = plannedOutcome(mode);
        ASSERT_TRUE(outcome.plan.has_value());
        const PlanCheck check = checkPlan(outcome);
        EXPECT_TRUE(check.violations.empty()) << check.violations.front();
        EXPECT_EQ(check.peak, outcome.plan->peak);
        EXPECT_NEAR(check.serial.value(), outcome.plan->objective.value(), 1e-12);
        EXPECT_NEAR(check.overlapped.value(), outcome.plan->time.overlapped.value(), 1e-12);
    }
}

TEST(CheckPlan, HoldsForABudgetThatNothingFits)
{
    const auto planner = Planner::prepare(*buildCostTable(tinyGpt()), {});
    EXPECT_TRUE(checkPlan(planner->plan(Bytes(1000))).violations.empty());
}

TEST(CheckPlan, CatchesEveryTamperedFigure)
{
    const PlanOutcome honest = plannedOutcome();
    const std::map<std::string, std::function<void(PlanOutcome&)>> tampered{
        {"peak", [](PlanOutcome& o) { o.plan->peak -= Bytes(1); }},
        {"paper peak", [](PlanOutcome& o) { o.plan->paperPeak += Bytes(1); }},
        {"budget", [](PlanOutcome& o) { o.budget = o.plan->peak - Bytes(1); }},
        {"objective", [](PlanOutcome& o) { o.plan->objective = o.plan->objective * 0.999; }},
        {"serial", [](PlanOutcome& o) { o.plan->time.serial = o.plan->time.serial * 0.999; }},
        {"overlapped", [](PlanOutcome& o) { o.plan->time.overlapped = o.plan->time.overlapped * 0.999; }},
        {"compute", [](PlanOutcome& o) { o.plan->time.compute = o.plan->time.compute * 0.999; }},
        {"communication", [](PlanOutcome& o) { o.plan->time.communication = o.plan->time.communication * 1.001; }},
        {"exposed", [](PlanOutcome& o) { o.plan->time.exposed += o.plan->time.serial * 0.01; }},
        {"exposed by unit", [](PlanOutcome& o) { o.plan->time.exposedByUnit[1] += o.plan->time.serial * 0.01; }},
        {"exposed units", [](PlanOutcome& o) { o.plan->time.exposedByUnit.pop_back(); }},
        {"lower bound", [](PlanOutcome& o) { o.lowerBound = o.plan->objective * 1.01; }},
        {"gap", [](PlanOutcome& o) { o.gap += 0.01; }},
        {"gap is no number", [](PlanOutcome& o) { o.gap = std::numeric_limits<double>::quiet_NaN(); }},
        {"price", [](PlanOutcome& o) { o.secondsPerGib = -1; }},
        {"status infeasible", [](PlanOutcome& o) { o.status = SearchStatus::Infeasible; }},
        {"status turned",
         [](PlanOutcome& o) { o.status = o.status == SearchStatus::Optimal ? SearchStatus::WithinGap : SearchStatus::Optimal; }},
        {"no plan", [](PlanOutcome& o) { o.plan.reset(); }},
        {"choice", [](PlanOutcome& o) { o.plan->choice[2] = o.plan->choice[2] == 0 ? 1 : 0; }},
        {"option that is none", [](PlanOutcome& o) { o.plan->choice[1] = 1000; }},
        {"units missing", [](PlanOutcome& o) { o.plan->choice.pop_back(); }},
        {"overhead", [](PlanOutcome& o) { o.plan->table.overhead += Bytes(1); }},
        {"constant", [](PlanOutcome& o) { o.plan->table.constant += Bytes(1); }},
        {"name of a unit", [](PlanOutcome& o) { o.plan->table.units[0].name += "x"; }},
        {"parameters of a unit", [](PlanOutcome& o) { o.plan->table.units[0].parameters += 1; }},
        {"class of a unit", [](PlanOutcome& o) { o.plan->table.units[0].costClass = 10'000; }},
        {"cost of an option",
         [](PlanOutcome& o) {
             const std::size_t costClass = o.plan->table.units[0].costClass;
             o.plan->table.classOptions[costClass][o.plan->choice[0]].saved += Bytes(1);
         }},
        {"batch", [](PlanOutcome& o) { o.plan->table.setup.batch += 1; }},
        {"sequence", [](PlanOutcome& o) { o.plan->table.setup.sequence += 1; }},
        {"accumulation", [](PlanOutcome& o) { o.plan->table.setup.accumulation += 1; }},
        {"ranks", [](PlanOutcome& o) { o.plan->table.setup.cluster.nodes *= 2; }},
        {"setup that cannot be", [](PlanOutcome& o) { o.plan->table.setup.batch = 0; }},
    };
    for (const auto& [what, change] : tampered) {
        PlanOutcome outcome = honest;
        change(outcome);
        EXPECT_FALSE(checkPlan(outcome).violations.empty()) << what;
    }
}

TEST(CheckPlan, CatchesAFalseWordOfInfeasibility)
{
    const auto planner = Planner::prepare(*buildCostTable(tinyGpt()), {});
    PlanOutcome outcome = planner->plan(Bytes(1000));
    ASSERT_TRUE(outcome.infeasible.has_value());
    outcome.budget = outcome.infeasible->leastBudget;
    EXPECT_FALSE(checkPlan(outcome).violations.empty());
    outcome.infeasible.reset();
    EXPECT_FALSE(checkPlan(outcome).violations.empty());
}

} // namespace
} // namespace loadline
