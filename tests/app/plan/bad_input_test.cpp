// SPDX-License-Identifier: GPL-3.0-or-later
// Every file of tests/data/bad goes through the real program.
#include "tests/app/plan/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace loadline::test {
namespace {

struct Reader {
    const char* folder;
    std::vector<std::string> words; ///< the command line; "@" stands for the file
};

const Reader kReaders[] = {
    {"model", {"inspect", "--model", "@"}},
    {"own_model", {"inspect", "--model", "@"}},
    {"cluster", {"plan", "--model", "gpt-tiny", "--cluster", "@"}},
    {"precision", {"plan", "--model", "gpt-tiny", "--precision", "@"}},
    {"optimizer", {"plan", "--model", "gpt-tiny", "--optimizer", "@"}},
    {"profile", {"plan", "--model", "gpt-tiny", "--profile", "@"}},
    {"plan", {"check", "@"}},
    {"problem", {"solve", "@"}},
    {"config", {"price", "--model", "gpt-tiny", "--config", "@"}},
};

std::vector<std::string> commandFor(const Reader& reader, const std::string& file)
{
    auto words = reader.words;
    std::replace(words.begin(), words.end(), std::string("@"), file);
    return words;
}

void expectRefused(const std::vector<std::string>& words)
{
    const auto run = runPlanner(words);
    EXPECT_EQ(run.code, 2) << words.back() << ": " << run.err;
    EXPECT_EQ(run.out, "") << words.back();
    EXPECT_TRUE(isOneLine(run.err)) << words.back() << ": " << run.err;
    EXPECT_LT(run.err.size(), 1000U) << words.back();
}

class BadFile : public testing::TestWithParam<Reader> {};

TEST_P(BadFile, IsRefusedInOneSentence)
{
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(dataFile(std::string("bad/") + GetParam().folder))) {
        expectRefused(commandFor(GetParam(), entry.path().string()));
        ++files;
    }
    EXPECT_GT(files, 20);
}

TEST_P(BadFile, HugeDeepAndMissingFilesToo)
{
    const Folder folder;
    const auto suffix = std::string(GetParam().folder) == "profile" ? ".jsonl" : ".json";
    const std::string deep = "{\"a\":";
    std::string nested;
    for (int i = 0; i < 100'000; ++i)
        nested += deep;
    expectRefused(commandFor(GetParam(), folder.write(std::string("deep") + suffix, nested)));
    expectRefused(
        commandFor(GetParam(), folder.write(std::string("long") + suffix, "{\"format\": \"" + std::string(20'000'000, 'x') + "\"}")));
    expectRefused(commandFor(GetParam(), folder.write(std::string("zeros") + suffix, std::string(20'000'000, '\0'))));
    expectRefused(commandFor(GetParam(), folder.file(std::string("missing") + suffix)));
    expectRefused(commandFor(GetParam(), folder.file("")));
    expectRefused(commandFor(GetParam(), folder.file("line\nbreak.json")));
}

INSTANTIATE_TEST_SUITE_P(Readers, BadFile, testing::ValuesIn(kReaders),
                         [](const auto& tested) { return std::string(tested.param.folder); });

TEST(BadOutput, AFolderThatIsNotThere)
{
    expectRefused({"plan", "--model", "gpt-tiny", "--output", "/nowhere/at/all/p.json"});
}

std::string ownModel(int operators, bool different)
{
    std::string text =
        R"({"format": "loadline.model/1", "name": "many", "family": "custom", "hidden": 64, "default_sequence": 16, "operators": [)";
    for (int i = 0; i < operators; ++i) {
        const auto out = std::to_string(different ? 64 + i : 64);
        const auto name = "op" + std::to_string(i);
        text += (i == 0 ? "" : ",");
        text += R"({"name": ")" + name + R"(", "place": "layer", "layer": 0, "kind": "linear", "in": 64, "out": )" + out +
                R"(, "weights": [{"name": ")" + name + R"(.weight", "shape": [)" + out + ", 64]}]}";
    }
    return text + "]}";
}

TEST(UnusualModels, OneOperatorAndTenThousandDifferentOnes)
{
    const Folder folder;
    const auto one = runPlanner({"plan", "--model", folder.write("one.json", ownModel(1, false)), "--json"});
    EXPECT_EQ(one.code, 0) << one.err;
    const auto many =
        runPlanner({"plan", "--model", folder.write("many.json", ownModel(10'000, true)), "--batch", "1", "--granularity", "1"});
    EXPECT_EQ(many.code, 0) << many.err;
    EXPECT_LE(widestLine(many.out), 100U);
}

} // namespace
} // namespace loadline::test
