// SPDX-License-Identifier: GPL-3.0-or-later
// What each rule set is known to do, reckoned by hand from its source.
#include "core/cost/rules.hpp"
#include "small_models.hpp"

namespace loadline {
namespace {

using small::custom;
using small::linear;

std::int64_t part(const TimelineEvent& event, MemoryCategory category)
{
    return event.bytes[static_cast<std::size_t>(category)].count();
}

const TimelineEvent& event(const Timeline& timeline, Phase phase, std::size_t unit)
{
    for (const TimelineEvent& found : timeline.events)
        if (found.phase == phase && found.unit == unit)
            return found;
    ADD_FAILURE() << "no event of unit " << unit;
    return timeline.events.front();
}

std::vector<Operator> linears(int count, std::int64_t in, std::int64_t out)
{
    std::vector<Operator> all;
    for (int i = 0; i < count; ++i)
        all.push_back(linear("layers." + std::to_string(i) + ".up", in, out, i));
    return all;
}

/// docs/sources.md, FSDP2 2.11: gathered weight, full gradient, next unit's all-gather, previous unit's reduce-scatter.
TEST(Fsdp2Rules, InteriorUnitCostsFourOfItselfInBackward)
{
    const CostTable table = small::table(small::setup(linears(5, 64, 64), 8, fsdp2Rules()));
    const Timeline timeline = playTimeline(table, small::all(table, "zdp"));
    const TimelineEvent& middle = event(timeline, Phase::Backward, 2);
    const std::int64_t unit = 64 * 64 * 4;
    const std::int64_t shards = 2 * unit / 8; // of the two units that are done
    EXPECT_EQ(part(middle, MemoryCategory::Gathered) + part(middle, MemoryCategory::Gradients), 4 * unit + shards);
}

/// docs/sources.md, FSDP2 2.11: forward 2.03 W unsplit, 1.52 / 0.77 / 0.39 / 0.21 W in 2 / 4 / 8 / 16 slices.
TEST(Fsdp2Rules, SlicesCostThreeOfThemselvesInForward)
{
    auto setup = small::setup({linear("layers.0.up", 1024, 1024, 0)}, 8, fsdp2Rules());
    setup.granularities = {1, 2, 4, 8, 16};
    const CostTable table = small::table(setup);
    const double weight = 1024 * 1024 * 4;
    const auto gathered = [&](const std::string& label) {
        const Timeline timeline = playTimeline(table, {small::option(table, 0, label)});
        return static_cast<double>(part(event(timeline, Phase::Forward, 0), MemoryCategory::Gathered)) / weight;
    };
    EXPECT_NEAR(gathered("zdp"), 2.03, 0.05);
    EXPECT_NEAR(gathered("zdp/2"), 1.52, 0.05);
    EXPECT_NEAR(gathered("zdp/4"), 0.77, 0.05);
    EXPECT_NEAR(gathered("zdp/8"), 0.39, 0.05);
    EXPECT_NEAR(gathered("zdp/16"), 0.21, 0.05);
}

/// docs/sources.md, FSDP2 2.11: whole step minus shards 2.15 W unsplit, 1.58 / 1.08 W in 2 / 4 slices.
TEST(Fsdp2Rules, SlicesInBackward)
{
    auto setup = small::setup({linear("layers.0.up", 1024, 1024, 0)}, 8, fsdp2Rules());
    const CostTable table = small::table(setup);
    const double weight = 1024 * 1024 * 4;
    const auto beyond = [&](const std::string& label) {
        const Timeline timeline = playTimeline(table, {small::option(table, 0, label)});
        const TimelineEvent& found = event(timeline, Phase::Backward, 0);
        return static_cast<double>(part(found, MemoryCategory::Gathered) + part(found, MemoryCategory::Gradients)) / weight;
    };
    EXPECT_NEAR(beyond("zdp"), 2.15, 0.16);
    EXPECT_NEAR(beyond("zdp/2"), 1.58, 0.16);
    EXPECT_NEAR(beyond("zdp/4"), 1.08, 0.16);
}

/// docs/sources.md, FSDP2 2.11: mesh (N, 1) makes a working copy, without communication, and frees it; one rank makes none.
TEST(Fsdp2Rules, ReplicatedUnitsRunFromACopy)
{
    const CostTable eight = small::table(small::setup(linears(3, 64, 64), 8, fsdp2Rules()));
    EXPECT_EQ(small::cost(eight, "layers.1.up", "dp").gathered, Bytes(64 * 64 * 4));
    EXPECT_EQ(small::cost(eight, "layers.1.up", "dp").gatherForward, Seconds(0));
    EXPECT_EQ(small::cost(eight, "layers.1.up", "dp").forwardBuffer, Bytes(0));
    const CostTable one = small::table(small::setup(linears(3, 64, 64), 1, fsdp2Rules()));
    EXPECT_EQ(small::cost(one, "layers.1.up", "dp").gathered, Bytes(0));
}

/// docs/sources.md, FSDP2 2.11: bytes per rank = ceil(dim0 / d) x rest of the shape.
TEST(Fsdp2Rules, ShardsAreWholeRowsOfDimensionZero)
{
    const CostTable table = small::table(small::setup({linear("layers.0.up", 64, 10, 0, true)}, 7, fsdp2Rules()));
    EXPECT_EQ(small::cost(table, "layers.0.up", "zdp").parameters, Bytes((2 * 64 + 2) * 4));
    EXPECT_EQ(small::cost(table, "layers.0.up", "zdp").gathered, Bytes((14 * 64 + 14) * 4));
    const CostTable flat = small::table(small::setup({linear("layers.0.up", 64, 10, 0, true)}, 7));
    EXPECT_EQ(small::cost(flat, "layers.0.up", "zdp").parameters, Bytes(ceilDiv(650, 7) * 4));
}

/// docs/sources.md, FSDP2 2.11: beyond as many ranks as experts the states stop shrinking, and buffers are padded.
TEST(Fsdp2Rules, ExpertsAreShardedAlongDimensionOneBeyondTheirNumber)
{
    Operator experts;
    experts.name = "layers.0.mlp.experts";
    experts.layer = 0;
    experts.part = "mlp";
    ExpertsTraits traits;
    traits.experts = 8;
    traits.active = 2;
    traits.hidden = 128;
    traits.width = 256;
    experts.traits = traits;
    experts.parameters = {{"gate_up", {8, 512, 128}}, {"down", {8, 128, 256}}};
    auto setup = small::setup({experts}, 64, fsdp2Rules());
    const std::int64_t all = 8 * 512 * 128 + 8 * 128 * 256;
    EXPECT_EQ(small::cost(small::table(setup), experts.name, "zdp").parameters, Bytes(all / 64 * 4));
    EXPECT_EQ(small::cost(small::table(setup), experts.name, "zdp").gathered, Bytes(all * 4));
    setup.shardExpertsOnDim1 = false;
    EXPECT_EQ(small::cost(small::table(setup), experts.name, "zdp").parameters, Bytes(all / 8 * 4));
    EXPECT_EQ(small::cost(small::table(setup), experts.name, "zdp").gathered, Bytes(all * 8 * 4));
}

/// docs/sources.md, FSDP2 2.11: all units of a checkpointed region stay gathered together, and there is no third gather.
TEST(Fsdp2Rules, RecomputedRegionsStayGathered)
{
    std::vector<Operator> all;
    for (int layer = 0; layer < 3; ++layer)
        for (const char* name : {"up", "mid", "down"})
            all.push_back(linear("layers." + std::to_string(layer) + "." + name, 64, 64, layer));
    auto setup = small::setup(all, 8, fsdp2Rules());
    setup.recomputedBlocks = 3;
    const std::int64_t unit = 64 * 64 * 4;
    const auto gathered = [&](const loadline::Setup& changed) {
        const CostTable table = small::table(changed);
        const Timeline timeline = playTimeline(table, small::all(table, "zdp+recompute"));
        return part(event(timeline, Phase::Backward, 5), MemoryCategory::Gathered);
    };
    const std::int64_t together = gathered(setup);
    const CostTable table = small::table(setup);
    EXPECT_EQ(small::cost(table, "layers.1.up", "zdp+recompute").gatherBackward,
              small::cost(table, "layers.1.up", "zdp+recompute").gatherForward);
    setup.rules.recomputeKeepsGathered = false;
    EXPECT_EQ(together, gathered(setup) + unit); // two more copies of the region, and none that is on its way
}

/// docs/sources.md, libtorch workers: DP's gradients are in its static part, ZDP's appear in backward and stay to the step.
TEST(LoadlineRules, StaticPartHoldsReplicatedGradientsOnly)
{
    const CostTable table = small::table(small::setup(linears(4, 64, 64), 2));
    const std::int64_t parameters = 4 * 64 * 64;
    const auto staticPart = [&](const Choice& choice) {
        Bytes sum;
        for (std::size_t i = 0; i < table.units.size(); ++i) {
            const OptionCost& cost = table.options(i)[choice[i]];
            sum += cost.parameters + cost.optimizer + cost.steadyGradients;
        }
        return sum;
    };
    EXPECT_EQ(staticPart(small::all(table, "dp")), Bytes(16 * parameters));
    EXPECT_EQ(staticPart(small::all(table, "zdp")), Bytes(12 * parameters / 2));
}

TEST(LoadlineRules, OneUnitIsGatheredAhead)
{
    const CostTable table = small::table(small::setup(linears(4, 64, 64), 8));
    const Timeline timeline = playTimeline(table, small::all(table, "zdp"));
    const std::int64_t unit = 64 * 64 * 4;
    EXPECT_EQ(part(event(timeline, Phase::Forward, 1), MemoryCategory::Gathered), 2 * unit);
    EXPECT_EQ(part(event(timeline, Phase::Forward, 3), MemoryCategory::Gathered), unit);
    // Gathered copy, the next one's, and the gradient that is still being reduced.
    EXPECT_EQ(part(event(timeline, Phase::Backward, 2), MemoryCategory::Gathered), 3 * unit);
    const Timeline replicated = playTimeline(table, small::all(table, "dp"));
    EXPECT_EQ(part(event(replicated, Phase::Forward, 1), MemoryCategory::Gathered), 0);
}

/// docs/sources.md, libtorch workers: an embedding needs no gather in backward; recomputation costs one more gather.
TEST(LoadlineRules, GathersOfEmbeddingsAndRecomputation)
{
    auto setup = small::setup(small::stack(2, false), 8);
    const OptionCost embedding = small::cost(small::table(setup), "embed", "zdp");
    EXPECT_GT(embedding.gatherForward, Seconds(0));
    EXPECT_EQ(embedding.gatherBackward, Seconds(0));
    EXPECT_EQ(embedding.gatheredBackward, Bytes(0));
    setup.recomputedBlocks = 2;
    const OptionCost recomputed = small::cost(small::table(setup), "layers.0.up", "zdp+recompute");
    EXPECT_DOUBLE_EQ(recomputed.gatherBackward.value(), 2 * recomputed.gatherForward.value());
}

TEST(LoadlineRules, KeptCopiesLiveUntilBackwardAndAreGatheredOnce)
{
    const CostTable table = small::table(small::setup(linears(4, 64, 64), 8));
    const OptionCost& kept = small::cost(table, "layers.1.up", "zdp+keep");
    EXPECT_EQ(kept.kept, Bytes(64 * 64 * 4));
    EXPECT_EQ(kept.gathered, Bytes(0));
    EXPECT_EQ(kept.gatherBackward, Seconds(0));
    EXPECT_EQ(kept.gatherForward, small::cost(table, "layers.1.up", "zdp").gatherForward);
}

/// docs/sources.md, OSDP: M = max(14 d + 2 z, 6 d + 2 z + A) bytes per parameter at N = 8.
TEST(OsdpReleaseRules, ClosedFormOfTheAuthorsTables)
{
    const std::int64_t each = 8000;
    for (const int levels : {0, 1, 2, 3, 4}) { // so many of four units are "DP"
        std::vector<Operator> operators;
        for (int i = 0; i < 4; ++i)
            operators.push_back(custom("unit." + std::to_string(i), each, 0, 0));
        auto setup = small::setup(operators, 8, osdpReleaseRules());
        setup.optimizer.stepTransient = 0;
        const CostTable table = small::table(setup);
        Choice choice;
        for (int i = 0; i < 4; ++i)
            choice.push_back(small::option(table, static_cast<std::size_t>(i), i < levels ? "dp" : "zdp"));
        const std::int64_t d = levels * each;
        const std::int64_t z = (4 - levels) * each;
        const Timeline timeline = playTimeline(table, choice);
        if (levels > 0) {
            const TimelineEvent& end = timeline.events[timeline.events.size() - 2];
            EXPECT_EQ((end.total() - table.constant).count(), 14 * d + 2 * z) << levels;
        }
        EXPECT_EQ((event(timeline, Phase::Step, 3).total() - table.constant).count(), 2 * (d + z));
        // In forward the root unit is gathered, and one nested unit with it.
        EXPECT_EQ((event(timeline, Phase::Forward, 0).total() - table.constant).count(), 6 * d + 2 * z + (levels == 0 ? 4 * each : 0));
    }
}

TEST(OsdpReleaseRules, ReplicatedIsGatheredOnceAndScattered)
{
    const CostTable table = small::table(small::setup(linears(2, 64, 64), 8, osdpReleaseRules()));
    const OptionCost& dp = small::cost(table, "layers.0.up", "dp");
    const OptionCost& zdp = small::cost(table, "layers.0.up", "zdp");
    EXPECT_EQ(dp.gatherBackward, Seconds(0));
    EXPECT_DOUBLE_EQ(dp.communication().value() * 3, zdp.communication().value() * 2);
    EXPECT_EQ(dp.states(), zdp.states());
}

} // namespace
} // namespace loadline
