// SPDX-License-Identifier: GPL-3.0-or-later
// `sessions`, `plan --save` and `compare` of saved sessions, through the real program.
#include "core/base/json.hpp"
#include "tests/app/plan/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace loadline::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A store of its own with two sessions.
class Sessions : public testing::Test {
protected:
    [[nodiscard]] test::Run sessions(std::vector<std::string> words) const
    {
        words.insert(words.begin(), "sessions");
        words.insert(words.end(), {"--store", store});
        return runPlanner(words);
    }

    [[nodiscard]] test::Run save(const std::string& name, const std::string& batch, const std::string& budget = "9GiB") const
    {
        return runPlanner({"plan", "--model", "gpt2-xl", "--cluster", "8xV100-32", "--sequence", "512", "--batch", batch, "--precision",
                           "fp32", "--unit", "block", "--budget", budget, "--save", name, "--store", store});
    }

    Folder folder;
    std::string store = folder.file("sessions.db");
};

TEST_F(Sessions, LookingMakesNoFile)
{
    const auto run = sessions({});
    EXPECT_EQ(run.code, 0);
    EXPECT_THAT(run.out, HasSubstr("No such sessions"));
    EXPECT_EQ(sessions({"check"}).code, 2);
    EXPECT_FALSE(std::filesystem::exists(store));
}

TEST_F(Sessions, ASavedPlanIsListedShownAndHolds)
{
    const auto saved = save("first try", "1");
    ASSERT_EQ(saved.code, 0) << saved.err;
    EXPECT_THAT(saved.err, HasSubstr("session 1 'first try' is saved"));
    const auto listed = sessions({"list"});
    EXPECT_EQ(listed.code, 0);
    EXPECT_THAT(listed.out, HasSubstr("first try"));
    EXPECT_LE(widestLine(listed.out), 100U);
    const auto json = Json::parse(sessions({"list", "--json"}).out, nullptr, false);
    EXPECT_EQ(json["format"], "loadline.sessions/1");
    ASSERT_EQ(json["sessions"].size(), 1U);
    EXPECT_EQ(json["sessions"][0]["model"], "gpt2-xl");
    EXPECT_EQ(json["sessions"][0]["budget_bytes"], 9LL << 30);
    const auto plan = folder.file("out.loadline-plan.json");
    const auto shown = sessions({"show", "first try", "--json", "--output", plan});
    ASSERT_EQ(shown.code, 0) << shown.err;
    const auto session = Json::parse(shown.out, nullptr, false);
    EXPECT_EQ(session["plan"]["step_seconds"], session["step_seconds"]);
    EXPECT_EQ(session["options"]["format"], "loadline.options/1");
    EXPECT_EQ(session["options"]["batch"], "1");
    EXPECT_EQ(runPlanner({"check", plan}).code, 0);
}

TEST_F(Sessions, TheSameNameIsTheSameSession)
{
    ASSERT_EQ(save("a", "1").code, 0);
    const auto again = save("a", "2", "12GiB");
    EXPECT_THAT(again.err, HasSubstr("session 1 'a' is changed"));
    const auto json = Json::parse(sessions({"--json"}).out, nullptr, false);
    ASSERT_EQ(json["sessions"].size(), 1U);
    EXPECT_EQ(json["sessions"][0]["budget_bytes"], 12LL << 30);
}

TEST_F(Sessions, AQuestionThatNothingFitsIsKeptToo)
{
    EXPECT_EQ(save("tight", "1", "1GiB").code, 1);
    const auto json = Json::parse(sessions({"--json"}).out, nullptr, false);
    ASSERT_EQ(json["sessions"].size(), 1U);
    EXPECT_TRUE(json["sessions"][0]["step_seconds"].is_null());
}

