// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/strategy.hpp"

#include <gtest/gtest.h>

namespace loadline {
namespace {

Strategy make(std::int64_t group, int slices, int sharded, bool recompute = false, bool reshard = true)
{
    return {group, slices, sharded, recompute, reshard};
}

TEST(Strategy, LabelsAreThoseOfPins)
{
    EXPECT_EQ(strategyLabel(make(1, 1, 0), 64), "dp");
    EXPECT_EQ(strategyLabel(make(64, 1, 1), 64), "zdp");
    EXPECT_EQ(strategyLabel(make(8, 1, 1), 64), "d8");
    EXPECT_EQ(strategyLabel(make(64, 4, 4), 64), "zdp/4");
    EXPECT_EQ(strategyLabel(make(64, 4, 2), 64), "2of4");
    EXPECT_EQ(strategyLabel(make(8, 4, 2), 64), "d8:2of4");
    EXPECT_EQ(strategyLabel(make(8, 4, 4, true, true), 64), "d8/4+recompute");
    EXPECT_EQ(strategyLabel(make(64, 1, 1, true, false), 64), "zdp+recompute+keep");
}

TEST(Strategy, EveryLabelReadsBack)
{
    for (const std::int64_t ranks : {2, 3, 8, 64, 100000})
        for (std::int64_t group = 1; group <= ranks; ++group) {
            if (ranks % group != 0)
                continue;
            for (const int slices : {1, 2, 4, 8})
                for (int sharded = group == 1 ? 0 : 1; sharded <= (group == 1 ? 0 : slices); ++sharded)
                    for (const bool recompute : {false, true})
                        for (const bool reshard : {false, true}) {
                            if (sharded == 0 && !reshard)
                                continue;
                            const Strategy strategy = make(group, slices, sharded, recompute, reshard);
                            const std::string label = strategyLabel(strategy, ranks);
                            const auto read = parseStrategy(label, ranks);
                            ASSERT_TRUE(read.ok()) << label << ": " << read.error().message;
                            ASSERT_EQ(*read, strategy) << label;
                        }
        }
}

TEST(Strategy, OneRankHasNothingToShard)
{
    const auto read = parseStrategy("zdp", 1);
    ASSERT_TRUE(read.ok());
    EXPECT_TRUE(read->replicated());
    EXPECT_EQ(read->group, 1);
}

TEST(Strategy, WhatCannotBeIsRefusedInOneSentence)
{
    for (const char* text : {"",
                             "xyz",
                             "d",
                             "d0",
                             "d-1",
                             "d3",
                             "d128",
                             "zdp/0",
                             "zdp/x",
                             "5of4",
                             "of4",
                             "2of",
                             "2of0",
                             "d8:",
                             "d8:zdp",
                             "dp+dp",
                             "zdp+zdp",
                             "dp+keep",
                             "zdp/99999999999999999999",
                             "recompute+",
                             "zdp/2000",
                             "DP",
                             "zdp ",
                             "-1of4"}) {
        const auto read = parseStrategy(text, 64);
        EXPECT_FALSE(read.ok()) << text;
        if (!read.ok()) {
            EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
            EXPECT_NE(read.error().message.find(text), std::string::npos);
        }
    }
}

TEST(Strategy, RecomputeAndKeepStandAlone)
{
    EXPECT_TRUE(parseStrategy("recompute", 8)->recompute);
    EXPECT_TRUE(parseStrategy("recompute", 8)->replicated());
    EXPECT_FALSE(parseStrategy("keep", 8)->reshardAfterForward);
    EXPECT_EQ(parseStrategy("keep", 8)->group, 8);
}

} // namespace
} // namespace loadline
