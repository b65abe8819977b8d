// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.hpp"
#include "core/export/bundle.hpp"
#include "core/export/tables.hpp"
#include "core/model/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>

namespace loadline {
namespace {

using testing::HasSubstr;

PlanDocument planned(const std::string& model, const std::string& unit, const std::string& runtime, const std::string& precision = "fp32",
                     const std::string& recompute = "off")
{
    RequestOptions options;
    options.model = model;
    options.batch = "1";
    options.unit = unit;
    options.runtime = runtime;
    options.precision = precision;
    options.recompute = recompute;
    options.sequence = 64;
    options.overhead = "0";
    auto resolved = resolveRequest(options);
    EXPECT_TRUE(resolved) << (resolved ? "" : resolved.error().message);
    auto outcome = makePlan(resolved->request);
    EXPECT_TRUE(outcome && outcome->plan) << model;
    PlanDocument document;
    document.setup = outcome->plan->table.setup;
    document.provenance = resolved->provenance;
    document.outcome = std::move(*outcome);
    return document;
}

Json planOf(const Exported& exported)
{
    for (const ExportedFile& file : exported.files)
        if (file.name == "plan.json")
            return *parseJson(file.text, "plan.json");
    return {};
}

/// Every parameter of the model stands in just one unit, under every unit kind and for a plan made for another runtime.
TEST(Bundle, HoldsEveryParameterOnce)
{
    for (const char* unit : {"operator", "part", "block"})
        for (const char* runtime : {"fsdp2", "loadline"}) {
            const auto document = planned("gpt-tiny", unit, runtime);
            const auto exported = fsdp2Bundle(document, bundledModelText("gpt-tiny"));
            ASSERT_TRUE(exported) << exported.error().message;
            const Json plan = planOf(*exported);
            std::multiset<std::string> names;
            for (const Json& name : plan["root"]["parameters"])
                names.insert(name.get<std::string>());
            for (const Json& one : plan["units"])
                for (const Json& name : one["parameters"])
                    names.insert(name.get<std::string>());
            std::multiset<std::string> expected;
            for (const Operator& op : document.setup.model->operators)
                for (const Parameter& parameter : op.parameters)
                    expected.insert(parameter.name);
            EXPECT_EQ(names, expected) << unit << ' ' << runtime;
            EXPECT_EQ(plan["model"]["config"], true);
        }
}

TEST(Bundle, TextsHaveNoPlaceholderLeft)
{
    const auto exported = fsdp2Bundle(planned("gpt-tiny", "block", "fsdp2"), "");
    ASSERT_TRUE(exported) << exported.error().message;
    for (const ExportedFile& file : exported->files) {
        for (const char* word : {"@TITLE@", "@VERSION@", "@SUMMARY@", "@NOTES@", "@NAME@", "@NODES@", "@PER_NODE@"})
            EXPECT_EQ(file.text.find(word), std::string::npos) << file.name;
        EXPECT_NE(file.name, "config.json");
    }
}

TEST(Bundle, SaysWhatItCannotDo)
{
    const auto fp16 = fsdp2Bundle(planned("gpt-tiny", "block", "fsdp2", "fp16-mixed"), "");
    ASSERT_FALSE(fp16);
    EXPECT_THAT(fp16.error().message, HasSubstr("fp16-mixed"));
    const auto other = fsdp2Bundle(planned("gpt-tiny", "block", "fsdp2"), bundledModelText("gpt2-small"));
    ASSERT_FALSE(other);
    EXPECT_THAT(other.error().message, HasSubstr("not of the planned model"));
}

TEST(PlanCsv, ReadsBackEqual)
{
    const auto document = planned("gpt-tiny", "operator", "loadline");
    const Plan& plan = *document.outcome.plan;
    const auto rows = readPlanCsv(planCsv(plan), "'plan.csv'");
    ASSERT_TRUE(rows) << rows.error().message;
    const auto strategies = strategiesByOperator(plan.table, plan.choice);
    const auto& operators = document.setup.model->operators;
    ASSERT_EQ(rows->size(), operators.size());
    for (std::size_t i = 0; i < operators.size(); ++i)
        EXPECT_EQ((*rows)[i], (PlanRow{operators[i].name, operators[i].parameterCount(), strategies[i]})) << operators[i].name;
    EXPECT_FALSE(readPlanCsv("name\n", "'x'"));
    EXPECT_FALSE(readPlanCsv("name,\"open", "'x'"));
}

} // namespace
} // namespace loadline
