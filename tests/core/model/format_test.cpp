// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.hpp"
#include "core/model/format.hpp"
#include "core/model/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace loadline {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(ModelFormat, ReadsBackEqualForEverySample)
{
    int seen = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(LOADLINE_SOURCE_DIR "/tests/data/models")) {
        if (entry.path().extension() != ".json")
            continue;
        const auto model = loadModel(entry.path().string());
        if (!model)
            continue; // indexes, and the refused ones, which have tests of their own
        const auto back = readModel(writeModel(*model), "'written'");
        ASSERT_TRUE(back.ok()) << entry.path() << ": " << back.error().message;
        EXPECT_TRUE(*back == *model) << entry.path();
        ++seen;
    }
    EXPECT_GE(seen, 60);
}

TEST(ModelFormat, ReadsBackEqualForEveryBundledModel)
{
    for (const auto& name : bundledModels()) {
        const auto model = loadModel(name);
        ASSERT_TRUE(model.ok()) << model.error().message;
        const auto back = readModel(writeModel(*model), "'written'");
        ASSERT_TRUE(back.ok()) << back.error().message;
        EXPECT_TRUE(*back == *model) << name;
    }
}

/// Every field of every kind at a value that is not its default: a field that the format forgets shows here. The structured
/// bindings stop compiling when a kind gets a field more.
TEST(ModelFormat, KeepsEveryFieldOfEveryKind)
{
    const auto [rows, rowWidth, positions, bufferIndices] = EmbeddingTraits{};
    const auto [norm, normWidth, perToken, readers, ofProjection, normSaves] = NormTraits{};
    const auto [in, out, savesInput, castsInput] = LinearTraits{};
    const auto [heads, kvHeads, headDim, valueDim, window, keys, causal, cross, fused, rotaryDim, bias, softCap, dropout, softmax,
                broadcasts, expands, masked, headMajor, scoresInFp32, rotary, hasSdpa] = AttentionTraits{};
    const auto [activation, activationWidth, outputRead] = ActivationTraits{};
    const auto [dropWidth, probability, dropRead] = DropoutTraits{};
    const auto [routerHidden, routerExperts, routerActive, scores, groups] = RouterTraits{};
    const auto [experts, active, hidden, width, expertActivation] = ExpertsTraits{};
    const auto [inChannels, outChannels, kernel, input, outputs] = ConvolutionTraits{};
    const auto [loss, classes, upcasts, fp32Logits, lossCap] = LossTraits{};

    const std::vector<Traits> all{
        EmbeddingTraits{rows + 1, rowWidth + 2, !positions, !bufferIndices},
        NormTraits{NormKind::GptOssRms, normWidth + 1, perToken + 2, readers + 3, !ofProjection, !normSaves},
        LinearTraits{in + 1, out + 2, !savesInput, !castsInput},
        AttentionTraits{heads + 4,      kvHeads + 2,      headDim + 3,   valueDim + 5,
                        window + 6,     TokenCount{7, 8}, !causal,       !cross,
                        !fused,         rotaryDim + 2,    !bias,         softCap + 50,
                        dropout + 0.25, !softmax,         !broadcasts,   !expands,
                        !masked,        !headMajor,       !scoresInFp32, AttentionTraits::Rotary::PerLayer,
                        !hasSdpa},
        ActivationTraits{ActivationKind::GatedClampedSilu, activationWidth + 3, !outputRead},
        DropoutTraits{dropWidth + 1, probability + 0.5, !dropRead},
        RouterTraits{routerHidden + 1, routerExperts + 2, routerActive + 1, RouterTraits::Scores::TopKSoftmax, groups + 2},
        ExpertsTraits{experts + 4, active + 2, hidden + 3, width + 5, ActivationKind::GatedGeluNew},
        ConvolutionTraits{inChannels + 1, outChannels + 2, kernel + 3, input + 4, TokenCount{5, 6}},
        LossTraits{LossKind::Classification, classes + 1, !upcasts, !fp32Logits, lossCap + 30},
        CustomTraits{1.5, 2.25, 3, 4, 5},
    };
    ASSERT_EQ(all.size(), std::variant_size_v<Traits>);
    EXPECT_EQ(loss, LossKind::CausalLm);
    EXPECT_EQ(activation, ActivationKind::Gelu);
    EXPECT_EQ(norm, NormKind::Layer);
    EXPECT_EQ(scores, RouterTraits::Scores::Softmax);
    EXPECT_EQ(expertActivation, ActivationKind::GatedSilu);
    EXPECT_EQ(rotary, AttentionTraits::Rotary::Tables);
    EXPECT_EQ(keys, TokenCount{});
    EXPECT_EQ(outputs, TokenCount{});

    Model model;
    model.name = "all kinds";
    model.family = "custom";
    model.hidden = 8;
    model.defaultSequence = 16;
    model.notes = {"a note", "ünïcode \"quoted\""};
    for (std::size_t i = 0; i < all.size(); ++i) {
        Operator op;
        op.name = "operator." + std::to_string(i);
        op.place = Place::Layer;
        op.layer = static_cast<int>(i / 3);
        op.part = "mlp";
        op.traits = all[i];
        op.tokens = {static_cast<std::int64_t>(i), 3};
        op.parameters = {{op.name + ".weight", {2, 3, 4}, i % 2 == 0}, {op.name + ".bias", {2}, true}};
        model.operators.push_back(op);
    }
    model.operators.back().parameters.clear();
    model.operators.back().sharesWith = "operator.0";
    const auto back = readModel(writeModel(model), "written");
    ASSERT_TRUE(back.ok()) << back.error().message;
    for (std::size_t i = 0; i < model.operators.size(); ++i)
        EXPECT_TRUE(back->operators[i] == model.operators[i]) << i;
    EXPECT_TRUE(*back == model);
}

