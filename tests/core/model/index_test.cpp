// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.hpp"
#include "core/model/index_check.hpp"
#include "core/model/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace loadline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kFolder = LOADLINE_SOURCE_DIR "/tests/data/models/";

std::vector<std::string> differences(const std::string& config, const std::string& index)
{
    const auto model = loadModel(kFolder + config);
    const auto text = readFile(kFolder + "index/" + index);
    if (!model.ok() || !text.ok())
        return {"no such file"};
    const auto sentences = checkIndex(*model, *text, "the index");
    return sentences.ok() ? *sentences : std::vector<std::string>{sentences.error().message};
}

TEST(CheckIndex, FindsNothingWhereAllAgrees)
{
    EXPECT_THAT(differences("gemma-2b.json", "index-gemma-2b.safetensors.index.json"), IsEmpty());
    EXPECT_THAT(differences("mistral-7b.json", "index-mistral-7b.bin.index.json"), IsEmpty());
}

TEST(CheckIndex, TakesOlderNamesWithoutTheirPrefix)
{
    EXPECT_THAT(differences("bloom-176b.json", "index-bloom-176b.bin.index.json"), IsEmpty());
}

TEST(CheckIndex, TellsRotaryBuffersFromParameters)
{
    const auto explained = AllOf(HasSubstr("32 buffers"), HasSubstr("inv_freq"));
    EXPECT_THAT(differences("llama-7b.json", "index-llama-7b.bin.index.json"), ElementsAre(explained));
    EXPECT_THAT(differences("llama2-7b-fp32.json", "index-llama2-7b-fp32.safetensors.index.json"), ElementsAre(explained));
}

TEST(CheckIndex, CountsATiedHeadThatIsKeptTwice)
{
    EXPECT_THAT(differences("falcon-40b.json", "index-falcon-40b.bin.index.json"), ElementsAre(HasSubstr("tied 'lm_head.weight'")));
}

TEST(CheckIndex, ReportsAWrongTotal)
{
    EXPECT_THAT(differences("llama3-8b.json", "index-llama3-8b-WRONGTOTAL.safetensors.index.json"),
                ElementsAre(AllOf(HasSubstr("17671135232"), HasSubstr("1610612736 bytes too many"), HasSubstr("num_key_value_heads"))));
}

TEST(CheckIndex, CountsMasksThatOldCheckpointsKeep)
{
    // The total of the real index of this model; its names are repeated here from the pattern that they follow.
    std::string map;
    for (int i = 0; i < 32; ++i)
        for (const auto* name : {"bias", "masked_bias", "rotary_emb.inv_freq"})
            map += (map.empty() ? "\"" : ",\"") + ("gpt_neox.layers." + std::to_string(i)) + ".attention." + name + "\":\"a.bin\"";
    const auto model = loadModel(kFolder + "gpt_neox-7b-redpajama.json");
    ASSERT_TRUE(model.ok());
    const auto sentences = checkIndex(*model, "{\"metadata\":{\"total_size\":13731385408.0},\"weight_map\":{" + map + "}}", "the index");
    ASSERT_TRUE(sentences.ok());
    EXPECT_THAT(*sentences, ElementsAre(HasSubstr("96 buffers"), HasSubstr("lacks")));
}

TEST(CheckIndex, NamesWhatIsMissingAndWhatIsTooMuch)
{
    const auto sentences = differences("llama2-7b.json", "index-gemma-2b.safetensors.index.json");
    EXPECT_THAT(sentences, ElementsAre(HasSubstr("lacks 'model.layers.18.input_layernorm.weight'"), HasSubstr("bytes too few")));
    EXPECT_THAT(differences("gemma-2b.json", "index-mistral-7b.bin.index.json"),
                ElementsAre(HasSubstr("tied"), HasSubstr("which the configuration does not ask for"), HasSubstr("too many")));
}

TEST(CheckIndex, RefusesWhatIsNoIndex)
{
    const auto model = loadModel("gpt-tiny");
    ASSERT_TRUE(model.ok());
    for (const char* text : {"", "[]", "{}", "{\"weight_map\": 3}", "{\"metadata\": 1}", "{\"metadata\": {\"total_size\": \"x\"}}",
                             "{\"metadata\": {\"total_size\": -1}}", "{\"metadata\": {\"total_size\": 1e99}}"})
        EXPECT_FALSE(checkIndex(*model, text, "the index").ok()) << text;
}

TEST(LoadModel, ComparesWithTheIndexInTheSameFolder)
{
    const auto folder = std::filesystem::path(testing::TempDir()) / "loadline-index-test" / "Llama-3-8B";
    std::filesystem::create_directories(folder);
    const auto copy = [&](const std::string& from, const std::string& to) {
        std::filesystem::copy_file(kFolder + from, folder / to, std::filesystem::copy_options::overwrite_existing);
    };
    copy("llama3-8b.json", "config.json");
    copy("index/index-llama3-8b-WRONGTOTAL.safetensors.index.json", "model.safetensors.index.json");
    std::ofstream(folder / "pytorch_model.bin.index.json") << "{";
    const auto model = loadModel((folder / "config.json").string());
    ASSERT_TRUE(model.ok()) << model.error().message;
    EXPECT_EQ(model->name, "Llama-3-8B");
    EXPECT_THAT(model->notes, testing::Contains(HasSubstr("too many")));
    EXPECT_THAT(model->notes, testing::Contains(HasSubstr("Not compared")));
    std::filesystem::remove_all(folder.parent_path());
}

} // namespace
} // namespace loadline
