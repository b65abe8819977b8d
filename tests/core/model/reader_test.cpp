// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.hpp"
#include "core/model/format.hpp"
#include "core/model/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace loadline {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

const std::string kFolder = LOADLINE_SOURCE_DIR "/tests/data/models/";

/// A small Llama, with `changes` merged in; null in `changes` stands as null.
std::string llama(const Json& changes)
{
    Json config{{"model_type", "llama"},  {"hidden_size", 64},        {"intermediate_size", 128},
                {"num_hidden_layers", 2}, {"num_attention_heads", 4}, {"vocab_size", 1000}};
    for (const auto& [key, value] : changes.items())
        config[key] = value;
    return config.dump();
}

std::string problemWith(const std::string& text)
{
    const auto model = readModel(text, "'config.json'");
    return model.ok() ? "" : model.error().message;
}

const Operator* find(const Model& model, std::string_view name)
{
    const auto at = std::find_if(model.operators.begin(), model.operators.end(), [&](const auto& op) { return op.name == name; });
    return at == model.operators.end() ? nullptr : &*at;
}

TEST(ReadModel, NamesTheKeyOfAMistake)
{
    const std::vector<std::pair<Json, std::string>> mistakes{
        {{{"hidden_size", "64"}}, "'hidden_size' is \"64\""},
        {{{"hidden_size", 64.5}}, "'hidden_size' is 64.5"},
        {{{"hidden_size", -64}}, "'hidden_size' is -64"},
        {{{"hidden_size", 0}}, "'hidden_size' is 0"},
        {{{"hidden_size", 1e99}}, "'hidden_size' is 1e+99"},
        {{{"hidden_size", true}}, "'hidden_size' is true"},
        {{{"hidden_size", Json::array({64})}}, "'hidden_size' is a list"},
        {{{"hidden_size", nullptr}}, "'hidden_size' is missing"},
        {{{"hidden_size", 1 << 25}}, "'hidden_size' is 33554432"},
        {{{"num_hidden_layers", 10001}}, "'num_hidden_layers' is 10001"},
        {{{"vocab_size", 200000000}}, "'vocab_size' is 200000000"},
        {{{"num_attention_heads", 5}}, "5 attention heads"},
        {{{"num_key_value_heads", 3}}, "'num_key_value_heads'"},
        {{{"hidden_act", "relu99"}}, "'relu99'"},
        {{{"attention_dropout", 1.5}}, "'attention_dropout' is 1.5"},
        {{{"attention_dropout", "x"}}, "'attention_dropout'"},
        {{{"tie_word_embeddings", 1}}, "'tie_word_embeddings' is 1"},
        {{{"model_type", 3}}, "'model_type' is 3"},
        {{{"model_type", "nonsense"}}, "'model_type' is 'nonsense'"},
        {{{"architectures", "x"}}, "'architectures'"},
    };
    for (const auto& [change, expected] : mistakes) {
        const auto problem = problemWith(llama(change));
        EXPECT_THAT(problem, AllOf(HasSubstr("'config.json'"), HasSubstr(expected)));
        EXPECT_THAT(problem, Not(HasSubstr("\n")));
    }
}

TEST(ReadModel, RefusesWhatIsNoModel)
{
    for (const char* text :
         {"", " ", "[]", "3", "null", "{}", "{\"model_type\":null}", "{\"format\":1}", "{\"format\":\"loadline.plan/1\"}", "\xff\xfe",
          "{\"model_type\":\"llama\"", "{\"model_type\":\"llama\",\"model_type\":\"llama\"}", "NaN"})
        EXPECT_NE(problemWith(text), "") << text;
    EXPECT_NE(problemWith(std::string(100000, '{')), "");
    EXPECT_NE(problemWith(R"({"a":)" + std::string(5000, '[')), "");
}

TEST(ReadModel, SurvivesEveryTruncationOfARealFile)
{
    const auto text = readFile(kFolder + "t5-base.json");
    ASSERT_TRUE(text.ok());
    for (std::size_t size = 0; size + 3 < text->size(); size += 7)
        EXPECT_FALSE(readModel(text->substr(0, size), "x").ok()) << size;
}

