// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text.hpp"

#include <gtest/gtest.h>

namespace loadline {
namespace {

TEST(FormatBytes, ShowsOneDecimalInBinaryUnits)
{
    EXPECT_EQ(formatBytes(Bytes(0)), "0 B");
    EXPECT_EQ(formatBytes(Bytes(1023)), "1023 B");
    EXPECT_EQ(formatBytes(1_KiB), "1.0 KiB");
    EXPECT_EQ(formatBytes(Bytes(1024 * 1024 - 1)), "1.0 MiB");
    EXPECT_EQ(formatBytes(72_GiB), "72.0 GiB");
    EXPECT_EQ(formatBytes(Bytes(INT64_MAX)), "8.0 EiB");
}

TEST(FormatSeconds, KeepsThreeDigits)
{
    EXPECT_EQ(formatSeconds(Seconds(0.4123)), "412 ms");
    EXPECT_EQ(formatSeconds(Seconds(0.0032)), "3.20 ms");
    EXPECT_EQ(formatSeconds(Seconds(2.345)), "2.35 s");
    EXPECT_EQ(formatSeconds(Seconds(31.44e-6)), "31.4 us");
    EXPECT_EQ(formatSeconds(Seconds(0.9996)), "1.00 s");
}

TEST(FormatCount, KeepsThreeDigits)
{
    EXPECT_EQ(formatCount(816), "816");
    EXPECT_EQ(formatCount(39812), "39.8k");
    EXPECT_EQ(formatCount(8.03e9), "8.03G");
}

TEST(ParseBytes, KnowsBinaryAndDecimalUnits)
{
    EXPECT_EQ(parseBytes("72GiB").value(), 72_GiB);
    EXPECT_EQ(parseBytes(" 1.5 kib ").value(), Bytes(1536));
    EXPECT_EQ(parseBytes("80GB").value(), Bytes(80'000'000'000));
    EXPECT_EQ(parseBytes("4096").value(), Bytes(4096));
    EXPECT_EQ(parseBytes("0").value(), Bytes(0));
    EXPECT_EQ(parseBytes("7PiB").value(), Bytes(7LL << 50));
}

TEST(ParseBytes, RefusesEverythingElse)
{
    for (const char* text : {"", "GiB", "-1GiB", "nan", "inf", "1e99", "72 parsec", "1 2", "0x10", "9000000PiB"})
        EXPECT_FALSE(parseBytes(text).ok()) << text;
}

TEST(ParseBudget, TakesAShareOfTheWhole)
{
    EXPECT_EQ(parseBudget("90%", Bytes(1000)).value(), Bytes(900));
    EXPECT_EQ(parseBudget("2GiB", Bytes(1000)).value(), 2_GiB);
    for (const char* text : {"-1%", "101%", "%", "ten%", "5%%"})
        EXPECT_FALSE(parseBudget(text, Bytes(1000)).ok()) << text;
}

TEST(MatchesPattern, FollowsStarsAndQuestionMarks)
{
    EXPECT_TRUE(matchesPattern("*.mlp.*", "model.layers.0.mlp.up_proj"));
    EXPECT_TRUE(matchesPattern("*", ""));
    EXPECT_TRUE(matchesPattern("a?c*", "abc"));
    EXPECT_TRUE(matchesPattern("*ab*ab", "abab"));
    EXPECT_FALSE(matchesPattern("*.mlp", "model.mlp.up"));
    EXPECT_FALSE(matchesPattern("", "a"));
    EXPECT_TRUE(matchesPattern("a*b*c", "axxbyyc"));
}

} // namespace
} // namespace loadline
