// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/planner.hpp"
#include "tests/support/plan_setups.hpp"

#include <gtest/gtest.h>

namespace loadline {
namespace {

using namespace testing;

TEST(FlipBudgets, NameABudgetAtWhichTheUnitHasChanged)
{
    const auto planner = Planner::prepare(*buildCostTable(tinyGpt()), {});
    const Bytes range = planner->mostBudget() - planner->leastBudget();
    const PlanOutcome outcome = planner->plan(planner->leastBudget() + Bytes(range.count() / 3));
    ASSERT_TRUE(outcome.plan.has_value());
    const auto flips = flipBudgets(*planner, outcome);
    ASSERT_EQ(flips.size(), planner->table().units.size());
    int found = 0;
    for (std::size_t unit = 0; unit < flips.size(); ++unit) {
        if (!flips[unit])
            continue;
        ++found;
        EXPECT_GT(*flips[unit], outcome.budget);
        EXPECT_LE(*flips[unit], planner->mostBudget());
        EXPECT_NE(planner->plan(*flips[unit]).plan->choice[unit], outcome.plan->choice[unit]) << planner->table().units[unit].name;
    }
    EXPECT_GT(found, 0);
}

TEST(FlipBudgets, AreEmptyWhereMoreMemoryChangesNothing)
{
    const auto planner = Planner::prepare(*buildCostTable(tinyGpt()), {});
    for (const auto& flip : flipBudgets(*planner, planner->plan(planner->mostBudget())))
        EXPECT_FALSE(flip.has_value());
    const auto none = flipBudgets(*planner, planner->plan(Bytes(1)));
    EXPECT_EQ(none.size(), planner->table().units.size());
}

} // namespace
} // namespace loadline
