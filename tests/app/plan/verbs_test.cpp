// SPDX-License-Identifier: GPL-3.0-or-later
// Every verb but plan, through the real program.
#include "core/base/json.hpp"
#include "tests/app/plan/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace loadline::test {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kQuestion{"--model", "gpt2-xl", "--cluster",   "8xV100-32", "--sequence", "512",
                                         "--batch", "1",       "--precision", "fp32",      "--budget",   "9GiB"};

std::vector<std::string> asking(std::vector<std::string> words)
{
    words.insert(words.end(), kQuestion.begin(), kQuestion.end());
    return words;
}

Json parsed(const Run& run)
{
    return Json::parse(run.out, nullptr, false);
}

/// Replaces the first `from` in a saved plan, which must be there.
std::string tampered(std::string text, const std::string& from, const std::string& to)
{
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(Inspect, CountsAndSavedBytes)
{
    const auto run = runPlanner({"inspect", "--model", "gpt2-xl", "--batch", "2", "--sequence", "512", "--precision", "fp32", "--json"});
    ASSERT_EQ(run.code, 0) << run.err;
    const auto json = parsed(run);
    EXPECT_EQ(json["format"], "loadline.model/1");
    EXPECT_EQ(json["parameters"], 1'557'611'200);
    EXPECT_EQ(json["trainable_parameters"], 1'557'611'200);
    const auto& saved = json["saved_bytes"];
    EXPECT_EQ(saved["layers"].size(), 48U);
    std::int64_t total = saved["embedding"].get<std::int64_t>() + saved["between"].get<std::int64_t>() +
                         saved["final_norm"].get<std::int64_t>() + saved["head"].get<std::int64_t>() + saved["loss"].get<std::int64_t>();
    for (const auto& layer : saved["layers"])
        total += layer.get<std::int64_t>();
    EXPECT_EQ(saved["total"], total);
    std::int64_t parameters = 0;
    std::int64_t bytes = 0;
    for (const auto& op : json["operators"]) {
        parameters += op["parameters"].get<std::int64_t>();
        bytes += op["saved_bytes"].get<std::int64_t>();
        EXPECT_GE(op["uses"], 1);
    }
    EXPECT_EQ(parameters, 1'557'611'200);
    EXPECT_EQ(bytes, total);
    const auto human = runPlanner({"inspect", "--model", "gpt2-xl"});
    EXPECT_EQ(human.code, 0);
    EXPECT_LE(widestLine(human.out), 100U);
}

TEST(Inspect, SizesThatCannotBeCountedAreRefused)
{
    for (const auto* attention : {"flash", "eager"}) {
        const auto run = runPlanner({"inspect", "--batch", "1000000", "--sequence", "2147483648", "--attention", attention});
        EXPECT_EQ(run.code, 2) << attention;
        EXPECT_TRUE(isOneLine(run.err)) << run.err;
    }
}

TEST(Inspect, OutputReadsBackEqual)
{
    const Folder folder;
    const auto file = folder.file("m.loadline-model.json");
    ASSERT_EQ(runPlanner({"inspect", "--model", "gpt2-xl", "--output", file}).code, 0);
    const auto original = runPlanner({"inspect", "--model", "gpt2-xl", "--json"});
    const auto again = runPlanner({"inspect", "--model", file, "--json"});
    EXPECT_EQ(original.out, again.out);
}

TEST(Frontier, FallsAndIsTheSameInBothFormats)
{
    const auto json = parsed(runPlanner(asking({"frontier", "--points", "20", "--json"})));
    ASSERT_EQ(json["format"], "loadline.frontier/1");
    const auto& corners = json["corners"];
    ASSERT_GE(corners.size(), 3U);
    for (std::size_t i = 1; i < corners.size(); ++i) {
        EXPECT_GT(corners[i]["budget_bytes"], corners[i - 1]["budget_bytes"]);
        EXPECT_LE(corners[i]["step_seconds"], corners[i - 1]["step_seconds"]);
    }
    const auto csv = runPlanner(asking({"frontier", "--points", "20"}));
    EXPECT_EQ(csv.code, 0);
    EXPECT_THAT(csv.out, testing::StartsWith("budget_bytes,step_seconds,samples_per_second\n"));
    EXPECT_EQ(static_cast<std::size_t>(std::count(csv.out.begin(), csv.out.end(), '\n')), corners.size() + 1);

    // A corner is a plan: with its budget, plan is at least as fast.
    const auto& corner = corners[corners.size() / 2];
    auto question = asking({"plan", "--json"});
    question.back() = std::to_string(corner["budget_bytes"].get<std::int64_t>());
    const auto plan = parsed(runPlanner(question));
    EXPECT_LE(plan["step_seconds"], corner["step_seconds"]);
}

TEST(Check, ASavedPlanHoldsAndATamperedOneDoesNot)
{
    const Folder folder;
    const auto file = folder.file("p.loadline-plan.json");
    ASSERT_EQ(runPlanner(asking({"plan", "--output", file})).code, 0);
    const auto good = runPlanner({"check", file});
    EXPECT_EQ(good.code, 0) << good.out << good.err;
    EXPECT_THAT(good.out, HasSubstr("The plan holds"));
    EXPECT_EQ(parsed(runPlanner({"check", file, "--json"}))["holds"], true);

    const auto text = readAll(file);
    const auto json = Json::parse(text);
    const auto peak = json["memory"]["peak_bytes"].dump();
    const auto changed = folder.write("peak.json", tampered(text, "\"peak_bytes\": " + peak, "\"peak_bytes\": 12345"));
    const auto wrongPeak = runPlanner({"check", changed});
    EXPECT_EQ(wrongPeak.code, 1);
    EXPECT_THAT(wrongPeak.out, HasSubstr("does not hold"));

    const auto step = json["step_seconds"].dump();
    const auto faster = folder.write("step.json", tampered(text, "\"step_seconds\": " + step, "\"step_seconds\": 0.001"));
    EXPECT_EQ(runPlanner({"check", faster}).code, 1);

    const auto budget = folder.write("budget.json", tampered(text, "\"budget_bytes\": 9663676416", "\"budget_bytes\": 1073741824"));
    EXPECT_EQ(runPlanner({"check", budget}).code, 1) << "the peak is above the budget";

    const auto parameters = folder.write("parameters.json", tampered(text, "\"parameters\": 80411200", "\"parameters\": 80411201"));
    EXPECT_EQ(runPlanner({"check", parameters}).code, 1);

    const auto strategy = folder.write("group.json", tampered(text, "\"slices\": ", "\"slices\": 3"));
    const auto unknown = runPlanner({"check", strategy});
    EXPECT_EQ(unknown.code, 2) << "no such strategy on offer";
    EXPECT_TRUE(isOneLine(unknown.err));

    EXPECT_EQ(runPlanner({"check", folder.write("version.json", tampered(text, "loadline.plan/1", "loadline.plan/2"))}).code, 2);
    EXPECT_EQ(runPlanner({"check", folder.write("cut.json", text.substr(0, text.size() / 2))}).code, 2);
    EXPECT_EQ(runPlanner({"check", folder.file("missing.json")}).code, 2);
}

TEST(Check, PlansWithAdaptersAndProfilesHoldToo)
{
    const Folder folder;
    const auto profile =
        folder.write("p.loadline-profile.jsonl",
                     R"({"format": "loadline.profile/1", "device": "NVIDIA V100", "date": "2026-12-01", "ranks": 8})"
                     "\n"
                     R"({"row": "link", "collective": "all_gather", "group": 8, "per_node": 8, "bytes": 1048576, "seconds": 2.4e-5})"
                     "\n");
    const auto file = folder.file("p.json");
    ASSERT_EQ(runPlanner(asking({"plan", "--output", file, "--lora", "rank=8,targets=c_attn", "--profile", profile})).code, 0);
    const auto run = runPlanner({"check", file});
    EXPECT_EQ(run.code, 0) << run.out << run.err;
    EXPECT_THAT(Json::parse(readAll(file))["provenance"]["profile"].get<std::string>(), HasSubstr("2026-12-01"));
}

TEST(Check, AnInfeasibleAnswerCanBeSavedToo)
{
    const Folder folder;
    const auto file = folder.file("p.json");
    auto question = asking({"plan", "--output", file});
    question.back() = "1GiB";
    ASSERT_EQ(runPlanner(question).code, 1);
    EXPECT_EQ(runPlanner({"check", file}).code, 0);
}

TEST(Compare, SaysWhichOperatorsDiffer)
{
    const Folder folder;
    const auto a = folder.file("a.json");
    const auto b = folder.file("b.json");
    ASSERT_EQ(runPlanner(asking({"plan", "--output", a})).code, 0);
    ASSERT_EQ(
        runPlanner(asking({"plan", "--output", b, "--pin", "transformer.h.0.mlp.c_fc=dp", "--pin", "transformer.h.1.mlp.c_fc=zdp"})).code,
        0);
    const auto same = parsed(runPlanner({"compare", a, a, "--json"}));
    EXPECT_EQ(same["format"], "loadline.comparison/1");
    EXPECT_TRUE(same["operators"].empty());
    EXPECT_TRUE(same["settings"].empty());
    const auto human = runPlanner({"compare", a, b});
    EXPECT_EQ(human.code, 0) << human.err;
    EXPECT_THAT(human.out, HasSubstr("operators are the same"));
    EXPECT_LE(widestLine(human.out), 100U);
    EXPECT_EQ(runPlanner({"compare", a}).code, 2);
}

TEST(Price, UniformConfigurationsAndTheirDistance)
{
    for (const auto* uniform : {"dp", "zdp", "hsdp", "zero2"}) {
        const auto run = runPlanner(asking({"price", "--uniform", uniform, "--json"}));
        ASSERT_EQ(run.code, 0) << uniform << run.err;
        const auto json = parsed(run);
        EXPECT_EQ(json["format"], "loadline.price/1");
        EXPECT_EQ(json["fits"].get<bool>(), json["cost"]["peak_bytes"] <= json["budget_bytes"]);
        if (json["fits"].get<bool>() && !json["optimum"].is_null()) {
            EXPECT_GE(json["distance_to_optimum"], -1e-12) << uniform << ": nothing that fits is better than the optimum";
        }
        EXPECT_LE(widestLine(runPlanner(asking({"price", "--uniform", uniform})).out), 100U);
    }
    EXPECT_EQ(runPlanner(asking({"price"})).code, 2);
    EXPECT_EQ(runPlanner(asking({"price", "--uniform", "tp"})).code, 2);
}

TEST(Price, AnswersWhereNothingFits)
{
    auto question = asking({"price", "--uniform", "zdp", "--json"});
    question.back() = "1GiB";
    const auto run = runPlanner(question);
    EXPECT_EQ(run.code, 0) << run.err;
    const auto json = parsed(run);
    EXPECT_EQ(json["fits"], false);
    EXPECT_TRUE(json["optimum"].is_null());
    EXPECT_GT(json["short_by_bytes"], 0);
    EXPECT_GT(json["least_budget_bytes"], 1LL << 30);
}

TEST(Price, PinsGoOnTop)
{
    const auto json = parsed(runPlanner(asking({"price", "--uniform", "zdp", "--pin", "transformer.h.3.*=dp", "--json"})));
    for (const auto& op : json["operators"]) {
        if (op["parameters"] == 0)
            continue;
        const bool pinned = op["name"].get<std::string>().starts_with("transformer.h.3.");
        EXPECT_EQ(op["group"], pinned ? 1 : 8) << op["name"];
    }
}

class PriceConfig : public testing::TestWithParam<const char*> {};

TEST_P(PriceConfig, EveryFileIsPriced)
{
    const auto run = runPlanner(
        {"price", "--config", dataFile(std::string("configs/") + GetParam()), "--json", "--unit", "block", "--granularity", "1"});
    ASSERT_EQ(run.code, 0) << run.err;
    const auto json = parsed(run);
    EXPECT_GT(json["cost"]["peak_bytes"], 0);
    EXPECT_GT(json["cost"]["step_seconds"], 0.0);
}

INSTANTIATE_TEST_SUITE_P(Files, PriceConfig,
                         testing::Values("ds-autotuning-template-zero3.json", "ds-boomer-zero2-auto-with-stage3-key.json",
                                         "ds-issue123-zero1-adam.json", "ds-llama-bench-zero2.json", "ds-megatron-zero0-gas3.json",
                                         "ds-z3-deepcompile-no-persist.json", "ds-zero3-offload-all-auto.json", "ds-zero3-sdma.json",
                                         "gpt-neox-20B.yml", "torchtitan-llama3_8b.toml", "torchtitan-deepseek_v3_671b.toml",
                                         "torchtitan-llama3_70b-2024.toml", "accelerate-fsdp-halos-no-precision-no-layercls.yaml",
                                         "accelerate-fsdp-homellm-2gpu-comment.yaml", "accelerate-fsdp-hfblog-legacy-numeric-strategy.yaml",
                                         "accelerate-fsdp-bertlayer-null-ignored.yaml", "galvatron-llama3-8b.json"));

TEST(PriceConfig, SaysHowAutoWasResolvedAndWhatIsLeftOut)
{
    const auto run =
        runPlanner({"price", "--config", dataFile("configs/ds-zero3-offload-all-auto.json"), "--unit", "block", "--granularity", "1"});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("batch auto is"));
    EXPECT_THAT(run.out, HasSubstr("precision open"));
    EXPECT_THAT(run.out, HasSubstr("offload_param"));
    EXPECT_LE(widestLine(run.out), 100U);
}

TEST(PriceConfig, FsdpIsPricedUnderItsOwnRules)
{
    const auto file = dataFile("configs/torchtitan-llama3_8b.toml");
    EXPECT_THAT(runPlanner({"price", "--config", file}).out, HasSubstr("runtime fsdp2, unit block"));
    EXPECT_THAT(runPlanner({"price", "--config", file, "--runtime", "loadline"}).out, HasSubstr("runtime loadline, unit operator"));
    const Folder folder;
    const auto kept =
        folder.write("kept.yaml", "distributed_type: FSDP\nmixed_precision: bf16\nfsdp_config:\n  fsdp_sharding_strategy: SHARD_GRAD_OP\n");
    const auto json = parsed(runPlanner({"price", "--config", kept, "--json"}));
    std::int64_t keptParameters = 0;
    for (const auto& op : json["operators"])
        keptParameters += op["reshard_after_forward"].get<bool>() ? 0 : op["parameters"].get<std::int64_t>();
    EXPECT_EQ(keptParameters, 8'030'261'248 - 2LL * 128256 * 4096 - 4096) << "the 32 blocks: all but embedding, head and last norm";
}

TEST(PriceConfig, BatchFollowsFromTheGlobalBatch)
{
    const auto json = parsed(runPlanner(
        {"price", "--config", dataFile("configs/ds-issue123-zero1-adam.json"), "--json", "--unit", "block", "--sequence", "64"}));
    EXPECT_EQ(json["cost"]["batch"], 32);
    EXPECT_EQ(json["cost"]["accumulation"], 16) << "4096 / (32 x 8)";
}

TEST(Solve, TheContractsDocument)
{
    const auto file = dataFile("problems/two_classes.json");
    const auto run = runPlanner({"solve", file, "--json"});
    ASSERT_EQ(run.code, 0) << run.err;
    const auto json = parsed(run);
    EXPECT_EQ(json["format"], "loadline.solution/1");
    EXPECT_EQ(json["status"], "optimal");
    EXPECT_EQ(json["time_ps"], 211) << "two small ones and one large: 20 + 40 + 20 + 5 = 85";
    EXPECT_EQ(json["lower_bound_ps"], 211);
    EXPECT_EQ(json["persist_bytes"], 80);
    EXPECT_EQ(json["transient_bytes"], 5);
    EXPECT_EQ(json["picks"].dump(), "[[[0,2],[1,1]],[[0,1]]]");
    EXPECT_GE(json["solve_ms"], 0.0);

    const auto frontier = parsed(runPlanner({"solve", file, "--frontier", "--json"}));
    EXPECT_EQ(frontier["exact"], true);
    EXPECT_EQ(frontier["corners"].dump(), "[[55,301],[85,211],[115,121],[140,31]]");
    // The words of an answer are its interface to people: they change on purpose only.
    const auto human = runPlanner({"solve", file}).out;
    EXPECT_THAT(human, testing::MatchesRegex("211 ps, 80 B persist \\+ 5 B transient of 100 B, proven optimal, [0-9.e-]+ ms\n"
                                             "  class  option  how many\n"
                                             "      0       0         2\n"
                                             "      0       1         1\n"
                                             "      1       0         1\n"));
    EXPECT_THAT(runPlanner({"solve", file, "--frontier"}).out, HasSubstr("85,211\n"));
}

TEST(Solve, NothingFits)
{
    const Folder folder;
    const auto file = folder.write("p.json", R"({"format": "loadline.problem/1", "budget": 5, "classes": [
        {"count": 2, "options": [{"persist": 10, "transient": 5, "time_ps": 100}]}]})");
    const auto run = runPlanner({"solve", file, "--json"});
    EXPECT_EQ(run.code, 1);
    EXPECT_EQ(parsed(run)["status"], "infeasible");
    EXPECT_EQ(parsed(run)["least_budget_bytes"], 25);
    EXPECT_THAT(runPlanner({"solve", file}).out, HasSubstr("25 B"));
}

TEST(List, NamesWhatIsBundled)
{
    const auto json = parsed(runPlanner({"list", "--json"}));
    for (const auto* key : {"models", "clusters", "precisions", "optimizers"})
        EXPECT_GE(json[key].size(), 5U) << key;
    const auto human = runPlanner({"list"});
    EXPECT_LE(widestLine(human.out), 100U);
    EXPECT_THAT(human.out, HasSubstr("llama3-8b"));
    EXPECT_THAT(human.out, HasSubstr("8xH100-80"));
}

} // namespace
} // namespace loadline::test
