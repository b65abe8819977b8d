// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.hpp"
#include "tests/app/plan/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace loadline::test {
namespace {

using testing::HasSubstr;

// A small model keeps each run in milliseconds; one test takes the sample as it is.
const std::vector<std::string> kSmall{"plan", "--model", "gpt2-xl", "--cluster",   "8xV100-32", "--sequence",
                                      "512",  "--batch", "1",       "--precision", "fp32"};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more)
{
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

Json planOf(const std::vector<std::string>& arguments)
{
    const auto run = runPlanner(with(arguments, {"--json"}));
    EXPECT_EQ(run.code, 0) << run.err;
    return Json::parse(run.out, nullptr, false);
}

TEST(Plan, SampleHasEveryKeyOfTheContract)
{
    const auto plan = planOf({"plan"});
    ASSERT_TRUE(plan.is_object());
    EXPECT_EQ(plan["format"], "loadline.plan/1");
    for (const auto* key :
         {"status", "step_seconds", "lower_bound_seconds", "gap", "samples_per_second", "tokens_per_second", "batch", "accumulation",
          "sequence", "ranks", "memory", "operators", "shadow_price_seconds_per_gib", "infeasible", "provenance"})
        EXPECT_TRUE(plan.contains(key)) << key;
    for (const auto* key : {"budget_bytes", "peak_bytes", "states_bytes", "activation_bytes", "transient_bytes", "overhead_bytes"})
        EXPECT_TRUE(plan["memory"][key].is_number_integer()) << key;
    for (const auto* key : {"model", "cluster", "profile", "loadline"})
        EXPECT_TRUE(plan["provenance"][key].is_string()) << key;
    std::int64_t parameters = 0;
    for (const auto& op : plan["operators"]) {
        parameters += op["parameters"].get<std::int64_t>();
        for (const auto* key : {"name", "group", "slices", "sharded_slices", "recompute", "reshard_after_forward"})
            EXPECT_TRUE(op.contains(key)) << key;
    }
    EXPECT_EQ(parameters, 8'030'261'248) << "every parameter of Llama-3 8B, once";
    const auto& memory = plan["memory"];
    EXPECT_LE(memory["peak_bytes"], memory["budget_bytes"]);
    EXPECT_EQ(memory["peak_bytes"].get<std::int64_t>(),
              memory["states_bytes"].get<std::int64_t>() + memory["activation_bytes"].get<std::int64_t>() +
                  memory["transient_bytes"].get<std::int64_t>() + memory["overhead_bytes"].get<std::int64_t>());
    EXPECT_LE(plan["lower_bound_seconds"], plan["step_seconds"]);
    EXPECT_DOUBLE_EQ(plan["samples_per_second"].get<double>() * plan["step_seconds"].get<double>(),
                     plan["batch"].get<double>() * plan["accumulation"].get<double>() * plan["ranks"].get<double>());
}

TEST(Plan, HumanAnswerFitsThePageAndSaysWhatIsEstimated)
{
    const auto run = runPlanner({"plan"});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    EXPECT_LE(widestLine(run.out), 100U);
    for (const auto* words : {"Step ", "peak ", "tokens/s", "exposed communication", "estimated", "all DP", "What was chosen", "GiB"})
        EXPECT_THAT(run.out, HasSubstr(words));
}

TEST(Plan, NothingFitsIsAnAnswer)
{
    const auto run = runPlanner(with(kSmall, {"--budget", "2GiB"}));
    EXPECT_EQ(run.code, 1);
    EXPECT_THAT(run.out, HasSubstr("No plan fits 2.0 GiB"));
    EXPECT_THAT(run.out, HasSubstr("least budget that works"));
    EXPECT_LE(widestLine(run.out), 100U);

    const auto asJson = runPlanner(with(kSmall, {"--budget", "2GiB", "--json"}));
    EXPECT_EQ(asJson.code, 1);
    const auto json = Json::parse(asJson.out, nullptr, false);
    EXPECT_EQ(json["status"], "infeasible");
    EXPECT_TRUE(json["step_seconds"].is_null());
    EXPECT_GT(json["infeasible"]["least_budget_bytes"], 2LL << 30);
    EXPECT_FALSE(json["infeasible"]["because"].empty());

    // The least budget is real: with it there is a plan.
    const auto least = std::to_string(json["infeasible"]["least_budget_bytes"].get<std::int64_t>());
    EXPECT_EQ(runPlanner(with(kSmall, {"--budget", least})).code, 0);
}

TEST(Plan, MoreMemoryIsNeverSlower)
{
    double before = 1e99;
    for (const auto* budget : {"6GiB", "8GiB", "12GiB", "16GiB", "24GiB", "30GiB"}) {
        const auto run = runPlanner(with(kSmall, {"--budget", budget, "--json"}));
        if (run.code != 0)
            continue;
        const auto seconds = Json::parse(run.out, nullptr, false)["step_seconds"].get<double>();
        EXPECT_LE(seconds, before) << budget;
        before = seconds;
    }
    EXPECT_LT(before, 1e99);
}

TEST(Plan, ExtremeBudgetsAndClusters)
{
    EXPECT_EQ(runPlanner(with(kSmall, {"--budget", "0"})).code, 1);
    EXPECT_EQ(runPlanner(with(kSmall, {"--budget", "10PiB"})).code, 0);
    EXPECT_EQ(runPlanner(with(kSmall, {"--budget", "0%"})).code, 1);
    const auto single = planOf(with(kSmall, {"--nodes", "1", "--gpus-per-node", "1", "--budget", "80GiB"}));
    EXPECT_EQ(single["ranks"], 1);
    for (const auto* ranks : {"3", "5", "7"}) {
        const auto plan = planOf(with(kSmall, {"--gpus-per-node", ranks, "--budget", "80GiB"}));
        EXPECT_EQ(std::to_string(plan["ranks"].get<int>()), ranks);
    }
    const auto huge = planOf(with(kSmall, {"--nodes", "12500", "--gpus-per-node", "8"}));
    EXPECT_EQ(huge["ranks"], 100'000);
}

TEST(Plan, PinsAreKept)
{
    const auto plan = planOf(with(kSmall, {"--pin", "transformer.h.0.*=dp", "--pin", "transformer.h.1.mlp.*=zdp"}));
    for (const auto& op : plan["operators"]) {
        const auto name = op["name"].get<std::string>();
        if (op["parameters"] == 0)
            continue;
        if (name.starts_with("transformer.h.0.")) {
            EXPECT_EQ(op["group"], 1) << name;
        }
        if (name.starts_with("transformer.h.1.mlp.")) {
            EXPECT_EQ(op["group"], 8) << name;
        }
    }
}

TEST(Plan, SameInputSameBytes)
{
    const auto first = runPlanner(with(kSmall, {"--budget", "9GiB", "--json"}));
    const auto second = runPlanner(with(kSmall, {"--budget", "9GiB", "--json"}));
    EXPECT_EQ(first.out, second.out);
    EXPECT_EQ(runPlanner(with(kSmall, {"--budget", "9GiB"})).out, runPlanner(with(kSmall, {"--budget", "9GiB"})).out);
}

TEST(Plan, EveryModeAnswers)
{
    for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{{"--unit", "part"},
                                                                                       {"--unit", "block"},
                                                                                       {"--memory", "paper"},
                                                                                       {"--time", "overlap"},
                                                                                       {"--runtime", "fsdp2"},
                                                                                       {"--runtime", "osdp-release"},
                                                                                       {"--recompute", "all"},
                                                                                       {"--recompute", "auto"},
                                                                                       {"--overhead", "0"},
                                                                                       {"--attention", "eager"},
                                                                                       {"--dropout", "0"},
                                                                                       {"--groups", "1,2,8"},
                                                                                       {"--granularity", "1,4"},
                                                                                       {"--optimizer", "sgd"},
                                                                                       {"--accumulation", "4"},
                                                                                       {"--global-batch", "64"}}) {
        const auto run = runPlanner(with(with(kSmall, {"--json"}), flags));
        EXPECT_EQ(run.code, 0) << flags.front() << ' ' << flags.back() << ": " << run.err;
        const auto json = Json::parse(run.out, nullptr, false);
        if (run.code == 0) {
            EXPECT_LE(json["memory"]["peak_bytes"], json["memory"]["budget_bytes"]) << flags.back();
        }
    }
}

TEST(Plan, WrongFlagsAreOneSentence)
{
    for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{{"--budget", "lots"},
                                                                                       {"--budget", "-1GiB"},
                                                                                       {"--budget", "101%"},
                                                                                       {"--budget", "nan"},
                                                                                       {"--budget", "1e99"},
                                                                                       {"--batch", "0"},
                                                                                       {"--batch", "-3"},
                                                                                       {"--batch", "1e99"},
                                                                                       {"--batch", "many"},
                                                                                       {"--sequence", "0"},
                                                                                       {"--sequence", "x"},
                                                                                       {"--nodes", "0"},
                                                                                       {"--nodes", "99999999999"},
                                                                                       {"--gpus-per-node", "-1"},
                                                                                       {"--granularity", "0"},
                                                                                       {"--granularity", "1,,2"},
                                                                                       {"--groups", "3"},
                                                                                       {"--groups", "a"},
                                                                                       {"--recompute", "some"},
                                                                                       {"--unit", "layer"},
                                                                                       {"--precision", "fp64"},
                                                                                       {"--attention", "fast"},
                                                                                       {"--dropout", "2"},
                                                                                       {"--dropout", "nan"},
                                                                                       {"--optimizer", "magic"},
                                                                                       {"--overhead", "-1"},
                                                                                       {"--memory", "ram"},
                                                                                       {"--time", "real"},
                                                                                       {"--runtime", "tpu"},
                                                                                       {"--profile", "/nowhere"},
                                                                                       {"--pin", "dp"},
                                                                                       {"--pin", "*=maybe"},
                                                                                       {"--pin", "nothing*=dp"},
                                                                                       {"--work", "0"},
                                                                                       {"--model", "no-such-model"},
                                                                                       {"--cluster", "no-such"},
                                                                                       {"--lora", "rank=0"},
                                                                                       {"--nonsense", "1"},
                                                                                       {"--global-batch", "7"},
                                                                                       {"--accumulation", "0"}}) {
        const auto run = runPlanner(with({"plan"}, flags));
        EXPECT_EQ(run.code, 2) << flags[0] << ' ' << flags[1];
        EXPECT_EQ(run.out, "") << flags[0] << ' ' << flags[1];
        EXPECT_TRUE(isOneLine(run.err)) << flags[0] << ' ' << flags[1] << ": " << run.err;
    }
}

TEST(Program, HelpVersionAndMissingVerbs)
{
    for (const auto* verb :
         {"inspect", "plan", "frontier", "check", "price", "compare", "export", "import-run", "sessions", "solve", "list"}) {
        const auto run = runPlanner({verb, "--help"});
        EXPECT_EQ(run.code, 0) << verb;
        EXPECT_THAT(run.out, HasSubstr(std::string("Usage: loadline-plan ") + verb)) << verb;
    }
    EXPECT_EQ(runPlanner({"--version"}).code, 0);
    EXPECT_EQ(runPlanner({}).code, 2);
    EXPECT_EQ(runPlanner({"fly"}).code, 2);
}

} // namespace
} // namespace loadline::test
