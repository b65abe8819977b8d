// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/pins.hpp"
#include "tests/support/cost_table_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loadline {
namespace {

using namespace testing;
using ::testing::HasSubstr;

/// Options in the order: dp, zdp, 1of2, zdp/2, d4, zdp+keep; units attention.0, mlp.1, core.2 (without parameters).
CostTable table()
{
    Strategy kept = sharded(8);
    kept.reshardAfterForward = false;
    CostTableBuilder builder(8);
    const auto usual = builder.costClass({option(replicated(), 800, 10, 100, 0.1), option(sharded(8), 100, 10, 200, 0.2),
                                          option(sharded(8, 2, 1), 450, 10, 100, 0.2), option(sharded(8, 2, 2), 100, 10, 100, 0.3),
                                          option(sharded(4), 200, 10, 200, 0.15), option(kept, 100, 300, 200, 0.12)});
    const auto bare = builder.costClass({option(replicated(), 0, 10, 10, 0)});
    builder.units("attention", usual).units("mlp", usual).units("core", bare);
    builder.table().units.back().parameters = 0;
    return builder.build();
}

std::vector<std::uint32_t> allowed(const std::string& pattern, const std::string& strategy, std::size_t unit)
{
    const auto result = allowedOptions(table(), {{pattern, strategy}});
    EXPECT_TRUE(result.ok()) << result.error().message;
    return result.ok() ? (*result)[unit] : std::vector<std::uint32_t>{};
}

std::string failure(const std::vector<Pin>& pins)
{
    const auto result = allowedOptions(table(), pins);
    return result.ok() ? "" : result.error().message;
}

using Indices = std::vector<std::uint32_t>;

TEST(Pins, ReadEveryStrategyThatLabelsPrint)
{
    EXPECT_EQ(allowed("mlp*", "dp", 1), Indices{0});
    EXPECT_EQ(allowed("mlp*", "zdp", 1), Indices{1});
    EXPECT_EQ(allowed("mlp*", "1of2", 1), Indices{2});
    EXPECT_EQ(allowed("mlp*", "zdp/2", 1), Indices{3});
    EXPECT_EQ(allowed("mlp*", "d4", 1), Indices{4});
    EXPECT_EQ(allowed("mlp*", "zdp+keep", 1), Indices{5});
    EXPECT_EQ(allowed("mlp*", "keep", 1), Indices{5});
    const CostTable some = table();
    for (std::uint32_t i = 0; i < some.options(0).size(); ++i)
        EXPECT_EQ(allowed("attention.0", strategyLabel(some.options(0)[i].strategy, 8), 0), Indices{i});
}

TEST(Pins, LeaveOtherUnitsAlone)
{
    EXPECT_EQ(allowed("mlp*", "dp", 0).size(), 6U);
    EXPECT_EQ(allowed("*", "zdp", 2), Indices{0}); // nothing to shard
}

TEST(Pins, NameWhatIsWrong)
{
    EXPECT_THAT(failure({{"nobody*", "dp"}}), HasSubstr("nobody*=dp"));
    EXPECT_THAT(failure({{"mlp*", "d3"}}), HasSubstr("mlp"));
    EXPECT_THAT(failure({{"mlp*", "zdp/4"}}), HasSubstr("offers"));
    EXPECT_THAT(failure({{"mlp*", "recompute"}}), HasSubstr("mlp"));
    for (const char* unreadable : {"", "zpd", "dp+dp", "3of2", "0of2", "d", "d-1", "zdp/0", "zdp/", "dp+", "d99999999999999999999"})
        EXPECT_THAT(failure({{"*", unreadable}}), HasSubstr("--pin")) << unreadable;
    EXPECT_THAT(failure({{"mlp*", "dp"}, {"*", "zdp"}}), HasSubstr("another pin"));
}

TEST(Pins, BindTheSearch)
{
    CostTable some = table();
    const auto planner = Planner::prepare(some, {{"mlp*", "zdp/2"}});
    ASSERT_TRUE(planner.ok());
    const PlanOutcome outcome = planner->plan(Bytes(1 << 20));
    ASSERT_TRUE(outcome.plan.has_value());
    EXPECT_EQ(outcome.plan->choice, (Choice{0, 3, 0}));
    EXPECT_EQ(outcome.status, SearchStatus::Optimal);
}

} // namespace
} // namespace loadline
