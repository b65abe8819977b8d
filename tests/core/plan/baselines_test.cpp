// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/baselines.hpp"

#include "tests/support/plan_setups.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace loadline {
namespace {

using namespace testing;

const Baseline& named(const std::vector<Baseline>& all, const std::string& name)
{
    const auto found = std::find_if(all.begin(), all.end(), [&](const Baseline& one) { return one.name == name; });
    EXPECT_NE(found, all.end()) << name;
    return *found;
}

TEST(Baselines, AreTheSixThatPeopleKnow)
{
    const CostTable table = *buildCostTable(bundledSetup("gpt2-small", "16xA100-40", "bf16-mixed", 512));
    const auto all = baselines(table, 20_GiB);
    std::vector<std::string> names;
    for (const Baseline& one : all)
        names.push_back(one.name);
    EXPECT_EQ(names, (std::vector<std::string>{"all DP", "all ZDP (FSDP)", "ZeRO-2", "HSDP", "greedy (DeepCompile)", "OSDP release"}));
    for (const Baseline& one : all) {
        ASSERT_TRUE(one.available) << one.name << ": " << one.note;
        EXPECT_EQ(one.peak, plannedPeak(table, one.choice)) << one.name;
        EXPECT_EQ(one.objective, stepTime(table, one.choice).serial) << one.name;
        EXPECT_EQ(one.shortBy, std::max(one.peak - 20_GiB, Bytes())) << one.name;
        EXPECT_FALSE(one.note.empty());
    }
    EXPECT_GT(named(all, "all DP").peak, named(all, "all ZDP (FSDP)").peak);
    EXPECT_LT(named(all, "ZeRO-2").objective, named(all, "all ZDP (FSDP)").objective);
}

TEST(Baselines, TakeTheStrategiesTheyAreNamedFor)
{
    const CostTable table = *buildCostTable(bundledSetup("gpt2-small", "16xA100-40", "bf16-mixed", 512));
    const auto all = baselines(table, 20_GiB);
    for (std::size_t unit = 0; unit < table.units.size(); ++unit) {
        if (table.units[unit].parameters == 0)
            continue;
        const auto strategyOf = [&](const std::string& name) { return table.options(unit)[named(all, name).choice[unit]].strategy; };
        EXPECT_TRUE(strategyOf("all DP").replicated());
        EXPECT_EQ(strategyOf("all ZDP (FSDP)").group, 16);
        EXPECT_EQ(strategyOf("HSDP").group, 8);
        EXPECT_FALSE(strategyOf("ZeRO-2").reshardAfterForward);
    }
}

TEST(Baselines, NeverBeatAProvenPlan)
{
    const CostTable table = *buildCostTable(llama8b());
    const auto planner = Planner::prepare(table, {});
    for (const Bytes budget : {46_GiB, 52_GiB, 72_GiB}) {
        const PlanOutcome outcome = planner->plan(budget);
        ASSERT_EQ(outcome.status, SearchStatus::Optimal);
        for (const Baseline& one : baselines(table, budget)) {
            const bool fits = one.available && one.shortBy == Bytes();
            EXPECT_TRUE(!fits || one.objective.value() >= outcome.plan->objective.value() - 1e-12) << one.name;
        }
    }
}

TEST(Baselines, GreedyStopsAtTheFirstMisfit)
{
    const CostTable table = *buildCostTable(llama8b());
    const auto small = baselines(table, 46_GiB);
    const auto large = baselines(table, 400_GiB);
    EXPECT_EQ(named(small, "greedy (DeepCompile)").choice, named(small, "all ZDP (FSDP)").choice);
    EXPECT_EQ(named(large, "greedy (DeepCompile)").choice, named(large, "ZeRO-2").choice);
}

TEST(Baselines, SayWhatAClusterDoesNotHave)
{
    loadline::Setup setup = tinyGpt();
    setup.cluster.gpusPerNode = 1;
    setup.cluster.nodes = 1;
    for (const Baseline& one : baselines(*buildCostTable(setup), 1_GiB)) {
        EXPECT_EQ(one.available, one.name == "all DP") << one.name;
        EXPECT_FALSE(one.note.empty());
    }
    const auto oneNode = baselines(*buildCostTable(tinyGpt()), Bytes(0));
    EXPECT_FALSE(named(oneNode, "HSDP").available);
    EXPECT_EQ(named(oneNode, "all DP").shortBy, named(oneNode, "all DP").peak);
}

} // namespace
} // namespace loadline
