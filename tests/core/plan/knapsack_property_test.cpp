// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/plan/knapsack_families.hpp"
#include "tests/core/plan/knapsack_support.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include <atomic>
#include <thread>

namespace loadline::test {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

Knapsack prepared(const std::vector<KnapsackClass>& classes)
{
    auto result = Knapsack::prepare(classes);
    if (!result.ok())
        throw std::invalid_argument(result.error().message);
    return std::move(result).value();
}

TEST(KnapsackProperty, MoreBudgetIsNeverSlower)
{
    for (const Family family : {Family::Grouped, Family::Noisy, Family::Analytic, Family::Uncorrelated}) {
        const auto classes = familyOf(family, family == Family::Grouped ? 300 : 60, 4, 8);
        const Knapsack problem = prepared(classes);
        const std::int64_t least = problem.leastBudget(), ample = ampleBudget(classes);
        std::int64_t before = kLargest, boundBefore = kLargest;
        for (int i = 0; i <= 150; ++i) {
            const std::int64_t budget = least + static_cast<std::int64_t>(static_cast<double>(ample - least) * i / 150);
            const KnapsackPlan plan = problem.solve(budget);
            ASSERT_EQ(plan.status, SearchStatus::Optimal);
            ASSERT_LE(plan.ticks, before);
            ASSERT_LE(problem.relaxedBound(budget), boundBefore);
            ASSERT_LE(problem.relaxedBound(budget), plan.ticks);
            before = plan.ticks;
            boundBefore = problem.relaxedBound(budget);
        }
        EXPECT_EQ(problem.solve(kLargest).ticks, before);
    }
}

TEST(KnapsackProperty, SameAnswerEveryTimeAndInWhateverOrderTheClassesCome)
{
    for (const Family family : {Family::Grouped, Family::Noisy, Family::Analytic, Family::SubsetSum}) {
        auto classes = familyOf(family, family == Family::Grouped ? 120 : 20, 3, 9);
        const Knapsack problem = prepared(classes);
        const std::int64_t budget = (problem.leastBudget() + ampleBudget(classes)) / 2;
        const KnapsackPlan first = problem.solve(budget), second = problem.solve(budget);
        EXPECT_EQ(first.picks, second.picks);
        EXPECT_EQ(first.work, second.work);
        EXPECT_EQ(first.multiplier, second.multiplier);
        std::reverse(classes.begin(), classes.end());
        for (KnapsackClass& one : classes)
            std::reverse(one.options.begin(), one.options.end());
        const KnapsackPlan reversed = prepared(classes).solve(budget);
        EXPECT_EQ(reversed.ticks, first.ticks);
        EXPECT_EQ(faultOf(classes, reversed, budget), "");
    }
}

TEST(KnapsackProperty, OneClassOfManyAndManyClassesOfOneAreTheSame)
{
    const auto together = familyOf(Family::Grouped, 90, 4, 10);
    std::vector<KnapsackClass> apart;
    for (const KnapsackClass& one : together)
        for (std::int64_t i = 0; i < one.count; ++i)
            apart.push_back({one.options, 1});
    const Knapsack first = prepared(together), second = prepared(apart);
    for (const double fraction : {0.1, 0.4, 0.7}) {
        const std::int64_t least = first.leastBudget();
        const std::int64_t budget = least + static_cast<std::int64_t>(fraction * static_cast<double>(ampleBudget(together) - least));
        const KnapsackPlan one = first.solve(budget), other = second.solve(budget);
        EXPECT_EQ(one.ticks, other.ticks);
        EXPECT_EQ(one.work, other.work); // found equal in preparation, so searched alike
        EXPECT_EQ(faultOf(apart, other, budget), "");
    }
}

TEST(KnapsackProperty, AnswersFromManyThreadsAreTheSame)
{
    const auto classes = familyOf(Family::Noisy, 80, 4, 11);
    const Knapsack problem = prepared(classes);
    const std::int64_t least = problem.leastBudget(), ample = ampleBudget(classes);
    std::atomic<int> wrong = 0;
    std::vector<std::int64_t> expected;
    for (int i = 0; i < 20; ++i)
        expected.push_back(problem.solve(least + (ample - least) / 20 * i).ticks);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            const Knapsack copy = problem; // shares what was prepared
            for (int i = 0; i < 20; ++i)
                wrong += copy.solve(least + (ample - least) / 20 * i).ticks == expected[static_cast<std::size_t>(i)] ? 0 : 1;
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(wrong, 0);
}

/// A problem far too hard to finish: stopping must end it, and what comes back must be sound.
TEST(KnapsackProperty, StopsWhenAskedAndStillAnswers)
{
    const auto classes = familyOf(Family::SubsetSum, 400, 8, 12);
    const Knapsack problem = prepared(classes);
    const std::int64_t budget = (problem.leastBudget() + ampleBudget(classes)) / 2;
    SearchLimits limits;
    limits.work = kLargest;
    limits.listCap = 1 << 16;
    std::stop_source source;
    limits.stop = source.get_token();
    std::atomic<bool> done = false;
    KnapsackPlan plan;
    std::thread searcher([&] {
        plan = problem.solve(budget, limits);
        done = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    source.request_stop();
    searcher.join();
    EXPECT_TRUE(done);
    EXPECT_EQ(faultOf(classes, plan, budget), "");
    EXPECT_GE(plan.lowerBound, problem.relaxedBound(budget) - 1);
    EXPECT_TRUE(plan.cancelled || plan.status == SearchStatus::Optimal);

    // Asked before it starts: the relaxation's rounding is all, at once.
    const KnapsackPlan atOnce = problem.solve(budget, limits);
    EXPECT_TRUE(atOnce.cancelled);
    EXPECT_EQ(faultOf(classes, atOnce, budget), "");
    EXPECT_LT(atOnce.work, 2'000'000);
}

TEST(KnapsackProperty, StopIsSeenWithinLittleWork)
{
    // Counted, not timed: the token is looked at every 20,000 units of some 10 ns.
    const auto classes = familyOf(Family::Noisy, 2000, 4, 13);
    const Knapsack problem = prepared(classes);
    SearchLimits limits;
    std::stop_source source;
    source.request_stop();
    limits.stop = source.get_token();
    const KnapsackPlan plan = problem.solve((problem.leastBudget() + ampleBudget(classes)) / 3, limits);
    EXPECT_TRUE(plan.cancelled);
    EXPECT_LT(plan.work, 300'000);
}

TEST(KnapsackProperty, TenThousandDifferentClasses)
{
    const auto classes = familyOf(Family::Noisy, 10'000, 4, 14);
    const Knapsack problem = prepared(classes);
    const std::int64_t least = problem.leastBudget(), ample = ampleBudget(classes);
    for (const double fraction : {0.0, 0.3, 0.8}) {
        const std::int64_t budget = least + static_cast<std::int64_t>(fraction * static_cast<double>(ample - least));
        const KnapsackPlan plan = problem.solve(budget);
        EXPECT_EQ(faultOf(classes, plan, budget), "");
        EXPECT_LT(static_cast<double>(plan.ticks - plan.lowerBound), 1e-6 * static_cast<double>(plan.ticks));
    }
}

TEST(KnapsackProperty, ManyOptionsWithDifferentTransients)
{
    KnapsackClass one;
    for (std::int64_t i = 0; i < 3000; ++i)
        one.options.push_back({i * 7919 % 3001, i * 104729 % 3001, i * 1299709 % 3001});
    const Knapsack problem = prepared({one, one, {{{5, 5, 5}}, 3}});
    const std::int64_t budget = 1500;
    const KnapsackPlan plan = problem.solve(budget);
    EXPECT_EQ(plan.status, SearchStatus::Optimal);
    EXPECT_EQ(faultOf(problem.classes(), plan, budget), "");
}

TEST(KnapsackProperty, RefusesWhatCannotBeAskedInOneSentence)
{
    const auto message = [](std::vector<KnapsackClass> classes) {
        const auto result = Knapsack::prepare(std::move(classes));
        return result.ok() ? std::string() : result.error().message;
    };
    EXPECT_NE(message({}), "");
    EXPECT_NE(message({{{}, 1}}), "");
    EXPECT_NE(message({{{{1, 1, 1}}, 0}}), "");
    EXPECT_NE(message({{{{1, 1, 1}}, -5}}), "");
    EXPECT_NE(message({{{{-1, 1, 1}}, 1}}), "");
    EXPECT_NE(message({{{{1, -1, 1}}, 1}}), "");
    EXPECT_NE(message({{{{1, 1, -1}}, 1}}), "");
    EXPECT_NE(message({{{{1, 1, 1}}, 1}, {{{1, 1, 1}, {2, 2, -2}}, 1}}).find("Class 1"), std::string::npos);
    // Sums that 64 bits cannot hold.
    EXPECT_NE(message({{{{kLargest, 0, 1}}, 2}}), "");
    EXPECT_NE(message({{{{1, 0, kLargest}}, 1}}), "");
    EXPECT_NE(message({{{{1, kLargest, 1}}, 1}}), "");
    EXPECT_NE(message({{{{1, 0, 1}}, kLargest}}), "");
    EXPECT_NE(message({{{{kLargest / 4, kLargest / 4, 1}}, 1}}), "");
    EXPECT_EQ(message({{{{1, 0, 1}}, 1}}), "");
}

TEST(KnapsackProperty, ExtremeButLegalNumbers)
{
    const std::int64_t huge = std::int64_t{1} << 59;
    const std::vector<KnapsackClass> classes{{{{huge, 0, 0}, {0, huge, huge}, {huge / 2, 1, huge / 2}}, 2}, {{{1, 1, 1}}, 1}};
    const Knapsack problem = prepared(classes);
    for (const std::int64_t budget : {std::int64_t{0}, huge, huge + 1, huge + 2, 2 * huge, 3 * huge, kLargest, std::int64_t{-1}}) {
        const KnapsackPlan plan = problem.solve(budget);
        const std::int64_t best = bruteForce(classes, budget);
        if (best == kNone) {
            EXPECT_EQ(plan.status, SearchStatus::Infeasible);
            continue;
        }
        EXPECT_EQ(plan.ticks, best) << budget;
        EXPECT_LE(plan.lowerBound, best);
        EXPECT_EQ(faultOf(classes, plan, budget), "");
    }
    // A single operator asked for ten thousand million times.
    const std::vector<KnapsackClass> many{{{{3, 1, 1}, {1, 2, 2}}, 10'000'000'000}};
    const KnapsackPlan plan = prepared(many).solve(20'000'000'003);
    EXPECT_EQ(plan.status, SearchStatus::Optimal);
    EXPECT_EQ(faultOf(many, plan, 20'000'000'003), "");
    EXPECT_EQ(plan.ticks, 15'000'000'000);
}

} // namespace
} // namespace loadline::test