constexpr const char* kByHand = R"({
 "format": "loadline.model/1", "name": "two layers", "default_sequence": 512,
 "operators": [
  {"name": "words", "place": "embedding", "kind": "embedding", "rows": 1000, "width": 32, "weights": [{"name": "words.weight", "shape": [1000, 32]}]},
  {"name": "mixer.0", "layer": 0, "parameters": 123456, "saved_per_token": 256, "flops_per_token": 246912},
  {"name": "mixer.1", "layer": 1, "parameters": 7, "trainable": false, "saved_per_token_squared": 0.5, "comment": "another width"},
  {"name": "head", "place": "head", "kind": "linear", "in": 32, "out": 1000, "shares_with": "words"}
 ]})";

TEST(ModelFormat, ReadsOperatorsDescribedByHand)
{
    const auto model = readModel(kByHand, "x");
    ASSERT_TRUE(model.ok()) << model.error().message;
    EXPECT_EQ(model->family, "custom");
    EXPECT_EQ(model->parameterCount(), 32000 + 123456 + 7);
    EXPECT_EQ(model->trainableCount(), 32000 + 123456);
    EXPECT_EQ(model->layerCount(), 2);
    EXPECT_EQ(std::get<CustomTraits>(model->operators[1].traits).savedPerToken, 256);
    EXPECT_EQ(std::get<CustomTraits>(model->operators[2].traits).savedPerTokenSquared, 0.5);
}

TEST(ModelFormat, WritesWhatInspectPromises)
{
    const auto model = readModel(kByHand, "x");
    ASSERT_TRUE(model.ok());
    auto document = modelJson(*model);
    EXPECT_EQ(document["format"], "loadline.model/1");
    EXPECT_EQ(document["parameters"], 155463);
    EXPECT_EQ(document["trainable_parameters"], 155456);
    EXPECT_EQ(document["operators"][0]["uses"], 2);
    EXPECT_EQ(document["operators"][3]["uses"], 1);
    EXPECT_EQ(document["operators"][3]["parameters"], 0);
    document["saved_bytes"] = {{"total", 5}}; // what inspect adds is left alone
    for (auto& op : document["operators"])
        op["saved_bytes"] = 1;
    const auto back = readModel(modelText(document), "x");
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_TRUE(*back == *model);
}

TEST(ModelFormat, NamesTheKeyOfAMistake)
{
    const auto problem = [](const std::string& from, const std::string& to) {
        std::string text = kByHand;
        const auto at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
        const auto model = readModel(text, "'m.json'");
        return model.ok() ? std::string() : model.error().message;
    };
    EXPECT_THAT(problem("loadline.model/1", "loadline.model/2"), AllOf(HasSubstr("loadline.model/2"), HasSubstr("newer")));
    EXPECT_THAT(problem("loadline.model/1", "loadline.plan/1"), HasSubstr("give a model"));
    EXPECT_THAT(problem("\"mixer.1\"", "\"mixer.0\""), HasSubstr("'operators[2].name' is 'mixer.0' for the second time"));
    EXPECT_THAT(problem("\"layer\": 1", "\"layer\": 2"), HasSubstr("'operators[2].layer' is 2"));
    EXPECT_THAT(problem("\"layer\": 1,", ""), HasSubstr("'operators[2].layer'"));
    EXPECT_THAT(problem("\"kind\": \"linear\"", "\"kind\": \"lstm\""), HasSubstr("'operators[3].kind' is 'lstm'"));
    EXPECT_THAT(problem("\"place\": \"head\"", "\"place\": \"tail\""), HasSubstr("'operators[3].place' is 'tail'"));
    EXPECT_THAT(problem("\"rows\": 1000, ", ""), HasSubstr("'operators[0].rows' is missing"));
    EXPECT_THAT(problem("[1000, 32]", "[1000, -32]"), HasSubstr("'operators[0].weights[0].shape'"));
    EXPECT_THAT(problem("[1000, 32]", "[]"), HasSubstr("shape"));
    EXPECT_THAT(problem("[1000, 32]", "[9007199254740992, 9007199254740992]"), HasSubstr("2^53"));
    EXPECT_THAT(problem("123456,", "-1,"), HasSubstr("'operators[1].parameters' is -1"));
    EXPECT_THAT(problem("\"shares_with\": \"words\"", "\"shares_with\": \"sentences\""), HasSubstr("'sentences'"));
    EXPECT_THAT(problem("\"saved_per_token\": 256", "\"saved_per_token\": -1"), HasSubstr("'operators[1].saved_per_token'"));
    EXPECT_THAT(problem("\"default_sequence\": 512", "\"default_sequence\": 512, \"parameters\": 5"), HasSubstr("'parameters' is 5"));
    EXPECT_THAT(problem("\"rows\"", "\"parameters\": 3, \"rows\""), HasSubstr("'operators[0].parameters' is 3"));
    EXPECT_NE(readModel(R"({"format": "loadline.model/1", "operators": []})", "x").ok(), true);
    EXPECT_NE(readModel(R"({"format": "loadline.model/1", "operators": [1]})", "x").ok(), true);
    EXPECT_NE(readModel(R"({"format": "loadline.model/1"})", "x").ok(), true);
}

} // namespace
} // namespace loadline