TEST_F(Sessions, TaggingNotingRenamingDeletingAndBringingBack)
{
    ASSERT_EQ(save("a", "1").code, 0);
    EXPECT_THAT(sessions({"tag", "a", "y", "x"}).out, HasSubstr("has the tags: "));
    EXPECT_EQ(sessions({"untag", "1", "y"}).code, 0);
    EXPECT_EQ(sessions({"note", "a", "why so slow"}).code, 0);
    EXPECT_EQ(sessions({"duplicate", "a", "b"}).code, 0);
    EXPECT_EQ(sessions({"rename", "b", "c"}).code, 0);
    EXPECT_THAT(sessions({"list", "--tag", "y"}).out, HasSubstr("No such sessions"));
    EXPECT_THAT(sessions({"list", "--filter", "slow c"}).out, HasSubstr("c "));
    EXPECT_EQ(sessions({"delete", "a"}).code, 0);
    EXPECT_EQ(sessions({"show", "a"}).code, 2);
    EXPECT_THAT(sessions({"list", "--deleted"}).out, HasSubstr("a "));
    EXPECT_EQ(sessions({"restore", "1"}).code, 0);
    EXPECT_THAT(sessions({"show", "a"}).out, HasSubstr("why so slow"));
    EXPECT_THAT(sessions({"check"}).out, HasSubstr("is whole"));
    EXPECT_EQ(sessions({"backup", folder.file("copy.db")}).code, 0);
    EXPECT_TRUE(std::filesystem::exists(folder.file("copy.db")));
}

TEST_F(Sessions, ComparingSessionsSaysWhenTheirFiguresCannotBe)
{
    ASSERT_EQ(save("a", "1").code, 0);
    ASSERT_EQ(save("b", "1", "12GiB").code, 0);
    ASSERT_EQ(save("c", "2", "12GiB").code, 0);
    const auto same = runPlanner({"compare", "a", "2", "--store", store});
    ASSERT_EQ(same.code, 0) << same.err;
    EXPECT_THAT(same.out, Not(HasSubstr("cannot be compared")));
    EXPECT_THAT(same.out, HasSubstr("budget: 9.0 GiB -> 12.0 GiB"));
    const auto other = runPlanner({"compare", "a", "c", "--store", store});
    EXPECT_EQ(other.code, 0);
    EXPECT_THAT(other.out, HasSubstr("cannot be compared by their figures: they have different batches (1 x 1 and 2 x 1)"));
    const auto json = Json::parse(runPlanner({"compare", "a", "c", "--store", store, "--json"}).out, nullptr, false);
    EXPECT_EQ(json["incomparable"].size(), 1U);
    const auto none = runPlanner({"compare", "a", "nobody", "--store", store});
    EXPECT_EQ(none.code, 2);
    EXPECT_TRUE(isOneLine(none.err));
    EXPECT_THAT(none.err, HasSubstr("'nobody' is neither a file nor a session"));
}

TEST_F(Sessions, AnImportedRunIsKeptWithItsSession)
{
    ASSERT_EQ(runPlanner({"plan",    "--model",   "gpt2-xl",     "--cluster", "8xV100-32", "--sequence", "512",
                          "--batch", "1",         "--precision", "fp32",      "--unit",    "block",      "--budget",
                          "12GiB",   "--runtime", "fsdp2",       "--save",    "a",         "--store",    store})
                  .code,
              0);
    std::string lines =
        R"({"loadline-run": 1, "model": "gpt2", "ranks": 8, "batch": 1, "accumulation": 1, "sequence": 512, "reference": false, "devices": [], "versions": {"torch": "2.11.0"}})";
    for (int step = 1; step <= 3; ++step)
        for (int rank = 0; rank < 8; ++rank)
            lines +=
                "\n{\"step\": " + std::to_string(step) + ", \"rank\": " + std::to_string(rank) +
                R"(, "loss": 10.5, "seconds": 0.5, "peak_allocated_bytes": 1000, "peak_reserved_bytes": 2000, "all_gather_bytes": 1, "reduce_scatter_bytes": 2, "all_reduce_bytes": 3})";
    lines += "\n{\"done\": 3}\n";
    const auto file = folder.write("run.jsonl", lines);
    const auto run = runPlanner({"import-run", "a", file, "--store", store});
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("run 1 is kept with session 1"));
    const auto json = Json::parse(sessions({"show", "a", "--json"}).out, nullptr, false);
    ASSERT_EQ(json["runs"].size(), 1U);
    EXPECT_EQ(json["runs"][0]["kind"], "imported");
    EXPECT_EQ(json["runs"][0]["outcome"], "done");
    EXPECT_EQ(json["runs"][0]["step_seconds"]["measured"], 0.5);
    EXPECT_FALSE(json["measured_error"].is_null());
    EXPECT_EQ(runPlanner({"import-run", "a", folder.file("none"), "--store", store}).code, 2);
    EXPECT_EQ(Json::parse(sessions({"show", "a", "--json"}).out, nullptr, false)["runs"].size(), 1U) << "nothing half kept";
}