TEST(ReadModel, SurvivesWrongTypesUnderEveryKeyOfEverySample)
{
    const std::vector<Json> values{nullptr, -1, 0, 1, 3, 7.5, 1e300, "x", true, Json::array(), Json::array({1, "x"}), Json::object()};
    for (const auto* name : {"llama3-8b", "deepseek-v3-671b", "gpt-oss-20b", "bart-large-cnn", "whisper-medium", "clip-vit-large-patch14",
                             "albert-base-v1", "falcon-40b", "mpt-7b", "published/gpt-neo-1.3b", "published/dbrx", "gemma2-2b"}) {
        const auto text = readFile(kFolder + name + ".json");
        ASSERT_TRUE(text.ok());
        const auto config = parseJson(*text, name);
        ASSERT_TRUE(config.ok());
        for (const auto& item : config->items())
            for (const auto& value : values) {
                Json changed = *config;
                changed[item.key()] = value;
                const auto model = readModel(changed.dump(), "x"); // an answer or a sentence, never a crash
                EXPECT_TRUE(model.ok() || !model.error().message.empty());
            }
    }
}

TEST(ReadModel, RefusesSizesThatNoOneCanCount)
{
    const auto problem =
        problemWith(R"({"model_type":"mixtral","hidden_size":16777216,"intermediate_size":16777216,"num_local_experts":16777216,
        "num_hidden_layers":10000,"num_attention_heads":8,"num_key_value_heads":8,"vocab_size":100000000,"head_dim":16777216})");
    EXPECT_THAT(problem, HasSubstr("2^53 parameters"));
}

TEST(ReadModel, ReadsThePythonDialect)
{
    EXPECT_EQ(problemWith(R"({"model_type":"llama","hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,"num_attention_heads":4,
        "vocab_size":1000,"limits":[0.0,Infinity],"x":NaN})"),
              "");
}

TEST(ReadModel, RefusesStateSpaceLayersAndSaysWhatToDo)
{
    for (const auto* name : {"mamba-130m-novocab.json", "nemotron-h-56b.json"}) {
        const auto model = loadModel(kFolder + name);
        ASSERT_FALSE(model.ok());
        EXPECT_EQ(model.error().code, ErrorCode::Unsupported);
        EXPECT_THAT(model.error().message, AllOf(HasSubstr("'model_type'"), HasSubstr("state-space"), HasSubstr("docs/model-format.md")));
    }
}

TEST(ReadModel, NotesDefaultsAndConflicts)
{
    const auto model = readModel(llama({{"num_key_value_heads", nullptr}, {"n_layers", 3}}), "x");
    ASSERT_TRUE(model.ok()) << model.error().message;
    EXPECT_THAT(model->notes, Contains(AllOf(HasSubstr("num_key_value_heads = 4"), HasSubstr("max_position_embeddings = 2048"))));
    EXPECT_THAT(model->notes, Contains(HasSubstr("'n_layers' is 3")));
    EXPECT_EQ(model->layerCount(), 2);
}

TEST(ReadModel, FindsTheFamilyByItsClass)
{
    auto config = Json::parse(llama({{"architectures", Json::array({"LLaMAForCausalLM"})}}));
    config.erase("model_type");
    const auto model = readModel(config.dump(), "x");
    ASSERT_TRUE(model.ok()) << model.error().message;
    EXPECT_EQ(model->family, "llama");
}

TEST(ReadModel, CountsTiedWeightsOnceAndSaysSo)
{
    const auto tied = readModel(llama({{"tie_word_embeddings", true}}), "x");
    const auto untied = readModel(llama({{"tie_word_embeddings", false}}), "x");
    ASSERT_TRUE(tied.ok() && untied.ok());
    EXPECT_EQ(untied->parameterCount() - tied->parameterCount(), 64 * 1000);
    EXPECT_THAT(tied->notes, Contains(HasSubstr("tied")));
    const auto* head = find(*tied, "lm_head");
    ASSERT_NE(head, nullptr);
    EXPECT_EQ(head->sharesWith, "model.embed_tokens");
    EXPECT_TRUE(head->parameters.empty());
}

TEST(ReadModel, TakesTheClassOfAnEncoderAsItStands)
{
    const auto text = readFile(kFolder + "bert-base.json");
    ASSERT_TRUE(text.ok());
    const std::vector<std::pair<std::string, std::int64_t>> counts{{"BertForMaskedLM", 109514298},
                                                                   {"BertForPreTraining", 110106428},
                                                                   {"BertModel", 109482240},
                                                                   {"BertForSequenceClassification", 109483778}};
    for (const auto& [name, count] : counts) {
        auto config = Json::parse(*text);
        config["architectures"] = Json::array({name});
        const auto model = readModel(config.dump(), "x");
        ASSERT_TRUE(model.ok()) << model.error().message;
        EXPECT_EQ(model->parameterCount(), count) << name;
    }
}

