// SPDX-License-Identifier: GPL-3.0-or-later
// Google's decoders: RMSNorm that multiplies by 1 + weight, tied embeddings, windows on most layers.
#include "core/model/families.hpp"
#include "core/model/family_parts.hpp"

#include <algorithm>
#include <array>

namespace loadline {
namespace {

constexpr RmsDefaults kGemma{.headDim = 256, .tied = true, .activation = "gelu_pytorch_tanh", .keyHeads = 16, .sequence = 8192};
constexpr RmsDefaults kGemma2{.headDim = 256, .tied = true, .activation = "gelu_pytorch_tanh", .keyHeads = 4, .sequence = 8192};

void gemma(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(c, kGemma);
    s.norm = NormKind::GemmaRms;
    s.qkvBias = s.outBias = c.flagOr("attention_bias", false);
    finishDecoder(c, s, b);
}

/// Norms before and after both halves of a layer.
void sandwichNorms(StackSpec& s)
{
    s.norm = NormKind::GemmaRms;
    s.names.norm2 = "pre_feedforward_layernorm";
    s.names.postAttentionNorm = "post_attention_layernorm";
    s.names.postMlpNorm = "post_feedforward_layernorm";
}

/// `layer_types`, or every `pattern`-th layer without a window.
void gemmaWindows(ConfigReader& c, StackSpec& s, std::int64_t window, std::int64_t pattern)
{
    if (const auto types = c.texts("layer_types"); !types.empty())
        return setWindowsByType(c, s, types, window);
    const auto full = c.integerOr("sliding_window_pattern", pattern);
    for (std::size_t i = 0; i < s.layers.size(); ++i)
        s.layers[i].window = (static_cast<std::int64_t>(i) + 1) % full == 0 ? 0 : window;
}

void gemma2(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(c, kGemma2);
    sandwichNorms(s);
    s.attention.hasSdpa = false; // scaled_dot_product_attention has no cap on scores
    s.qkvBias = s.outBias = c.flagOr("attention_bias", false);
    s.attention.softCap = c.capOr("attn_logit_softcapping", 50);
    s.finalSoftCap = c.capOr("final_logit_softcapping", 30);
    gemmaWindows(c, s, c.integerOr("sliding_window", 4096, kTokenRange), 2);
    finishDecoder(c, s, b);
}

void gemma3Text(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(c, {.headDim = 256,
                            .tied = true,
                            .activation = "gelu_pytorch_tanh",
                            .hidden = 2304,
                            .width = 9216,
                            .layers = 26,
                            .heads = 8,
                            .keyHeads = 4,
                            .vocabulary = 262208,
                            .sequence = 131072});
    sandwichNorms(s);
    s.qkNorm = QkNorm::PerHead;
    s.qkvBias = s.outBias = c.flagOr("attention_bias", false);
    s.attention.softCap = c.capOr("attn_logit_softcapping", 0);
    s.finalSoftCap = c.capOr("final_logit_softcapping", 0);
    gemmaWindows(c, s, c.integerOr("sliding_window", 4096, kTokenRange), 6);
    finishDecoder(c, s, b);
}

void gemma3(ConfigReader& c, ModelBuilder& b)
{
    buildTextPart(c, b, gemma3Text);
}

/// Layers that look at everything have wider heads, and in some models no values of their own.
void gemma4Attention(ConfigReader& c, StackSpec& s)
{
    const auto headDim = c.integerOr("global_head_dim", 512);
    const bool keysAreValues = c.flagOr("attention_k_eq_v", false);
    const auto keyHeads = c.optionalInteger("num_global_key_value_heads");
    const auto window = c.integerOr("sliding_window", 512, kTokenRange);
    gemmaWindows(c, s, window, 6);
    if (!s.layers.empty())
        s.layers.back().window = 0;
    for (auto& layer : s.layers) {
        if (layer.window > 0)
            continue;
        layer.headDim = layer.valueDim = layer.rotaryDim = headDim;
        layer.ownValues = !keysAreValues;
        if (keyHeads && keysAreValues)
            layer.kvHeads = *keyHeads;
        requireSharedHeads(c, layer, "num_global_key_value_heads");
    }
}

/// The last layers use the keys and values of the last layer of their kind that has some, and may be wider for it.
void gemma4SharedLayers(ConfigReader& c, StackSpec& s)
{
    const auto count = static_cast<std::int64_t>(s.layers.size());
    const auto shared = c.integerOr("num_kv_shared_layers", 0, {0, kLayerRange.most});
    const bool wide = c.flagOr("use_double_wide_mlp", false);
    c.require(shared <= count || count == 0, "the key 'num_kv_shared_layers' is larger than the number of layers");
    for (auto i = std::max<std::int64_t>(0, count - shared); i < count; ++i) {
        auto& layer = s.layers[static_cast<std::size_t>(i)];
        layer.ownKeys = false;
        layer.width *= wide ? 2 : 1;
    }
}

void gemma4Text(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(c, {.headDim = 256,
                            .tied = true,
                            .activation = "gelu_pytorch_tanh",
                            .hidden = 2304,
                            .width = 9216,
                            .layers = 30,
                            .heads = 8,
                            .keyHeads = 4,
                            .vocabulary = 262144,
                            .sequence = 131072});
    sandwichNorms(s);
    s.qkNorm = QkNorm::PerHead;
    s.valueNorm = true;
    s.qkvBias = s.outBias = c.flagOr("attention_bias", false);
    s.finalSoftCap = c.capOr("final_logit_softcapping", 0);
    gemma4Attention(c, s);
    gemma4SharedLayers(c, s);
    s.perLayerWidth = c.integerOr("hidden_size_per_layer_input", 256, kFromZero);
    s.perLayerVocabulary = c.integerOr("vocab_size_per_layer_input", 262144, kVocabularyRange);
    if (c.flagOr("enable_moe_block", false)) {
        s.expertsBesideMlp = true;
        s.experts.experts = c.integer("num_experts");
        s.experts.active = c.integer("top_k_experts");
        s.experts.width = c.integer("moe_intermediate_size");
        s.experts.activation = s.activation;
        for (auto& layer : s.layers)
            layer.sparse = true;
    }
    finishDecoder(c, s, b);
}

void gemma4(ConfigReader& c, ModelBuilder& b)
{
    buildTextPart(c, b, gemma4Text);
}

constexpr std::array kFamilies{
    Family{"gemma", "GemmaFor", gemma},
    Family{"gemma2", "Gemma2For", gemma2},
    Family{"gemma3_text", "Gemma3ForCausal", gemma3Text},
    Family{"gemma3", "Gemma3ForConditional", gemma3},
    Family{"gemma4_text", "Gemma4ForCausal", gemma4Text},
    Family{"gemma4", "Gemma4ForConditional", gemma4},
};

} // namespace

std::span<const Family> gemmaFamilies()
{
    return kFamilies;
}

} // namespace loadline
