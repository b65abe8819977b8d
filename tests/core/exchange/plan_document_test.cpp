// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/compare.hpp"
#include "core/exchange/plan_document.hpp"

#include "core/base/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace loadline {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

PlanDocument solved(const std::string& runtime, const std::string& unit, std::vector<std::string> pins = {})
{
    RequestOptions options;
    options.model = "gpt-tiny";
    options.batch = "1";
    options.runtime = runtime;
    options.unit = unit;
    options.pins = std::move(pins);
    options.overhead = "0";
    options.dropout = "0.1";
    auto resolved = resolveRequest(options);
    EXPECT_TRUE(resolved) << (resolved ? "" : resolved.error().message);
    auto outcome = makePlan(resolved->request);
    EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message);
    EXPECT_TRUE(outcome->plan);
    PlanDocument document;
    document.setup = outcome->plan->table.setup;
    document.pins = resolved->request.pins;
    document.provenance = resolved->provenance;
    document.outcome = std::move(*outcome);
    return document;
}

class PlanRoundTrip : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(PlanRoundTrip, ReadsBackEqualAndHolds)
{
    const auto document = solved(GetParam().first, GetParam().second);
    const auto text = planJson(document);
    const auto read = readPlan(text, "here");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_THAT(planViolations(*read), IsEmpty());
    EXPECT_EQ(read->document.outcome.plan->choice, document.outcome.plan->choice);
    EXPECT_EQ(read->document.outcome.plan->peak, document.outcome.plan->peak);
    EXPECT_EQ(read->document.outcome.plan->objective, document.outcome.plan->objective);
    EXPECT_EQ(*read->document.setup.model, *document.setup.model);
    EXPECT_EQ(read->document.setup.cluster, document.setup.cluster);
    EXPECT_EQ(read->document.setup.rules, document.setup.rules);
    EXPECT_EQ(read->document.setup.dropout, document.setup.dropout);
    EXPECT_EQ(read->document.setup.overhead, document.setup.overhead);
    EXPECT_EQ(read->document.provenance, document.provenance);
    EXPECT_EQ(planJson(read->document), text);
}

