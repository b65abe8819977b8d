// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/problem.hpp"

#include "core/base/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace loadline {
namespace {

using testing::HasSubstr;

const std::string kOption = R"({"persist": 1, "transient": 2, "time_ps": 3})";

std::string withClasses(const std::string& classes)
{
    return R"({"format": "loadline.problem/1", "budget": 100, "classes": )" + classes + "}";
}

std::string problem(const std::string& text)
{
    const auto read = readProblem(text, "'p.json'");
    return read ? std::string() : read.error().message;
}

TEST(ReadProblem, ReadsTheContractsExample)
{
    const auto read = readProblem(R"({"format": "loadline.problem/1", "budget": 85899345920, "name": "any", "more": [{"a": 1}, {"a": 2}],
      "classes": [{"count": 48, "options": [{"persist": 1610612736, "transient": 0, "time_ps": 250000000},
                                            {"time_ps": 1e6, "transient": 7, "persist": 5, "label": "zdp"}]}]})",
                                  "here");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->budget, 85899345920);
    ASSERT_EQ(read->classes.size(), 1U);
    EXPECT_EQ(read->classes[0].count, 48);
    ASSERT_EQ(read->classes[0].options.size(), 2U);
    EXPECT_EQ(read->classes[0].options[0], (KnapsackOption{1610612736, 0, 250000000}));
    EXPECT_EQ(read->classes[0].options[1], (KnapsackOption{5, 7, 1000000})) << "keys in any order; 1e6 is a whole number";
}

TEST(ReadProblem, CountIsOneIfNotGiven)
{
    const auto read = readProblem(withClasses(R"([{"options": [)" + kOption + "]}]"), "here");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->classes[0].count, 1);
}

TEST(ReadProblem, ErrorsSayWhere)
{
    EXPECT_THAT(problem(""), HasSubstr("'p.json'"));
    EXPECT_THAT(problem("[]"), HasSubstr("must be an object"));
    EXPECT_THAT(problem("3"), HasSubstr("must be an object"));
    EXPECT_THAT(problem(R"({"budget": 1, "classes": []})"), HasSubstr("format"));
    EXPECT_THAT(problem(R"({"format": "loadline.problem/2"})"), HasSubstr("loadline.problem/2"));
    EXPECT_THAT(problem(R"({"format": "loadline.problem/1", "classes": [{"options": [)" + kOption + "]}]}"), HasSubstr("budget"));
    EXPECT_THAT(problem(withClasses("[]")), HasSubstr("no classes"));
    EXPECT_THAT(problem(withClasses("{}")), HasSubstr("'classes'"));
    EXPECT_THAT(problem(withClasses("[3]")), HasSubstr("class 0"));
    EXPECT_THAT(problem(withClasses(R"([{"count": 1}])")), HasSubstr("class 0 has no options"));
    EXPECT_THAT(problem(withClasses(R"([{"options": [)" + kOption + R"(]}, {"options": [{"persist": 1, "transient": 1}]}])")),
                HasSubstr("class 1, option 0 lacks 'time_ps'"));
    EXPECT_THAT(problem(withClasses(R"([{"options": [{"persist": -1, "transient": 1, "time_ps": 1}]}])")), HasSubstr("'persist'"));
    EXPECT_THAT(problem(withClasses(R"([{"options": [{"persist": 1.5, "transient": 1, "time_ps": 1}]}])")), HasSubstr("'persist'"));
    EXPECT_THAT(problem(withClasses(R"([{"options": [{"persist": "1", "transient": 1, "time_ps": 1}]}])")), HasSubstr("a text"));
    EXPECT_THAT(problem(withClasses(R"([{"options": [{"persist": null, "transient": 1, "time_ps": 1}]}])")), HasSubstr("null"));
    EXPECT_THAT(problem(withClasses(R"([{"options": [{"persist": 1e99, "transient": 1, "time_ps": 1}]}])")), HasSubstr("'persist'"));
    EXPECT_THAT(problem(withClasses(R"([{"options": [{"persist": 18446744073709551615, "transient": 1, "time_ps": 1}]}])")),
                HasSubstr("too large"));
    EXPECT_THAT(problem(withClasses(R"([{"options": [{"persist": NaN, "transient": 1, "time_ps": 1}]}])")), HasSubstr("line 1"));
    EXPECT_THAT(problem(withClasses(R"([{"options": [{"persist": 1, "persist": 1, "time_ps": 1}]}])")), HasSubstr("twice"));
    EXPECT_THAT(problem(withClasses(R"([{"options": [[1]]}])")), HasSubstr("option"));
    EXPECT_THAT(problem("{\"format\": \"loadline.problem/1\",\n\"budget\": 1,\n\"classes\": ["), HasSubstr("line 3"));
    EXPECT_THAT(problem("{\"a\xff\": 1}"), HasSubstr("line 1"));
}

TEST(ReadProblem, DepthIsLimited)
{
    std::string deep;
    for (int i = 0; i < 100000; ++i)
        deep += "[";
    EXPECT_THAT(problem(R"({"x": )" + deep), HasSubstr("nested"));
}

TEST(SolutionJson, HasTheContractsKeys)
{
    KnapsackPlan plan;
    plan.status = SearchStatus::Optimal;
    plan.ticks = 7;
    plan.lowerBound = 7;
    plan.persist = 3;
    plan.transient = 1;
    plan.picks = {{{0, 46}, {2, 2}}};
    plan.work = 9;
    const auto json = Json::parse(solutionJson(plan, 0.5));
    EXPECT_EQ(json["format"], "loadline.solution/1");
    EXPECT_EQ(json["status"], "optimal");
    EXPECT_EQ(json["time_ps"], 7);
    EXPECT_EQ(json["lower_bound_ps"], 7);
    EXPECT_EQ(json["persist_bytes"], 3);
    EXPECT_EQ(json["transient_bytes"], 1);
    EXPECT_EQ(json["picks"].dump(), "[[[0,46],[2,2]]]");
    EXPECT_EQ(json["work"], 9);
    EXPECT_EQ(json["solve_ms"], 0.5);
}

TEST(ProblemFrontier, CornersAsJsonAndCsv)
{
    const KnapsackFrontier frontier{{{10, 5}, {20, 3}}, true, 4};
    const auto json = Json::parse(problemFrontierJson(frontier, 1));
    EXPECT_EQ(json["corners"].dump(), "[[10,5],[20,3]]");
    EXPECT_EQ(json["exact"], true);
    EXPECT_EQ(problemFrontierCsv(frontier), "bytes,time_ps\n10,5\n20,3\n");
}

} // namespace
} // namespace loadline
