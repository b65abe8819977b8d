// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.hpp"
#include "core/model/reader.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace loadline {
namespace {

const std::string kFolder = LOADLINE_SOURCE_DIR "/tests/data/models/";

struct KnownCount {
    std::string file;
    std::int64_t parameters;
};

class Counts : public testing::TestWithParam<KnownCount> {};

TEST_P(Counts, MatchTheCheckpointToTheLastParameter)
{
    const auto model = loadModel(kFolder + GetParam().file);
    ASSERT_TRUE(model.ok()) << model.error().message;
    EXPECT_EQ(model->parameterCount(), GetParam().parameters) << model->parameterCount() - GetParam().parameters << " too many";
}

std::vector<KnownCount> knownCounts()
{
    std::vector<KnownCount> counts;
    std::ifstream in(kFolder + "counts.csv");
    for (std::string line; std::getline(in, line);) {
        std::istringstream row(line);
        KnownCount count{};
        std::string number;
        if (std::getline(row, count.file, ',') && std::getline(row, number, ',') && count.file != "file")
            counts.push_back({count.file, std::stoll(number)});
    }
    return counts;
}

std::string testName(const testing::TestParamInfo<KnownCount>& tested)
{
    auto name = tested.param.file.substr(0, tested.param.file.size() - 5);
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0)
            c = '_';
    return name;
}

INSTANTIATE_TEST_SUITE_P(Files, Counts, testing::ValuesIn(knownCounts()), testName);

} // namespace
} // namespace loadline
