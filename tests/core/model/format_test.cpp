// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/format.hpp"
#include "core/model/reader.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace loadline {
namespace {

TEST(ModelFormat, ReadsBackEqualForEverySample)
{
    int seen = 0;
    for (const auto& entry : std::filesystem::directory_iterator(LOADLINE_SOURCE_DIR "/tests/data/models")) {
        if (entry.path().extension() != ".json")
            continue;
        const auto model = loadModel(entry.path().string());
        if (!model)
            continue; // the refused ones have a test of their own
        const auto back = readModel(writeModel(*model), "'written'");
        ASSERT_TRUE(back.ok()) << entry.path() << ": " << back.error().message;
        EXPECT_TRUE(*back == *model) << entry.path();
        ++seen;
    }
    EXPECT_GE(seen, 14);
}

} // namespace
} // namespace loadline
