// SPDX-License-Identifier: GPL-3.0-or-later
// What `export` writes for other programs, read back: `price --config` of the file, and the page's own plan.
#include "core/base/json.hpp"
#include "core/exchange/html_report.hpp"
#include "tests/app/plan/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace loadline::test {
namespace {

using testing::HasSubstr;

class Export : public testing::Test {
protected:
    void SetUp() override
    {
        m_folder = std::filesystem::temp_directory_path() / ("loadline-export-" + std::to_string(::getpid()));
        std::filesystem::create_directories(m_folder);
        ASSERT_EQ(runPlanner(asking({"plan", "--output", file("plan.json")})).code, 0);
    }
    void TearDown() override { std::filesystem::remove_all(m_folder); }

    [[nodiscard]] std::string file(const std::string& name) const { return (m_folder / name).string(); }

    static std::vector<std::string> asking(std::vector<std::string> words)
    {
        for (const char* word :
             {"--model", "llama2-7b", "--cluster", "8xH100-80", "--sequence", "2048", "--batch", "2", "--budget", "40GiB"})
            words.emplace_back(word);
        return words;
    }

    std::filesystem::path m_folder;
};

} // namespace

TEST_F(Export, OtherProgramsFilesAreReadBackAndFit)
{
    const std::pair<const char*, const char*> formats[]{{"deepspeed", "d.json"}, {"accelerate", "a.yaml"}, {"galvatron", "g.json"}};
    for (const auto& [format, name] : formats) {
        const auto exported = runPlanner({"export", file("plan.json"), "--format", format, "--output", file(name)});
        ASSERT_EQ(exported.code, 0) << format << ": " << exported.err;
        EXPECT_THAT(exported.out, HasSubstr("All of that costs")) << format << " does not say what it loses";
        const auto priced = runPlanner(asking({"price", "--config", file(name)}));
        ASSERT_EQ(priced.code, 0) << format << ": " << priced.err;
        EXPECT_THAT(priced.out, HasSubstr("fits")) << format;
        EXPECT_THAT(priced.out, HasSubstr("Optimum: ")) << format;
    }
}

TEST_F(Export, ThePageHoldsThePlan)
{
    ASSERT_EQ(runPlanner({"export", file("plan.json"), "--format", "html", "--output", file("plan.html")}).code, 0);
    const auto page = readFile(file("plan.html"));
    ASSERT_TRUE(page);
    const auto read = readHtmlReport(*page, "plan.html");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(planViolations(*read).empty());
    EXPECT_THAT(*page, HasSubstr("class=\"stair\""));
}

TEST_F(Export, AnUnknownFormatIsRefused)
{
    const auto refused = runPlanner({"export", file("plan.json"), "--format", "fortran", "--output", file("x")});
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("fsdp2, deepspeed, galvatron, accelerate, html, csv or json"));
}

} // namespace loadline::test
