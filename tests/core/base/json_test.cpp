// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace loadline {
namespace {

std::string problemWith(const std::string& text, JsonDialect dialect = JsonDialect::Strict)
{
    const auto parsed = parseJson(text, "'x.json'", dialect);
    return parsed.ok() ? "" : parsed.error().message;
}

TEST(ParseJson, ReadsADocumentInOrder)
{
    const auto parsed = parseJson(R"({"b": 1, "a": [true, null, -2.5, "\u00e9"]})", "x");
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    EXPECT_EQ(parsed->begin().key(), "b");
    EXPECT_EQ((*parsed)["a"][2], -2.5);
}

TEST(ParseJson, NamesTheLineOfAMistake)
{
    EXPECT_NE(problemWith("{\n\"a\": 1,\n}").find("'x.json', line 3"), std::string::npos) << problemWith("{\n\"a\": 1,\n}");
}

TEST(ParseJson, RefusesWhatHidesMistakes)
{
    EXPECT_NE(problemWith(R"({"a": 1, "a": 2})").find("'a' twice"), std::string::npos);
    EXPECT_NE(problemWith(std::string(100, '[') + std::string(100, ']')).find("nested deeper"), std::string::npos);
    EXPECT_NE(problemWith(std::string(100000, '[')), "");
    for (const char* text : {"", " ", "{", "nul", "{\"a\":NaN}", "\"\xff\xfe\"", "1e999", "[1,]", "{} {}"})
        EXPECT_NE(problemWith(text), "") << text;
}

TEST(ParseJson, PythonDialectReadsBareWordsAsNull)
{
    const auto parsed = parseJson(R"({"a": NaN, "b": [Infinity, -Infinity], "c": "NaN Infinity"})", "x", JsonDialect::Python);
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    EXPECT_TRUE((*parsed)["a"].is_null());
    EXPECT_TRUE((*parsed)["b"][1].is_null());
    EXPECT_EQ((*parsed)["c"], "NaN Infinity");
}

} // namespace
} // namespace loadline