TEST(ReadModel, UsesWindowsOnlyWhereTheyAreActive)
{
    const auto window = [](const Model& model, const std::string& name) {
        return std::get<AttentionTraits>(find(model, name)->traits).window;
    };
    const auto qwen = loadModel(kFolder + "qwen2-7b.json");
    const auto mistral = loadModel(kFolder + "mistral-7b.json");
    const auto gemma = loadModel(kFolder + "gemma2-2b.json");
    const auto gptOss = loadModel(kFolder + "gpt-oss-20b.json");
    ASSERT_TRUE(qwen.ok() && mistral.ok() && gemma.ok() && gptOss.ok());
    EXPECT_EQ(window(*qwen, "model.layers.27.self_attn.attention"), 0);
    EXPECT_EQ(window(*mistral, "model.layers.0.self_attn.attention"), 4096);
    EXPECT_EQ(window(*gemma, "model.layers.0.self_attn.attention"), 4096);
    EXPECT_EQ(window(*gemma, "model.layers.1.self_attn.attention"), 0);
    EXPECT_EQ(window(*gptOss, "model.layers.0.self_attn.attention"), 128);
    EXPECT_EQ(window(*gptOss, "model.layers.1.self_attn.attention"), 0);
}

TEST(ReadModel, KeepsShapesAsPyTorchStoresThem)
{
    const auto shape = [](const Model& model, const std::string& name) { return find(model, name)->parameters.front().shape; };
    const auto gpt = loadModel("gpt2-xl");
    const auto mixtral = loadModel("mixtral-8x7b");
    ASSERT_TRUE(gpt.ok() && mixtral.ok());
    EXPECT_THAT(shape(*gpt, "transformer.h.0.attn.c_attn"), testing::ElementsAre(1600, 4800)); // Conv1D: in, out
    EXPECT_THAT(shape(*mixtral, "model.layers.0.self_attn.k_proj"), testing::ElementsAre(1024, 4096));
    EXPECT_THAT(shape(*mixtral, "model.layers.0.mlp.experts"), testing::ElementsAre(8, 28672, 4096));
}

TEST(ReadModel, OrdersOperatorsAsTheyRun)
{
    const auto model = loadModel("llama3-8b");
    ASSERT_TRUE(model.ok());
    std::vector<std::string> names;
    for (const auto& op : model->operators)
        if (op.layer == 0)
            names.push_back(op.name.substr(std::string("model.layers.0.").size()));
    EXPECT_THAT(names, testing::ElementsAre("input_layernorm", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                                            "self_attn.attention", "self_attn.o_proj", "post_attention_layernorm", "mlp.gate_proj",
                                            "mlp.up_proj", "mlp.act_fn", "mlp.down_proj"));
    EXPECT_EQ(model->operators.front().place, Place::Embedding);
    EXPECT_EQ(model->operators.back().place, Place::Loss);
}

TEST(ReadModel, BuildsTenThousandLayers)
{
    const auto model = readModel(llama({{"num_hidden_layers", 10000}}), "x");
    ASSERT_TRUE(model.ok()) << model.error().message;
    EXPECT_EQ(model->layerCount(), 10000);
    EXPECT_EQ(model->operators.size(), 10000U * 11 + 4);
}

TEST(LoadModel, OpensEveryBundledModel)
{
    const auto names = bundledModels();
    for (const auto* name : {"bert-large", "gemma-2b", "gpt-tiny", "gpt2-small", "gpt2-xl", "ic-mix", "llama2-70b", "llama2-7b",
                             "llama3-8b", "mistral-7b", "mixtral-8x7b", "opt-125m", "qwen3-0.6b", "t5-base"})
        EXPECT_THAT(names, Contains(name));
    for (const auto& name : names) {
        const auto model = loadModel(name);
        ASSERT_TRUE(model.ok()) << model.error().message;
        EXPECT_EQ(model->name, name);
        std::set<std::string> unique;
        for (const auto& op : model->operators)
            EXPECT_TRUE(unique.insert(op.name).second) << op.name;
    }
}

TEST(LoadModel, SaysWhatThereIsInsteadOfAnUnknownName)
{
    const auto model = loadModel("llama9");
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(model.error().code, ErrorCode::NotFound);
    EXPECT_THAT(model.error().message, AllOf(HasSubstr("'llama9'"), HasSubstr("gpt-tiny")));
}

} // namespace
} // namespace loadline