INSTANTIATE_TEST_SUITE_P(Runtimes, PlanRoundTrip,
                         testing::Values(std::pair{"loadline", "operator"}, std::pair{"loadline", "block"}, std::pair{"loadline", "part"},
                                         std::pair{"fsdp2", "operator"}, std::pair{"fsdp2", "block"},
                                         std::pair{"osdp-release", "operator"}),
                         [](const auto& tested) {
                             std::string name = std::string(tested.param.first) + '_' + tested.param.second;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST(PlanJson, PartsSumToThePeak)
{
    const auto document = solved("loadline", "operator");
    const auto parts = peakParts(*document.outcome.plan);
    EXPECT_EQ(parts.states + parts.activations + parts.transient + parts.overhead, document.outcome.plan->peak);
}

TEST(ReadPlan, TamperedFiguresAreViolations)
{
    const auto text = planJson(solved("loadline", "operator"));
    const auto change = [&](auto edit) {
        auto json = Json::parse(text);
        edit(json);
        const auto read = readPlan(json.dump(), "here");
        EXPECT_TRUE(read) << (read ? "" : read.error().message);
        return read ? planViolations(*read).size() : std::size_t{0};
    };
    EXPECT_EQ(change([](Json&) {}), 0U);
    EXPECT_GT(change([](Json& j) { j["memory"]["peak_bytes"] = 1; }), 0U);
    EXPECT_GT(change([](Json& j) { j["memory"]["states_bytes"] = j["memory"]["states_bytes"].get<std::int64_t>() + 1; }), 0U);
    EXPECT_GT(change([](Json& j) { j["memory"]["budget_bytes"] = 1; }), 0U);
    EXPECT_GT(change([](Json& j) { j["step_seconds"] = 1e-9; }), 0U);
    EXPECT_GT(change([](Json& j) { j["time"]["overlapped_seconds"] = 1e-9; }), 0U);
    EXPECT_GT(change([](Json& j) { j["samples_per_second"] = 1e9; }), 0U);
    EXPECT_GT(change([](Json& j) { j["ranks"] = 4; }), 0U);
    EXPECT_GT(change([](Json& j) { j["gap"] = 0.5; }), 0U);
    EXPECT_GT(change([](Json& j) { j["operators"][0]["parameters"] = 3; }), 0U);
    EXPECT_GT(change([](Json& j) { j["setup"]["pins"] = Json::parse(R"([{"pattern": "no-such-operator", "strategy": "dp"}])"); }), 0U);
    EXPECT_GT(change([](Json& j) {
                  j["setup"]["cluster"]["nodes"] = 2;
                  j["ranks"] = 16;
              }),
              0U)
        << "another cluster, another plan";
}

TEST(ReadPlan, BrokenDocumentsAreErrorsThatNameTheKey)
{
    const auto text = planJson(solved("loadline", "operator"));
    const auto error = [&](auto edit) {
        auto json = Json::parse(text);
        edit(json);
        const auto read = readPlan(json.dump(), "here");
        return read ? std::string("read") : read.error().message;
    };
    EXPECT_THAT(error([](Json& j) { j["format"] = "loadline.plan/2"; }), HasSubstr("here"));
    EXPECT_THAT(error([](Json& j) { j["status"] = "perfect"; }), HasSubstr("status"));
    EXPECT_THAT(error([](Json& j) { j.erase("batch"); }), HasSubstr("batch"));
    EXPECT_THAT(error([](Json& j) { j["batch"] = -1; }), HasSubstr("batch"));
    EXPECT_THAT(error([](Json& j) { j["step_seconds"] = "fast"; }), HasSubstr("step_seconds"));
    EXPECT_THAT(error([](Json& j) { j["memory"] = 3; }), HasSubstr("memory"));
    EXPECT_THAT(error([](Json& j) { j["operators"].erase(0); }), HasSubstr("operators"));
    EXPECT_THAT(error([](Json& j) { j["operators"][0]["name"] = "other"; }), HasSubstr("operators[0]"));
    EXPECT_THAT(error([](Json& j) { j["operators"][0]["group"] = 7; }), HasSubstr("not offer"));
    EXPECT_THAT(error([](Json& j) { j["operators"][0]["recompute"] = "no"; }), HasSubstr("recompute"));
    EXPECT_THAT(error([](Json& j) { j["setup"]["model"] = 1; }), HasSubstr("setup.model"));
    EXPECT_THAT(error([](Json& j) { j["setup"]["cluster"]["nodes"] = -1; }), HasSubstr("setup.cluster"));
    EXPECT_THAT(error([](Json& j) { j["setup"]["runtime"] = "tpu"; }), HasSubstr("tpu"));
    EXPECT_THAT(error([](Json& j) { j["setup"]["granularities"] = 1; }), HasSubstr("granularities"));
    EXPECT_THAT(error([](Json& j) { j["setup"]["pins"] = 1; }), HasSubstr("pins"));
    EXPECT_THAT(error([](Json& j) { j["setup"] = 1; }), HasSubstr("setup"));
    EXPECT_FALSE(readPlan("", "here"));
    EXPECT_FALSE(readPlan("{}", "here"));
    EXPECT_FALSE(readPlan("\xff", "here"));
    for (std::size_t length = 0; length < text.size(); length += 997)
        EXPECT_FALSE(readPlan(std::string_view(text).substr(0, length), "here")) << length;
}

TEST(ComparePlans, ListsWhatDiffers)
{
    const auto a = solved("loadline", "operator");
    EXPECT_THAT(comparePlans(a, a).operators, IsEmpty());
    EXPECT_THAT(comparePlans(a, a).settings, IsEmpty());
    EXPECT_EQ(comparePlans(a, a).sameOperators, static_cast<std::int64_t>(a.setup.model->operators.size()));

    const auto strategies = strategiesByOperator(a.outcome.plan->table, a.outcome.plan->choice);
    std::size_t changed = 0;
    while (a.setup.model->operators[changed].parameterCount() == 0)
        ++changed;
    const auto name = a.setup.model->operators[changed].name;
    const auto b = solved("loadline", "operator", {name + "=" + (strategies[changed].group == 1 ? "zdp" : "dp")});
    const auto difference = comparePlans(a, b);
    ASSERT_THAT(difference.operators, testing::SizeIs(testing::Ge(1)));
    EXPECT_TRUE(
        std::any_of(difference.operators.begin(), difference.operators.end(), [&](const auto& entry) { return entry.name == name; }));
    EXPECT_EQ(difference.sameOperators + static_cast<std::int64_t>(difference.operators.size()),
              static_cast<std::int64_t>(a.setup.model->operators.size()));
    const auto json = Json::parse(comparisonJson(difference));
    EXPECT_EQ(json["format"], "loadline.comparison/1");
    EXPECT_EQ(json["operators"].size(), difference.operators.size());

    const auto c = solved("fsdp2", "block");
    EXPECT_THAT(comparePlans(a, c).settings, testing::Contains("runtime: loadline -> fsdp2"));
}

} // namespace
} // namespace loadline
