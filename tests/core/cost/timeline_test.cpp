// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/timeline.hpp"
#include "small_models.hpp"

namespace loadline {
namespace {

using small::custom;

std::vector<RuntimeRules> allRules()
{
    return {loadlineRules(), fsdp2Rules(), osdpReleaseRules()};
}

const TimelineEvent& event(const Timeline& timeline, const CostTable& table, Phase phase, const std::string& unit)
{
    for (const TimelineEvent& found : timeline.events)
        if (found.phase == phase && table.units[found.unit].name == unit)
            return found;
    ADD_FAILURE() << "no event of " << unit;
    return timeline.events.front();
}

std::int64_t part(const TimelineEvent& event, MemoryCategory category)
{
    return event.bytes[static_cast<std::size_t>(category)].count();
}

/// The example of docs/memory-model.md: every figure is reckoned by hand there.
class WorkedExample : public ::testing::Test {
protected:
    static loadline::Setup setup()
    {
        auto setup = small::setup({custom("a", 1002, 40, 8), custom("b", 0, 20, 8), custom("c", 600, 10, 8)}, 4);
        setup.sequence = 100;
        return setup;
    }

    CostTable m_table = small::table(setup());
    Choice m_choice{small::option(m_table, 0, "zdp"), 0, small::option(m_table, 2, "dp")};
    Timeline m_timeline = playTimeline(m_table, m_choice);

