// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cluster/recipe.hpp"

#include "core/base/json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>

namespace loadline {
namespace {

TEST(Recipes, EveryFileReadsAndEveryNameIsThere)
{
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(LOADLINE_SOURCE_DIR "/resources/recipes")) {
        const auto text = readFile(entry.path());
        ASSERT_TRUE(text.ok());
        const auto name = entry.path().filename().string();
        const bool precision = name.starts_with("precision-");
        EXPECT_TRUE(precision ? readPrecision(*text, name).ok() : readOptimizer(*text, name).ok()) << name;
        ++files;
    }
    EXPECT_EQ(bundledPrecisions().size() + bundledOptimizers().size(), files);
    for (const auto* name : {"fp32", "bf16", "bf16-mixed", "autocast-bf16", "fp16-mixed"})
        EXPECT_TRUE(loadPrecision(name).ok()) << name;
    for (const auto* name : {"adamw", "adam8bit", "sgd", "sgd-momentum", "lion", "adafactor"})
        EXPECT_TRUE(loadOptimizer(name).ok()) << name;
    for (const auto& recipe : bundledPrecisions())
        EXPECT_FALSE(recipe.source.empty()) << recipe.name;
    for (const auto& recipe : bundledOptimizers())
        EXPECT_FALSE(recipe.source.empty()) << recipe.name;
}

double statesPerParameter(const char* precisionName, const char* optimizerName)
{
    const auto precision = *loadPrecision(precisionName);
    const auto optimizer = *loadOptimizer(optimizerName);
    return precision.weight + precision.master + precision.gradient + stateBytes(precision, optimizer);
}

TEST(Recipes, AddUpToWhatIsKnownOfEachRuntime)
{
    EXPECT_DOUBLE_EQ(statesPerParameter("fp32", "adamw"), 16);       // docs/sources.md, OSDP
    EXPECT_DOUBLE_EQ(statesPerParameter("bf16-mixed", "adamw"), 16); // FSDP2: fp32 shards
    EXPECT_DOUBLE_EQ(statesPerParameter("bf16", "adamw"), 8);        // all in bf16: 2 + 2 + 4
    EXPECT_DOUBLE_EQ(statesPerParameter("fp16-mixed", "adamw"), 16); // ZeRO: 2 + 2 + 12
    EXPECT_DOUBLE_EQ(statesPerParameter("fp16-mixed", "sgd-momentum"), 12);
    EXPECT_DOUBLE_EQ(statesPerParameter("fp32", "sgd"), 8);
    EXPECT_DOUBLE_EQ(statesPerParameter("bf16", "sgd-momentum"), 6);
    EXPECT_DOUBLE_EQ(statesPerParameter("fp32", "lion"), 12);
    EXPECT_DOUBLE_EQ(statesPerParameter("bf16", "adam8bit"), 2 + 2 + 2.03125); // 8-bit state whatever the weight is
    EXPECT_EQ(loadPrecision("bf16-mixed")->gathered, 2);
    EXPECT_EQ(loadPrecision("bf16-mixed")->reduced, 2);
    EXPECT_TRUE(loadOptimizer("adafactor")->factored);
    EXPECT_EQ(loadOptimizer("adamw")->stepTransient, 1);
}

TEST(Recipes, WrittenOnesReadBackEqual)
{
    for (const auto& recipe : bundledPrecisions())
        EXPECT_EQ(*readPrecision(writePrecision(recipe), "again"), recipe);
    for (const auto& recipe : bundledOptimizers())
        EXPECT_EQ(*readOptimizer(writeOptimizer(recipe), "again"), recipe);
}

TEST(Recipes, FaultsNameFileAndKey)
{
    const auto faulty = [](const char* key, const Json& value) {
        auto document = Json::parse(writePrecision(*loadPrecision("fp32")));
        document[key] = value;
        const auto recipe = readPrecision(document.dump(), "mine.json");
        return recipe.ok() ? std::string() : recipe.error().message;
    };
    const std::vector<std::pair<const char*, Json>> changes = {
        {"weight", 0},        {"weight", -4},      {"weight", 1e9},
        {"weight", "4"},      {"compute", "bf17"}, {"compute", 16},
        {"reduced", nullptr}, {"gathered", false}, {"format", "loadline.optimizer/1"},
        {"name", ""},         {"momentum", 4}};
    for (const auto& [key, value] : changes) {
        const auto message = faulty(key, value);
        EXPECT_NE(message.find("mine.json"), std::string::npos) << key << ": " << message;
        EXPECT_NE(message.find(key), std::string::npos) << key << ": " << message;
    }
    const auto optimizer = readOptimizer(R"({"format":"loadline.optimizer/1","name":"x","state":-1})", "mine.json");
    ASSERT_FALSE(optimizer.ok());
    EXPECT_NE(optimizer.error().message.find("'state'"), std::string::npos);
    EXPECT_FALSE(readOptimizer(R"({"format":"loadline.optimizer/2","name":"x","state":1})", "mine.json").ok());
    const auto unknown = loadOptimizer("adamx");
    ASSERT_FALSE(unknown.ok());
    EXPECT_NE(unknown.error().message.find("adamw"), std::string::npos) << unknown.error().message;
}

} // namespace
} // namespace loadline
