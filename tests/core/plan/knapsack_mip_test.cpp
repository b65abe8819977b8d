// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/plan/knapsack_families.hpp"
#include "tests/core/plan/knapsack_support.hpp"
#include "tests/support/mip_peer.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace loadline::test {
namespace {

class KnapsackMip : public testing::TestWithParam<const char*> {};

/// A general integer-programming solver on counts of each option. Its own tolerances let it call a slightly slower plan
/// optimal, so: where its plan fits to the byte, ours is at least as fast, and hardly faster.
TEST_P(KnapsackMip, IsNeverFasterThanOurPlan)
{
    const std::string solver = GetParam();
    if (!hasMip(solver))
        GTEST_SKIP() << solver << " is not installed: nothing to compare with.";
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / ("loadline-mip-" + solver);
    std::filesystem::create_directories(folder);
    int compared = 0;
    for (const int operators : {20, 90, 400})
        for (const double fraction : {0.15, 0.4, 0.7}) {
            const auto classes = familyOf(Family::Grouped, operators, 2, static_cast<std::uint64_t>(operators));
            const auto problem = Knapsack::prepare(classes);
            ASSERT_TRUE(problem.ok());
            const std::int64_t least = problem->leastBudget();
            const std::int64_t budget = least + static_cast<std::int64_t>(fraction * static_cast<double>(ampleBudget(classes) - least));
            const KnapsackPlan ours = problem->solve(budget);
            ASSERT_EQ(ours.status, SearchStatus::Optimal);
            const auto theirs = askMip(LOADLINE_SOURCE_DIR "/tests/bench/peers/mip", solver, classes, budget, folder.string(), 20);
            if (!theirs)
                continue; // it did not finish
            std::int64_t persist = 0, transient = 0, ticks = 0;
            for (std::size_t g = 0; g < classes.size(); ++g) {
                std::int64_t count = 0;
                for (std::size_t o = 0; o < classes[g].options.size(); ++o) {
                    const std::int64_t copies = theirs->counts[g][o];
                    count += copies;
                    persist += copies * classes[g].options[o].persist;
                    ticks += copies * classes[g].options[o].ticks;
                    if (copies > 0)
                        transient = std::max(transient, classes[g].options[o].transient);
                }
                ASSERT_EQ(count, classes[g].count) << "the model or its reading is wrong";
            }
            if (persist + transient > budget)
                continue; // within its tolerance, not within the budget
            ++compared;
            EXPECT_GE(ticks, ours.ticks);
            EXPECT_LE(static_cast<double>(ticks), 1.0001 * static_cast<double>(ours.ticks));
        }
    EXPECT_GE(compared, 4);
    std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Solvers, KnapsackMip, testing::Values("glpk", "cbc"), [](const auto& one) { return std::string(one.param); });

} // namespace
} // namespace loadline::test