    std::int64_t total(Phase phase, const std::string& unit) const { return event(m_timeline, m_table, phase, unit).total().count(); }
};

TEST_F(WorkedExample, EveryEventIsAsReckonedByHand)
{
    EXPECT_EQ(total(Phase::Forward, "a"), 23028);
    EXPECT_EQ(total(Phase::Forward, "b"), 21012);
    EXPECT_EQ(total(Phase::Forward, "c"), 22012);
    EXPECT_EQ(total(Phase::Backward, "c"), 29228);
    EXPECT_EQ(total(Phase::Backward, "b"), 25828);
    EXPECT_EQ(total(Phase::Backward, "a"), 27836);
    EXPECT_EQ(total(Phase::Step, "c"), 15216);
    EXPECT_EQ(m_timeline.peak, Bytes(29228));
    EXPECT_EQ(m_timeline.events[m_timeline.peakEvent].phase, Phase::Backward);
    EXPECT_EQ(m_timeline.events.size(), 7U);
}

TEST_F(WorkedExample, CategoriesAtThePeak)
{
    const TimelineEvent& peak = m_timeline.events[m_timeline.peakEvent];
    EXPECT_EQ(part(peak, MemoryCategory::Parameters), 1004 + 2400);
    EXPECT_EQ(part(peak, MemoryCategory::Optimizer), 2008 + 4800);
    EXPECT_EQ(part(peak, MemoryCategory::Gradients), 2400 + 2400);
    EXPECT_EQ(part(peak, MemoryCategory::Activations), 7000 + 1600);
    EXPECT_EQ(part(peak, MemoryCategory::Gathered), 4016);
    EXPECT_EQ(part(peak, MemoryCategory::Overhead), 1600);
}

TEST_F(WorkedExample, PaperBoundIsStatesActivationsAndLargestTransient)
{
    EXPECT_EQ(paperPeak(m_table, m_choice), Bytes(1600 + 13616 + 7000 + 9624));
    m_table.setup.memory = MemoryMode::Paper;
    EXPECT_EQ(plannedPeak(m_table, m_choice), paperPeak(m_table, m_choice));
    m_table.setup.memory = MemoryMode::Timeline;
    EXPECT_EQ(plannedPeak(m_table, m_choice), m_timeline.peak);
}

TEST_F(WorkedExample, OverheadIsAliveAllTheTime)
{
    auto changed = setup();
    changed.overhead = Bytes(5000);
    EXPECT_EQ(timelinePeak(small::table(changed), m_choice), m_timeline.peak + Bytes(5000));
    changed.overhead.reset();
    EXPECT_EQ(timelinePeak(small::table(changed), m_choice), m_timeline.peak + changed.cluster.device.overhead);
}

/// Search, chart, fact strip and check share one figure.
TEST(Timeline, PeakAloneEqualsThePlayedPeakToTheByte)
{
    std::mt19937_64 random(7);
    for (const RuntimeRules& rules : allRules())
        for (const UnitKind kind : {UnitKind::Operator, UnitKind::Part, UnitKind::Block})
            for (const bool tied : {false, true})
                for (const std::int64_t ranks : {1, 3, 5, 7, 8, 64})
                    for (const std::int64_t recomputed : {0, 2, 4}) {
                        auto setup = small::setup(small::stack(4, tied), ranks, rules);
                        setup.unit = kind;
                        setup.recomputedBlocks = recomputed;
                        setup.accumulation = 1 + static_cast<std::int64_t>(random() % 2);
                        setup.precision = *loadPrecision(random() % 2 == 0 ? "fp32" : "bf16-mixed");
                        const CostTable table = small::table(setup);
                        for (int i = 0; i < 20; ++i) {
                            const Choice choice = small::randomChoice(table, random);
                            const Timeline timeline = playTimeline(table, choice);
                            ASSERT_EQ(timelinePeak(table, choice), timeline.peak);
                            Bytes most;
                            for (const TimelineEvent& found : timeline.events) {
                                most = std::max(most, found.total());
                                for (const Bytes bytes : found.bytes)
                                    ASSERT_GE(bytes, Bytes(0)) << rules.name << " " << table.units[found.unit].name;
                            }
                            ASSERT_EQ(most, timeline.peak);
                            ASSERT_EQ(timeline.events[timeline.peakEvent].total(), timeline.peak);
                        }
                    }
}

TEST(Timeline, WithoutUnitsNothingHappens)
{
    EXPECT_EQ(timelinePeak({}, {}), Bytes(0));
    EXPECT_TRUE(playTimeline({}, {}).events.empty());
    EXPECT_EQ(paperPeak({}, {}), Bytes(0));
}

/// Without gathers ahead, reductions beside, or a root unit one unit at a time is alive: the paper's bound holds.
TEST(Timeline, PaperBoundIsNeverBelowWhereOneUnitIsAlive)
{
    std::mt19937_64 random(11);
    RuntimeRules rules;
    rules.name = "one at a time";
    rules.scatterBuffers = 0;
    for (const std::int64_t recomputed : {0, 3}) {
        auto setup = small::setup(small::stack(4, false), 8, rules);
        setup.recomputedBlocks = recomputed;
        const CostTable table = small::table(setup);
        for (int i = 0; i < 200; ++i) {
            const Choice choice = small::randomChoice(table, random);
            ASSERT_GE(paperPeak(table, choice), timelinePeak(table, choice));
        }
    }
}

TEST(Timeline, RecomputationDropsActivationsAndBringsThemBack)
{
    auto setup = small::setup(small::stack(6, false), 8);
    setup.batch = 64;
    const CostTable kept = small::table(setup);
    setup.recomputedBlocks = 6;
    const CostTable dropped = small::table(setup);
    Choice choice;
    for (std::size_t i = 0; i < dropped.units.size(); ++i) {
        const char* label = dropped.units[i].layer < 0 ? "zdp" : "zdp+recompute";
        choice.push_back(dropped.units[i].parameters == 0 ? 0 : small::option(dropped, i, label));
    }
    const Timeline timeline = playTimeline(dropped, choice);
    EXPECT_LT(timeline.peak, timelinePeak(kept, small::all(kept, "zdp")));
    std::size_t recomputedEvents = 0;
    for (const TimelineEvent& found : timeline.events)
        recomputedEvents += found.phase == Phase::Recompute ? 1 : 0;
    EXPECT_EQ(recomputedEvents, 6U * 6U);
    // The whole layer is back when its last operator runs backward: as much as it saves without recomputation, its input apart.
    Bytes savedByLayer;
    for (std::size_t i = 0; i < kept.units.size(); ++i)
        if (kept.units[i].layer == 2)
            savedByLayer += kept.options(i).front().saved;
    Bytes back;
    Bytes remains;
    for (std::size_t i = 0; i < dropped.units.size(); ++i)
        if (dropped.units[i].layer == 2) {
            back += dropped.options(i).front().recomputed;
            remains += dropped.options(i).front().saved;
        }
    EXPECT_EQ(back + remains, savedByLayer);
    EXPECT_EQ(remains, Bytes(64 * 16 * 64 * 4)); // the layer's input
}

/// One unit per block or one per operator: a recomputed region holds the same activations.
TEST(Timeline, RecomputedRegionsAreBlocksWhateverTheUnit)
{
    auto setup = small::setup(small::stack(4, false), 1);
    setup.batch = 256;
    setup.recomputedBlocks = 4;
    const CostTable operators = small::table(setup);
    setup.unit = UnitKind::Block;
    const CostTable blocks = small::table(setup);
    const auto finest = static_cast<double>(timelinePeak(operators, Choice(operators.units.size(), 0)).count());
    const auto coarsest = static_cast<double>(timelinePeak(blocks, Choice(blocks.units.size(), 0)).count());
    EXPECT_NEAR(finest / coarsest, 1.0, 0.02);
}

TEST(Timeline, MoreMicroStepsKeepGradientsAlive)
{
    auto setup = small::setup(small::stack(4, false), 8, fsdp2Rules());
    setup.batch = 64;
    const CostTable once = small::table(setup);
    setup.accumulation = 4;
    const CostTable often = small::table(setup);
    const Choice sharded = small::all(once, "zdp");
    Bytes gradients;
    for (std::size_t i = 0; i < once.units.size(); ++i)
        gradients += once.options(i)[sharded[i]].gradients;
    EXPECT_GT(gradients, Bytes(0));
    const Bytes first = playTimeline(once, sharded).events.front().total();
    EXPECT_EQ(playTimeline(often, sharded).events.front().total(), first + gradients);
    EXPECT_GE(timelinePeak(often, sharded), timelinePeak(once, sharded));
}

TEST(Timeline, TiedHeadIsGatheredAtBothUses)
{
    auto setup = small::setup(small::stack(2, true), 8);
    const CostTable table = small::table(setup);
    const std::size_t head = small::unitNamed(table, "head");
    ASSERT_EQ(table.units[head].parameters, 0);
    ASSERT_EQ(table.units[head].borrows, std::vector<std::size_t>{small::unitNamed(table, "embed")});
    const Timeline replicated = playTimeline(table, small::all(table, "dp"));
    const Timeline sharded = playTimeline(table, small::all(table, "zdp"));
    EXPECT_EQ(part(event(replicated, table, Phase::Forward, "head"), MemoryCategory::Gathered), 0);
    const std::int64_t copy = ceilDiv(1009 * 64, 8) * 8 * 4;
    EXPECT_EQ(part(event(sharded, table, Phase::Forward, "head"), MemoryCategory::Gathered), copy);
    EXPECT_GE(part(event(sharded, table, Phase::Backward, "head"), MemoryCategory::Gathered), copy);
    EXPECT_GE(part(event(sharded, table, Phase::Backward, "head"), MemoryCategory::Gradients), 1009 * 64 * 4);
}

} // namespace
} // namespace loadline
