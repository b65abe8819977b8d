// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/train/two_phase.hpp"

#include "training.hpp"

#include "core/cost/traffic.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>

#include <gtest/gtest.h>

#include <mutex>

using namespace loadline;
using namespace loadline::test;

namespace {

CommunicatorPtr everybody(Communicator& world, int perNode)
{
    std::vector<int> ranks;
    for (int rank = 0; rank < world.size(); ++rank)
        ranks.push_back(rank);
    return twoPhase(world.subgroup(ranks, "everybody"), perNode);
}

} // namespace

TEST(TwoPhase, ComputesWhatFlatCollectivesDo)
{
    for (const auto& [ranks, perNode] : {std::pair{4, 2}, std::pair{6, 3}, std::pair{6, 2}, std::pair{8, 4}}) {
        for (const std::int64_t part : {1, 5}) {
            runThreads(ranks, [&, ranks = ranks, perNode = perNode](Communicator& world) {
                const CommunicatorPtr group = everybody(world, perNode);
                const auto rank = static_cast<std::int64_t>(world.rank());
                const at::Tensor all = at::arange(ranks * part, at::kFloat);

                at::Tensor full = at::full({ranks * part}, -1.0);
                group->allGather(full, all.narrow(0, rank * part, part).clone())->wait();
                TORCH_CHECK(full.equal(all), "all-gather of ", part, " on ", ranks);

                const at::Tensor shard = at::full({part}, -1.0);
                group->reduceScatter(shard, all.mul(static_cast<double>(rank + 1)))->wait();
                const double sum = ranks * (ranks + 1) / 2.0;
                TORCH_CHECK(shard.equal(all.narrow(0, rank * part, part).mul(sum)), "reduce-scatter of ", part, " on ", ranks);

                // One element less: nothing that divides by a node's ranks; and a single one.
                for (const std::int64_t count : {ranks * part - 1, std::int64_t{1}}) {
                    const at::Tensor summed = all.narrow(0, 0, count).mul(static_cast<double>(rank + 1));
                    group->allReduce(summed)->wait();
                    TORCH_CHECK(summed.equal(all.narrow(0, 0, count).mul(sum)), "all-reduce of ", count, " on ", ranks);
                }
            });
        }
    }
}

TEST(TwoPhase, OneRankANodeOrOneNodeStaysFlat)
{
    runThreads(4, [](Communicator& world) {
        for (const int perNode : {1, 3, 4}) {
            auto flat = world.subgroup({0, 1, 2, 3}, "flat" + std::to_string(perNode));
            Communicator* before = flat.get();
            TORCH_CHECK(twoPhase(std::move(flat), perNode).get() == before);
        }
    });
}

TEST(TwoPhase, TrainsAsOneProcessDoes)
{
    for (const auto& [ranks, nodes] : {std::pair{4, 2}, std::pair{8, 2}, std::pair{6, 3}}) {
        Question question;
        question.ranks = ranks;
        question.nodes = nodes;
        question.hierarchical = true;
        question.steps = 3;
        question.accumulation = 2;
        const CostTable table = tableOf(question);
        const Outcome unsharded = trainUnsharded(table, question);
        std::mt19937 random(static_cast<unsigned>(ranks));
        for (const std::int64_t group : {std::int64_t{1}, std::int64_t{ranks / nodes}, std::int64_t{ranks}}) {
            const Choice choice = chooseBy(table, [&, g = group](const Strategy& strategy) { return strategy.group == g; });
            const Outcome outcome = train(table, choice, question);
            expectEqual(outcome, unsharded, question, 1e-5,
                        "groups of " + std::to_string(group) + " on " + std::to_string(nodes) + " nodes");
            EXPECT_EQ(outcome.steps.back().back().traffic, stepTraffic(table, choice));
        }
        expectEqual(train(table, randomChoice(table, random), question), unsharded, question, 1e-5, "a random plan");
    }
}
