// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/communication.hpp"

#include "core/cluster/library.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace loadline {
namespace {

/// Round figures, so that every expected value can be worked out by hand.
Cluster twoLevels(std::int64_t nodes, std::int64_t gpusPerNode)
{
    Cluster cluster;
    cluster.nodes = nodes;
    cluster.gpusPerNode = gpusPerNode;
    cluster.intra = {Seconds(1e-6), 100e9, ""};
    cluster.inter = {Seconds(5e-6), 10e9, ""};
    return cluster;
}

TEST(Communication, OneRankMovesNothing)
{
    const auto cluster = twoLevels(1, 1);
    EXPECT_EQ(allGather(cluster, 1_GiB, 1), Seconds(0));
    EXPECT_EQ(reduceScatter(cluster, 1_GiB, 1), Seconds(0));
    EXPECT_EQ(allReduce(cluster, 1_GiB, 1), Seconds(0));
    EXPECT_EQ(allGather(twoLevels(4, 8), Bytes(0), 32), Seconds(0));
    EXPECT_EQ(allReduce(twoLevels(4, 8), 1_GiB, 32), Seconds(0)); // one replica: nothing to add up
}

TEST(Communication, RingPassInsideANode)
{
    // 7 steps of 1 us + 1e9/8 B at 100e9 B/s
    EXPECT_DOUBLE_EQ(allGather(twoLevels(1, 8), Bytes(1'000'000'000), 8).value(), 7 * (1e-6 + 1.25e8 / 100e9));
    EXPECT_DOUBLE_EQ(reduceScatter(twoLevels(4, 8), Bytes(1'000'000'000), 4).value(), 3 * (1e-6 + 2.5e8 / 100e9));
    EXPECT_DOUBLE_EQ(allReduce(twoLevels(1, 8), Bytes(1'000'000'000), 1).value(), 2 * 7 * (1e-6 + 1.25e8 / 100e9));
}

TEST(Communication, ZdpMovesOneAndAHalfTimesWhatDpMoves)
{
    const auto cluster = twoLevels(4, 8);
    const double dp = allReduce(cluster, 1_GiB, 1).value();
    const double zdp = 2 * allGather(cluster, 1_GiB, 32).value() + reduceScatter(cluster, 1_GiB, 32).value();
    EXPECT_DOUBLE_EQ(zdp / dp, 1.5);
}

TEST(Communication, AFlatRingOverNodesIsAsFastAsItsSlowestLink)
{
    // 8 neighbours of a node lend the ring 8 x 10e9 B/s, below the 100e9 B/s inside; every step waits for the slow hop.
    EXPECT_DOUBLE_EQ(allGather(twoLevels(2, 8), Bytes(1'600'000'000), 16).value(), 15 * (5e-6 + 1e8 / 80e9));
    // Replicas of shards over 8: one rank a node, one share of the network cards.
    EXPECT_DOUBLE_EQ(allReduce(twoLevels(2, 8), Bytes(200'000'000), 8).value(), 2 * (5e-6 + 1e8 / 10e9));
    // Two-GPU nodes: 2 x 10e9.
    EXPECT_DOUBLE_EQ(allGather(twoLevels(2, 2), Bytes(400'000'000), 4).value(), 3 * (5e-6 + 1e8 / 20e9));
}

TEST(Communication, HierarchicalGoesAcrossThenInside)
{
    auto cluster = twoLevels(4, 8);
    cluster.hierarchical = true;
    const double across = 3 * (5e-6 + 32e8 / 32 / 10e9);
    const double inside = 7 * (1e-6 + 32e8 / 8 / 100e9);
    EXPECT_DOUBLE_EQ(allGather(cluster, Bytes(3'200'000'000), 32).value(), across + inside);
    EXPECT_DOUBLE_EQ(allReduce(cluster, Bytes(3'200'000'000), 1).value(), 2 * (across + inside));
    // Inside a node, and with one rank a node, there is one phase only.
    EXPECT_EQ(allGather(cluster, 1_GiB, 8), allGather(twoLevels(4, 8), 1_GiB, 8));
    EXPECT_EQ(allReduce(cluster, 1_GiB, 8), allReduce(twoLevels(4, 8), 1_GiB, 8));
}

TEST(Communication, SlicesPayLatencyForEachCall)
{
    const auto cluster = twoLevels(1, 8);
    const double whole = allGather(cluster, Bytes(800'000'000), 8).value();
    const double sliced = 4 * allGather(cluster, Bytes(200'000'000), 8).value();
    EXPECT_NEAR(sliced - whole, 3 * 7 * 1e-6, 1e-15);
}

TEST(Communication, ThePapersMachineMeetsItsTable)
{
    // The OSDP authors' table (docs/sources.md, OSDP): T = 2 x 7/8 x 4 P / 4.75e9 for a DP block; latency adds little.
    const auto cluster = loadCluster("8xTITAN-RTX-24");
    ASSERT_TRUE(cluster.ok());
    const std::int64_t bytes = 4LL * (12LL * 4096 * 4096 + 13 * 4096);
    const double expected = 2 * 7.0 / 8 * static_cast<double>(bytes) / 4.75e9;
    EXPECT_NEAR(allReduce(*cluster, Bytes(bytes), 1).value(), expected, 0.001 * expected);
}

TEST(Communication, MatchesGalvatronsTwoNodeCoefficients)
{
    // Galvatron's env_configs, ms per 2^20 B of 2 (n-1)/n S over two nodes of 8; the cluster is built on the first alone.
    auto cluster = *loadCluster("8xTITAN-RTX-24");
    cluster.nodes = 2;
    const auto coefficient = [&](std::int64_t size) {
        const Bytes bytes(1LL << 30);
        const double moved = 2.0 * static_cast<double>(size - 1) / static_cast<double>(size) * 1024;
        return allReduce(cluster, bytes, 16 / size).value() * 1e3 / moved;
    };
    EXPECT_NEAR(coefficient(2), 0.8615, 0.01 * 0.8615);
    EXPECT_NEAR(coefficient(16), 0.2144, 0.10 * 0.2144);
    EXPECT_NEAR(coefficient(4), 0.5056, 0.20 * 0.5056);
    EXPECT_NEAR(coefficient(8), 0.2991, 0.30 * 0.2991);
}

TEST(Communication, StaysFiniteAndGrowsForEverySizeOfCluster)
{
    const std::vector<std::pair<std::int64_t, std::int64_t>> shapes = {{1, 1}, {1, 3}, {1, 5},     {1, 7},      {3, 1},     {5, 1},
                                                                       {7, 1}, {3, 3}, {12500, 8}, {100000, 1}, {1, 100000}};
    for (const auto& [nodes, gpus] : shapes) {
        for (const bool hierarchical : {false, true}) {
            auto cluster = twoLevels(nodes, gpus);
            cluster.hierarchical = hierarchical;
            for (const std::int64_t group : {std::int64_t{1}, gpus, cluster.ranks()}) {
                for (const std::int64_t bytes : {1LL, 7LL, 1LL << 20, 1LL << 40, 1LL << 62}) {
                    const auto gather = allGather(cluster, Bytes(bytes), group);
                    const auto reduce = allReduce(cluster, Bytes(bytes), group);
                    ASSERT_TRUE(std::isfinite(gather.value()) && gather.value() >= 0);
                    ASSERT_TRUE(std::isfinite(reduce.value()) && reduce.value() >= 0);
                    ASSERT_GE(allGather(cluster, Bytes(bytes + 1), group), gather);
                }
            }
        }
    }
}

TEST(RankGroups, AreCountedByNode)
{
    const auto cluster = twoLevels(3, 8);
    EXPECT_EQ(shardGroup(cluster, 4), (RankGroup{4, 4}));
    EXPECT_EQ(shardGroup(cluster, 24), (RankGroup{24, 8}));
    EXPECT_EQ(shardGroup(cluster, 12), (RankGroup{12, 4})); // 8 + 4, 4 + 8
    EXPECT_EQ(shardGroup(cluster, 3), (RankGroup{3, 1}));   // 2 + 1 somewhere
    EXPECT_EQ(replicaGroup(cluster, 1), (RankGroup{24, 8}));
    EXPECT_EQ(replicaGroup(cluster, 8), (RankGroup{3, 1}));
    EXPECT_EQ(replicaGroup(cluster, 4), (RankGroup{6, 2}));
    EXPECT_EQ(replicaGroup(twoLevels(1, 8), 2), (RankGroup{4, 4}));
}

} // namespace
} // namespace loadline
