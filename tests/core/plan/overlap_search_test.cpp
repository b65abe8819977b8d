// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/overlap_dual.hpp"
#include "core/plan/overlap_segments.hpp"
#include "core/plan/planner.hpp"
#include "core/plan/planner_state.hpp"
#include "tests/core/plan/overlap_tables.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace loadline {
namespace {

using namespace testing;

constexpr double kRelative = 1e-9;

Planner prepared(const CostTable& table)
{
    auto planner = Planner::prepare(table, {});
    EXPECT_TRUE(planner.ok()) << planner.error().message;
    return *std::move(planner);
}

TEST(OverlapChain, IsTheStepTimeOfEveryChoice)
{
    RandomOverlapTables random(1);
    for (int round = 0; round < 2000; ++round) {
        const CostTable table = random.next(9, 4);
        const Planner planner = prepared(table);
        const OverlapChain& chain = *planner.state().chain;
        for (int i = 0; i < 3; ++i) {
            Choice choice;
            for (std::size_t unit = 0; unit < table.units.size(); ++unit)
                choice.push_back(static_cast<std::uint32_t>(random.number(0, static_cast<std::int64_t>(table.options(unit).size()) - 1)));
            const double expected = stepTime(table, choice).overlapped.value();
            ASSERT_NEAR(chain.seconds(choice), expected, 1e-12 * expected) << round;
        }
    }
}

/// Every lower bound against the best choice that the form lets in.
double leastInForm(const OverlapChain& chain, const OverlapMemory& memory, const CostTable& table)
{
    double least = std::numeric_limits<double>::infinity();
    forEachChoiceOf(table, [&](const Choice& choice) {
        if (memory.of(choice).total() <= memory.capacity)
            least = std::min(least, chain.seconds(choice));
    });
    return least;
}

struct Bounds {
    int dual = 0;
    int segments = 0;
    int tight = 0;
};

Bounds boundsHold(std::uint64_t seed, int rounds, std::size_t labelCap, std::size_t contentCap)
{
    RandomOverlapTables random(seed);
    Bounds count;
    for (int round = 0; round < rounds; ++round) {
        const CostTable table = random.next(6, 4);
        const Planner planner = prepared(table);
        const auto& state = planner.state();
        const Bytes budget(random.number(planner.leastBudget().count(), std::max(planner.mostBudget(), planner.leastBudget()).count()));
        for (const MemoryForm& form : state.forms) {
            const OverlapMemory memory = overlapMemory(state.space, form, budget);
            const double truth = leastInForm(*state.chain, memory, table);
            if (!std::isfinite(truth))
                continue;
            OverlapLabels labels(*state.chain, memory, labelCap);
            const OverlapDual dual = solveOverlapDual(labels, state.smallest.choice, 1'000'000'000);
            EXPECT_LE(dual.best.bound, truth * (1 + kRelative)) << round;
            ++count.dual;
            const double price = dual.best.price * static_cast<double>(random.number(3, 6)) / 5;
            const OverlapRelaxed relaxed = relaxOverlap(labels, price);
            EXPECT_LE(relaxed.bound, truth * (1 + kRelative)) << round;
            for (std::size_t period = 1; period <= 3; ++period)
                for (std::size_t offset = 0; offset < period; ++offset) {
                    double least = std::numeric_limits<double>::infinity();
                    const double upper = truth * (random.number(0, 1) == 0 ? 1.0001 : 1.2);
                    for (const OverlapPiece& piece : relaxed.pieces) {
                        SegmentRequest request;
                        request.piece = piece;
                        request.price = price;
                        request.upper = upper;
                        request.period = period;
                        request.offset = offset;
                        request.contentCap = contentCap;
                        least = std::min(least, boundBySegments(labels, request).bound);
                    }
                    EXPECT_LE(least, truth * (1 + kRelative)) << round << " period " << period << " offset " << offset;
                    ++count.segments;
                    count.tight += least > std::max(relaxed.bound, 0.0) * (1 + kRelative) ? 1 : 0;
                }
            if (::testing::Test::HasFailure())
                return count;
        }
    }
    return count;
}

TEST(OverlapBounds, NeverExceedTheBestChoice)
{
    const Bounds count = boundsHold(2, 300, 48, 512);
    EXPECT_GT(count.tight * 4, count.segments);
}

TEST(OverlapBounds, NeverExceedItWithTinyCaps)
{
    boundsHold(3, 300, 2, 2);
}

struct Tally {
    int optimal = 0;
    int within = 0;
    int infeasible = 0;
    double mostGap = 0;
};

Tally compareWithBruteForce(std::uint64_t seed, int rounds, int units, int options)
{
    RandomOverlapTables random(seed);
    Tally tally;
    for (int round = 0; round < rounds; ++round) {
        const CostTable table = random.next(units, options);
        const Planner planner = prepared(table);
        for (int i = 0; i < 3; ++i) {
            const std::int64_t low = planner.leastBudget().count() - 5;
            const Bytes budget(random.number(low, std::max(planner.mostBudget().count(), low)));
            const PlanOutcome outcome = planner.plan(budget);
            if (!outcome.plan) {
                ++tally.infeasible;
                continue;
            }
            const double truth = leastOverlapped(table, budget);
            EXPECT_LE(outcome.plan->peak, budget);
            EXPECT_LE(outcome.lowerBound.value(), truth * (1 + kRelative));
            EXPECT_GE(outcome.plan->objective.value(), truth * (1 - kRelative));
            EXPECT_TRUE(outcome.status != SearchStatus::Optimal || outcome.plan->objective.value() <= truth * (1 + kRelative));
            tally.optimal += outcome.status == SearchStatus::Optimal ? 1 : 0;
            tally.within += outcome.status == SearchStatus::WithinGap ? 1 : 0;
            tally.mostGap = std::max(tally.mostGap, outcome.gap);
            if (::testing::Test::HasFailure()) {
                ADD_FAILURE() << "round " << round << ", budget " << budget.count();
                return tally;
            }
        }
    }
    return tally;
}

TEST(OverlapSearch, NeverClaimsMoreThanBruteForceFinds)
{
    const Tally tally = compareWithBruteForce(4, 1500, 6, 4);
    EXPECT_GT(tally.optimal, tally.within);
}

/// Pieces that cannot lower the bound at the moment must stay: others' bounds rise past them (a false proof, once).
TEST(OverlapBounds, EveryChoiceLiesInSomePiece)
{
    RandomOverlapTables random(5);
    int several = 0;
    for (int round = 0; round < 400; ++round) {
        const CostTable table = random.next(5, 4);
        const Planner planner = prepared(table);
        const auto& state = planner.state();
        for (const MemoryForm& form : state.forms) {
            const OverlapMemory memory = overlapMemory(state.space, form, planner.mostBudget());
            OverlapLabels labels(*state.chain, memory);
            const OverlapRelaxed relaxed = relaxOverlap(labels, 1e-4);
            several += relaxed.pieces.size() > 1 ? 1 : 0;
            forEachChoiceOf(table, [&](const Choice& choice) {
                const auto sum = memory.of(choice);
                const double value = state.chain->seconds(choice) + relaxed.price * static_cast<double>(sum.persist);
                const bool covered = std::any_of(relaxed.pieces.begin(), relaxed.pieces.end(), [&](const OverlapPiece& piece) {
                    return sum.transient < piece.threshold && sum.transient >= piece.transient && value >= piece.value * (1 - kRelative);
                });
                EXPECT_TRUE(covered) << round;
            });
        }
        if (::testing::Test::HasFailure())
            return;
    }
    EXPECT_GT(several, 50);
}

TEST(OverlapSearch, AnswersTheSameEveryTime)
{
    RandomOverlapTables random(6);
    for (int round = 0; round < 20; ++round) {
        const CostTable table = random.next(12, 4);
        const Planner planner = prepared(table);
        const Bytes budget(planner.leastBudget() + Bytes((planner.mostBudget() - planner.leastBudget()).count() / 3));
        const PlanOutcome first = planner.plan(budget);
        for (int again = 0; again < 5; ++again) {
            const PlanOutcome outcome = prepared(table).plan(budget);
            ASSERT_EQ(outcome.plan.has_value(), first.plan.has_value());
            if (!first.plan)
                continue;
            EXPECT_EQ(outcome.plan->choice, first.plan->choice);
            EXPECT_EQ(outcome.lowerBound, first.lowerBound);
            EXPECT_EQ(outcome.work, first.work);
        }
    }
}

/// The search begins with the serial answer, so it is never worse than that one in overlapped time.
TEST(OverlapSearch, IsNeverSlowerThanTheSerialPlan)
{
    RandomOverlapTables random(7);
    int faster = 0;
    for (int round = 0; round < 300; ++round) {
        CostTable table = random.next(8, 4);
        const Planner overlapped = prepared(table);
        table.setup.time = TimeMode::Serial;
        const Planner serial = prepared(table);
        const Bytes budget(random.number(serial.leastBudget().count(), std::max(serial.mostBudget(), serial.leastBudget()).count()));
        const PlanOutcome one = overlapped.plan(budget);
        const PlanOutcome other = serial.plan(budget);
        ASSERT_TRUE(one.plan && other.plan);
        EXPECT_LE(one.plan->objective.value(), other.plan->time.overlapped.value() * (1 + kRelative)) << round;
        faster += one.plan->objective.value() < other.plan->time.overlapped.value() * (1 - 1e-6) ? 1 : 0;
    }
    EXPECT_GT(faster, 50);
}

} // namespace
} // namespace loadline
