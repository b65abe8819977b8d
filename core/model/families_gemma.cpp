// SPDX-License-Identifier: GPL-3.0-or-later
// Google's decoders: RMSNorm that multiplies by 1 + weight, tied embeddings, windows on most layers.
#include "core/model/families.hpp"
#include "core/model/family_parts.hpp"

#include <array>

namespace loadline {
namespace {

constexpr RmsDefaults kGemma{.headDim = 256, .tied = true, .activation = "gelu_pytorch_tanh"};

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
    auto s = rmsDecoder(c, kGemma);
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

constexpr std::array kFamilies{
    Family{"gemma", "GemmaFor", gemma},
    Family{"gemma2", "Gemma2For", gemma2},
    Family{"gemma3_text", "Gemma3ForCausal", gemma3Text},
    Family{"gemma3", "Gemma3ForConditional", gemma3},
};

} // namespace

std::span<const Family> gemmaFamilies()
{
    return kFamilies;
}

} // namespace loadline