TEST_F(Sessions, ASessionIsExportedLikeAPlanIntoAFolderOrAFile)
{
    ASSERT_EQ(save("a", "1").code, 0);
    const auto exported = [&](std::vector<std::string> more) {
        std::vector<std::string> all{"export", "a", "--store", store, "--format"};
        all.insert(all.end(), more.begin(), more.end());
        return runPlanner(all);
    };
    const auto csv = exported({"csv"});
    ASSERT_EQ(csv.code, 0) << csv.err;
    const auto inFolder = exported({"csv", "--output", folder.file("new/")});
    ASSERT_EQ(inFolder.code, 0) << inFolder.err;
    EXPECT_EQ(*readFile(folder.file("new/plan.csv")), csv.out);
    const auto again = exported({"csv", "--output", folder.file("new")}); // a folder by now
    EXPECT_EQ(again.code, 2);
    EXPECT_TRUE(isOneLine(again.err));
    EXPECT_THAT(again.err, HasSubstr("is there already"));
    EXPECT_EQ(exported({"csv", "--output", folder.file("new/plan.csv")}).code, 0) << "a file that was named is replaced";
    EXPECT_EQ(runPlanner({"export", "nobody", "--store", store, "--format", "csv"}).code, 2);
}

TEST_F(Sessions, AMemorySnapshotStandsBesideThePrediction)
{
    ASSERT_EQ(save("a", "1").code, 0);
    const std::string file = LOADLINE_SOURCE_DIR "/tests/data/snapshots/two_devices.pickle";
    const auto shown = runPlanner({"import-run", "a", file, "--store", store});
    ASSERT_EQ(shown.code, 0) << shown.err;
    EXPECT_THAT(shown.out, HasSubstr("85.0 GiB")); // expected.json's peak of device 0
    const auto json = Json::parse(runPlanner({"import-run", "a", file, "--store", store, "--json"}).out, nullptr, false);
    ASSERT_EQ(json["devices"].size(), 2U);
    EXPECT_EQ(json["devices"][0]["peak_bytes"], 91278135808);
    const auto refused = runPlanner({"import-run", "a", LOADLINE_SOURCE_DIR "/tests/data/snapshots/call.pickle", "--store", store});
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(isOneLine(refused.err));
}

TEST_F(Sessions, WrongWordsAndWrongFilesAreOneSentence)
{
    ASSERT_EQ(save("a", "1").code, 0);
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"fly"},
                                                                                       {"show"},
                                                                                       {"show", "none"},
                                                                                       {"tag", "a"},
                                                                                       {"list", "a"},
                                                                                       {"rename", "a"},
                                                                                       {"restore", "7"},
                                                                                       {"backup", "/no/such/x"}}) {
        const auto run = sessions(words);
        EXPECT_EQ(run.code, 2) << words.front();
        EXPECT_TRUE(isOneLine(run.err)) << words.front() << ": " << run.err;
        EXPECT_EQ(run.out, "");
    }
    const auto text = folder.write("text.db", "{\"not\": \"a store\"}");
    store = text;
    EXPECT_THAT(sessions({}).err, HasSubstr("is not a store of Loadline"));
    EXPECT_EQ(readAll(text), "{\"not\": \"a store\"}");
}

} // namespace
} // namespace loadline::test
