// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/event_rows.hpp"
#include "core/plan/memory_form.hpp"
#include "tests/support/cost_table_builder.hpp"

#include <gtest/gtest.h>

namespace loadline {
namespace {

using testing::RandomTables;

std::vector<RuntimeRules> allRules()
{
    return {loadlineRules(), fsdp2Rules(), osdpReleaseRules(), RuntimeRules{}};
}

Choice randomChoice(RandomTables& random, const CostTable& table)
{
    Choice choice;
    for (std::size_t unit = 0; unit < table.units.size(); ++unit)
        choice.push_back(static_cast<std::uint32_t>(random.number(0, static_cast<std::int64_t>(table.options(unit).size()) - 1)));
    return choice;
}

std::vector<MemoryTerms> everyTerms(const SearchSpace& space)
{
    std::vector<MemoryTerms> terms{stepTerms(space), endTerms(space)};
    for (std::size_t unit = 0; unit < space.table.units.size(); ++unit) {
        terms.push_back(backwardTerms(space, unit));
        terms.push_back(forwardTerms(space, unit));
        terms.push_back(recomputeTerms(space, unit));
    }
    return terms;
}

void makeRoot(CostTable& table, RandomTables& random)
{
    table.units.front().root = true;
    for (OptionCost& cost : table.classOptions[table.units.front().costClass]) {
        cost.keptToEnd = Bytes(random.number(0, 40));
        cost.heldGradient = Bytes(random.number(0, 40));
        cost.finalBuffer = random.number(0, 2) == 0 ? Bytes() : Bytes(random.number(1, 60));
    }
}

/// What every proof of the planner rests on.
TEST(MemoryTerms, NeverExceedTheTimelinesPeak)
{
    RandomTables random(1);
    for (int round = 0; round < 3000; ++round) {
        CostTable table = random.next(7, 4, allRules()[static_cast<std::size_t>(round) % 4]);
        if (round % 3 == 0)
            makeRoot(table, random);
        if (round % 5 == 0 && table.units.size() > 1)
            table.units.back().borrows = {0};
        const auto space = makeSearchSpace(table, {});
        ASSERT_TRUE(space.ok()) << space.error().message;
        int index = 0;
        for (const MemoryTerms& terms : everyTerms(*space)) {
            ++index;
            const auto form = MemoryForm::make(*space, terms);
            ASSERT_TRUE(form.ok());
            for (int i = 0; i < 8; ++i) {
                const Choice choice = randomChoice(random, table);
                ASSERT_LE(form->value(*space, choice), timelinePeak(table, choice)) << "round " << round << ", terms " << index;
            }
        }
    }
}

TEST(EventRows, NeverExceedTheTimelinesPeak)
{
    RandomTables random(5);
    for (int round = 0; round < 2000; ++round) {
        CostTable table = random.next(7, 4, allRules()[static_cast<std::size_t>(round) % 4]);
        if (round % 3 == 0)
            makeRoot(table, random);
        const auto space = makeSearchSpace(table, {});
        ASSERT_TRUE(space.ok());
        EventRows rows(*space);
        for (int i = 0; i < 6; ++i) {
            const EventRows::Key key = rows.peakOf(randomChoice(random, table));
            const Choice choice = randomChoice(random, table);
            ASSERT_LE(rows.value(rows.row(key), choice), timelinePeak(table, choice)) << "round " << round;
        }
    }
}

TEST(EventRows, RepairLowersThePeakOfARealChoice)
{
    RandomTables random(6);
    int fixed = 0;
    for (int round = 0; round < 500; ++round) {
        const CostTable table = random.next(7, 4, loadlineRules());
        const auto space = makeSearchSpace(table, {});
        ASSERT_TRUE(space.ok());
        EventRows rows(*space);
        const PricedChoice start = priced(*space, randomChoice(random, table));
        const PricedChoice lower = repaired(*space, rows, start, start.peak - Bytes(1));
        EXPECT_EQ(lower.peak, timelinePeak(table, lower.choice));
        EXPECT_EQ(lower.ticks, space->ticks(lower.choice));
        fixed += lower.peak < start.peak ? 1 : 0;
    }
    EXPECT_GT(fixed, 300);
}

TEST(MemoryTerms, PaperTermsNeverExceedThePapersPeak)
{
    RandomTables random(2);
    for (int round = 0; round < 1000; ++round) {
        CostTable table = random.next(7, 4, allRules()[static_cast<std::size_t>(round) % 4]);
        if (round % 3 == 0)
            makeRoot(table, random);
        const auto space = makeSearchSpace(table, {});
        ASSERT_TRUE(space.ok());
        for (const MemoryTerms& terms : {paperTerms(*space), stepTerms(*space), endTerms(*space)}) {
            const auto form = MemoryForm::make(*space, terms);
            ASSERT_TRUE(form.ok());
            const Choice choice = randomChoice(random, table);
            ASSERT_LE(form->value(*space, choice), paperPeak(table, choice));
        }
    }
}

TEST(MemoryTerms, PaperTermsAreExactWithoutRegions)
{
    RandomTables random(3);
    for (int round = 0; round < 1000; ++round) {
        CostTable table = random.next(7, 4, loadlineRules());
        for (auto& options : table.classOptions)
            for (OptionCost& cost : options) {
                cost.strategy.recompute = false;
                cost.stepTransient = Bytes();
                cost.recomputed = cost.recomputeTransient = Bytes();
            }
        const auto space = makeSearchSpace(table, {});
        ASSERT_TRUE(space.ok());
        const auto form = MemoryForm::make(*space, paperTerms(*space));
        const Choice choice = randomChoice(random, table);
        ASSERT_EQ(form->value(*space, choice), paperPeak(table, choice));
    }
}

/// At the end of forward of a plain runtime the form is the peak itself, not just below it.
TEST(MemoryTerms, AreTightAtTheirPivot)
{
    RandomTables random(4);
    int equal = 0;
    for (int round = 0; round < 500; ++round) {
        const CostTable table = random.next(6, 3, RuntimeRules{});
        const auto space = makeSearchSpace(table, {});
        ASSERT_TRUE(space.ok());
        const Choice choice = randomChoice(random, table);
        const Timeline timeline = playTimeline(table, choice);
        const auto form = MemoryForm::make(*space, termsAt(*space, timeline.events[timeline.peakEvent]));
        equal += form->value(*space, choice) == timeline.peak ? 1 : 0;
    }
    EXPECT_GT(equal, 450);
}

} // namespace
} // namespace loadline
