// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/knapsack_core.hpp"
#include "core/plan/knapsack_prepared.hpp"
#include "core/plan/knapsack_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loadline::test {
namespace {

using namespace knapsack;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::UnorderedElementsAre;

/// docs/search.md, 10: every number that stands there.
class KnapsackExample : public testing::Test {
protected:
    static constexpr std::int64_t kBudget = 24;
    const std::vector<KnapsackClass> m_classes{{{{10, 0, 2}, {7, 2, 7}, {4, 3, 10}}, 2}, {{{12, 0, 5}, {3, 4, 14}}, 1}};
    const Knapsack m_problem = Knapsack::prepare(m_classes).value();
    const SearchLimits m_limits;
    Effort m_effort{m_limits};

    std::vector<std::uint32_t> levels(std::int64_t threshold) const
    {
        std::vector<std::uint32_t> result;
        EXPECT_TRUE(levelsAt(m_problem.prepared(), threshold, result));
        return result;
    }
    Relaxation relaxed(std::int64_t threshold) { return relax(m_problem.prepared(), levels(threshold), kBudget - threshold, 0, m_effort); }
};

TEST_F(KnapsackExample, ThresholdsAndLeastBudget)
{
    EXPECT_THAT(m_problem.prepared().thresholds, ElementsAre(4, 3, 2, 0));
    EXPECT_EQ(m_problem.leastBudget(), 15);
    EXPECT_TRUE(relaxed(4).feasible);
    EXPECT_TRUE(relaxed(3).feasible);
    EXPECT_FALSE(relaxed(2).feasible);
    EXPECT_FALSE(relaxed(0).feasible);
}

TEST_F(KnapsackExample, Relaxations)
{
    EXPECT_NEAR(relaxed(4).price, 4.0 / 3, 1e-12);
    EXPECT_NEAR(relaxed(4).bound, 22, 1e-12);
    EXPECT_NEAR(relaxed(3).bound, 23 + 2.0 / 3, 1e-12);
    EXPECT_EQ(m_problem.relaxedBound(kBudget), 22);
}

TEST_F(KnapsackExample, BaseCostsAndRounding)
{
    Incumbent incumbent;
    Core core(m_problem.prepared(), incumbent, true);
    core.open(4, levels(4), relaxed(4), kBudget - 4);
    EXPECT_EQ(core.baseTicks, 26);
    EXPECT_EQ(core.freeBytes, 3);
    EXPECT_EQ(incumbent.ticks, 26);
    EXPECT_NEAR(core.allowance(), 3, 0.01);
    core.list();
    std::vector<double> costs;
    for (const Deviation& one : core.deviations)
        costs.push_back(one.cost);
    const auto about = [](double value) { return DoubleNear(value, 1e-9); };
    EXPECT_THAT(costs, UnorderedElementsAre(about(0), about(1), about(0), about(1), about(3)));
    core.listSteps();
    roundGreedily(core, incumbent);
    EXPECT_EQ(incumbent.ticks, 23);
    EXPECT_NEAR(core.allowance(), 0, 0.01);
    core.list();
    EXPECT_EQ(core.deviations.size(), 2U);
    core.sortItems(10);
    core.listSteps();
    PairedLists lists(m_problem.prepared(), core, incumbent, m_effort);
    const PassResult result = lists.run(100, 10);
    EXPECT_FALSE(result.truncated);
    EXPECT_EQ(incumbent.ticks, 23);
}

TEST_F(KnapsackExample, Answer)
{
    const KnapsackPlan plan = m_problem.solve(kBudget);
    EXPECT_EQ(plan.status, SearchStatus::Optimal);
    EXPECT_EQ(plan.ticks, 23);
    EXPECT_EQ(plan.lowerBound, 23);
    EXPECT_EQ(plan.persist, 20);
    EXPECT_EQ(plan.transient, 4);
    EXPECT_NEAR(plan.multiplier, 4.0 / 3, 1e-12);
    using Picks = std::vector<std::pair<std::uint32_t, std::int64_t>>;
    EXPECT_THAT(plan.picks, ElementsAre(Picks{{0, 1}, {1, 1}}, Picks{{1, 1}}));
}

TEST_F(KnapsackExample, WholeTradeOff)
{
    const KnapsackFrontier frontier = exactFrontier(m_problem);
    EXPECT_TRUE(frontier.exact);
    EXPECT_THAT(frontier.points, ElementsAreArray(std::vector<FrontierPoint>{
                                     {15, 34}, {18, 31}, {21, 26}, {23, 25}, {24, 23}, {26, 22}, {27, 18}, {29, 17}, {31, 14}, {32, 9}}));
}

} // namespace
} // namespace loadline::test
