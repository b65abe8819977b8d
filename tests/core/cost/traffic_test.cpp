// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/traffic.hpp"

#include "core/cluster/library.hpp"
#include "core/model/reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>

using namespace loadline;

namespace {

CostTable tableOf(std::int64_t recomputed, std::int64_t accumulation)
{
    loadline::Setup setup;
    setup.model = std::make_shared<const Model>(*loadModel("gpt-tiny"));
    setup.cluster = bundledClusters().front(); // 8 ranks in one node
    setup.precision = *loadPrecision("fp32");
    setup.optimizer = *loadOptimizer("adamw");
    setup.rules = loadlineRules();
    setup.sequence = 64;
    setup.accumulation = accumulation;
    setup.recomputedBlocks = recomputed;
    setup.groups = {1, 2, 8};
    return *buildCostTable(setup);
}

Choice choose(const CostTable& table, std::int64_t group)
{
    Choice choice;
    for (std::size_t unit = 0; unit < table.units.size(); ++unit) {
        const auto& options = table.options(unit);
        const auto found = std::find_if(options.begin(), options.end(), [&](const OptionCost& cost) {
            return cost.strategy.group == group && cost.strategy.slices == 1 && cost.strategy.reshardAfterForward;
        });
        choice.push_back(static_cast<std::uint32_t>(found == options.end() ? 0 : found - options.begin()));
    }
    return choice;
}

// gpt-tiny: 957,184 parameters, of which wte 131,072 (used twice), wpe 32,768, no padding at 8 ranks.
constexpr std::int64_t kAll = 957184 * 4;
constexpr std::int64_t kTied = 131072 * 4;
constexpr std::int64_t kPositions = 32768 * 4;

} // namespace

TEST(Traffic, ReplicatedIsOneAllReduce)
{
    const CostTable table = tableOf(0, 3);
    const Traffic traffic = stepTraffic(table, choose(table, 1));
    EXPECT_EQ(traffic, (Traffic{Bytes(0), Bytes(0), Bytes(kAll)}));
}

TEST(Traffic, ShardedIsTwoGathersAndOneReduction)
{
    const CostTable table = tableOf(0, 1);
    const Traffic traffic = stepTraffic(table, choose(table, 8));
    // The head uses the embedding's parameters: gathered in forward, again in backward; embeddings are not gathered for backward.
    EXPECT_EQ(traffic.allGather, Bytes(2 * kAll + kTied - kPositions));
    EXPECT_EQ(traffic.reduceScatter, Bytes(kAll + kTied));
    EXPECT_EQ(traffic.allReduce, Bytes(0));
}

TEST(Traffic, GroupsAverageTheirShards)
{
    const CostTable table = tableOf(0, 2);
    const Traffic traffic = stepTraffic(table, choose(table, 2));
    EXPECT_EQ(traffic.allGather, Bytes(2 * (2 * kAll + kTied - kPositions)));
    EXPECT_EQ(traffic.reduceScatter, Bytes(2 * (kAll + kTied)));
    EXPECT_EQ(traffic.allReduce, Bytes(kAll / 2)); // once, after the last micro-step
}

TEST(Traffic, RecomputationGathersOnceMore)
{
    const CostTable whole = tableOf(0, 1);
    const CostTable again = tableOf(1, 1);
    const std::int64_t block = 198272 * 4; // parameters of one block of gpt-tiny
    EXPECT_EQ(stepTraffic(again, choose(again, 8)).allGather - stepTraffic(whole, choose(whole, 8)).allGather, Bytes(block));
}
