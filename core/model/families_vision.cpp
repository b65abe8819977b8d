// SPDX-License-Identifier: GPL-3.0-or-later
// Images: ViT, and CLIP with its text tower. The number of tokens follows from image and patch size, not from the run.
#include "core/model/encoder_parts.hpp"
#include "core/model/families.hpp"
#include "core/model/family_parts.hpp"

#include <fmt/format.h>

#include <array>

namespace loadline {
namespace {

struct Image {
    std::int64_t channels = 3, size = 224, patch = 16;

    [[nodiscard]] std::int64_t patches() const { return (size / patch) * (size / patch); }
    [[nodiscard]] std::int64_t tokens() const { return patches() + 1; } ///< and the class token
};

Image readImage(ConfigReader& c, std::int64_t patch)
{
    Image image;
    image.channels = c.integerOr("num_channels", 3);
    image.size = c.integerOr("image_size", 224, {1, 1 << 16});
    image.patch = c.integerOr("patch_size", patch, {1, 1 << 16});
    c.require(image.size % image.patch == 0,
              fmt::format("the image size {} cannot be divided by the patch size {}; correct the key '{}patch_size'", image.size,
                          image.patch, c.path()));
    return image;
}

/// One token a patch: a convolution whose stride is its kernel.
void patchConvolution(const std::string& name, const Image& image, std::int64_t hidden, bool bias, ModelBuilder& b)
{
    b.add(name,
          ConvolutionTraits{
              image.channels, hidden, image.patch * image.patch, image.channels * image.size * image.size, {.fixed = image.patches()}});
    b.parameter("weight", {hidden, image.channels, image.patch, image.patch});
    if (bias)
        b.parameter("bias", {hidden});
}

StackSpec preNormStack()
{
    StackSpec s;
    s.norm = NormKind::Layer;
    s.normBias = s.qkvBias = s.outBias = s.upBias = s.downBias = true;
    s.mlpLayout = MlpLayout::Plain;
    return s;
}

void vit(ConfigReader& c, ModelBuilder& b)
{
    auto s = preNormStack();
    s.attention.causal = false;
    s.names = {.layers = "layers",
               .attention = "attention",
               .attentionDropout = "attention.dropout",
               .up = "fc1",
               .down = "fc2",
               .activation = "activation_fn",
               .mlpDropout = "mlp.dropout",
               .norm1 = "layernorm_before",
               .norm2 = "layernorm_after"};
    s.hidden = c.integerOr("hidden_size", 768);
    const auto image = readImage(c, 16);
    const auto layers = c.integerOr("num_hidden_layers", 12, kLayerRange);
    const auto heads = c.integerOr("num_attention_heads", 12);
    const auto width = c.integerOr("intermediate_size", 4 * s.hidden);
    s.activation = readActivation(c, "hidden_act", "gelu", false);
    s.qkvBias = c.flagOr("qkv_bias", true);
    s.attentionOutDropout = s.mlpDropout = c.probabilityOr("hidden_dropout_prob", 0);
    s.attention.dropout = c.probabilityOr("attention_probs_dropout_prob", 0);
    setLayers(s, layers, fullHeads(c, s.hidden, heads, width));
    const auto kind = headKind(c, "ForImageClassification");
    if (!c.ok())
        return;
    const std::string base = kind == "Model" ? "" : "vit.";
    s.names.layers = base + "layers";
    s.tokens = {.fixed = image.tokens()};
    b.model.hidden = s.hidden;
    b.model.defaultSequence = image.tokens();
    b.enter(Place::Embedding);
    b.tokens(s.tokens);
    patchConvolution(base + "embeddings.patch_embeddings.projection", image, s.hidden, true, b);
    b.add(base + "embeddings", CustomTraits{}); // adds its parameters and saves nothing
    b.parameter("cls_token", {1, 1, s.hidden});
    b.parameter("position_embeddings", {1, image.tokens(), s.hidden});
    b.dropout(base + "embeddings.dropout", s.hidden, s.mlpDropout);
    buildLayers(s, b);
    b.enter(Place::FinalNorm);
    b.norm(base + "layernorm", {.norm = NormKind::Layer, .width = s.hidden}, true);
    if (kind == "Model")
        poolFirstToken("pooler.dense", s.hidden, b);
    else
        classifyPooled("classifier", s.hidden, labelCount(c), b);
}

/// One of CLIP's towers without its embeddings.
StackSpec clipTower(ConfigReader& c, const std::string& base, std::int64_t hidden, std::int64_t heads, std::int64_t width)
{
    auto s = preNormStack();
    s.names = {.layers = base + ".encoder.layers",
               .o = "out_proj",
               .up = "fc1",
               .down = "fc2",
               .activation = "activation_fn",
               .norm1 = "layer_norm1",
               .norm2 = "layer_norm2"};
    s.attention.softmaxInFp32 = false;
    s.hidden = c.integerOr("hidden_size", hidden);
    const auto layers = c.integerOr("num_hidden_layers", 12, kLayerRange);
    const auto headCount = c.integerOr("num_attention_heads", heads);
    s.activation = readActivation(c, "hidden_act", "quick_gelu", false);
    s.attention.dropout = c.probabilityOr("attention_dropout", 0);
    setLayers(s, layers, fullHeads(c, s.hidden, headCount, c.integerOr("intermediate_size", width)));
    return s;
}

/// A linear over one vector a sequence.
void projectPooled(const std::string& name, std::int64_t in, std::int64_t out, ModelBuilder& b)
{
    b.tokens({.fixed = 1});
    b.linear(name, in, out);
    b.tokens({});
}

void imageTower(const StackSpec& s, const Image& image, ModelBuilder& b)
{
    b.enter(Place::Embedding);
    b.tokens(s.tokens);
    patchConvolution("vision_model.embeddings.patch_embedding", image, s.hidden, false, b);
    b.add("vision_model.embeddings", CustomTraits{});
    b.parameter("class_embedding", {s.hidden});
    b.embedding("vision_model.embeddings.position_embedding", image.tokens(), s.hidden, true);
    b.norm("vision_model.pre_layrnorm", {.norm = NormKind::Layer, .width = s.hidden, .readers = 0}, true);
    buildLayers(s, b);
    b.enter(Place::Between);
    b.tokens({.fixed = 1}); // the class token alone
    b.norm("vision_model.post_layernorm", {.norm = NormKind::Layer, .width = s.hidden}, true);
}

void textTower(const StackSpec& s, int first, ModelBuilder& b)
{
    b.tokens(s.tokens);
    b.embedding("text_model.embeddings.token_embedding", s.vocabulary, s.hidden);
    b.embedding("text_model.embeddings.position_embedding", s.positions, s.hidden, true);
    buildLayers(s, b, first);
    b.enter(Place::FinalNorm);
    b.tokens(s.tokens);
    b.norm("text_model.final_layer_norm", {.norm = NormKind::Layer, .width = s.hidden}, true);
}

void clip(ConfigReader& c, ModelBuilder& b)
{
    auto vision = c.child("vision_config");
    auto imageStack = clipTower(vision, "vision_model", 768, 12, 3072);
    const auto image = readImage(vision, 32);
    c.take(vision);
    auto text = c.child("text_config");
    auto textStack = clipTower(text, "text_model", 512, 8, 2048);
    textStack.vocabulary = text.integerOr("vocab_size", 49408, kVocabularyRange);
    textStack.positions = text.integerOr("max_position_embeddings", 77, kTokenRange);
    c.take(text);
    const auto projection = c.integerOr("projection_dim", 512);
    const auto kind = headKind(c, "Model");
    c.require(kind == "Model", "the key 'architectures' must be CLIPModel: Loadline plans both towers together");
    if (!c.ok())
        return;
    imageStack.attention.causal = false;
    imageStack.tokens = {.fixed = image.tokens()};
    textStack.tokens = {.most = textStack.positions};
    b.model.hidden = textStack.hidden;
    b.model.defaultSequence = textStack.positions;
    imageTower(imageStack, image, b);
    textTower(textStack, static_cast<int>(imageStack.layers.size()), b);
    b.enter(Place::Head);
    projectPooled("visual_projection", imageStack.hidden, projection, b);
    projectPooled("text_projection", textStack.hidden, projection, b);
    b.tokens({.fixed = 1});
    b.add("logits", CustomTraits{});
    b.namedParameter("logit_scale", {1}); // a scalar in the checkpoint; FSDP2 wants one element
    b.enter(Place::Loss);
    b.add("loss", LossTraits{.loss = LossKind::Classification, .classes = 1, .upcasts = false});
    b.model.notes.push_back("The contrastive loss compares the sequences of a batch; its few bytes are left out.");
}

constexpr std::array kFamilies{
    Family{"vit", "ViT", vit},
    Family{"clip", "CLIP", clip},
};

} // namespace

std::span<const Family> visionFamilies()
{
    return kFamilies;
}

} // namespace loadline
