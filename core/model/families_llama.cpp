// SPDX-License-Identifier: GPL-3.0-or-later
// Decoders with RMSNorm, rotary positions and a gated MLP: Llama and what grew from it.
#include "core/model/families.hpp"
#include "core/model/family_parts.hpp"

#include <array>

namespace loadline {
namespace {

void llama(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(c);
    s.qkvBias = s.outBias = c.flagOr("attention_bias", false);
    s.upBias = s.downBias = c.flagOr("mlp_bias", false);
    finishDecoder(c, s, b);
}

void mistral(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(c, {.keyHeads = 8, .sequence = 131072});
    // A missing key means the class's default of 4096, null means none.
    const std::int64_t missing = c.mentions("sliding_window") ? 0 : c.integerOr("sliding_window", 4096, kTokenRange);
    setWindows(s, c.optionalInteger("sliding_window", kTokenRange).value_or(missing));
    finishDecoder(c, s, b);
}

/// Phi-3 and Phi-4: one projection for queries, keys and values, one for both branches of the MLP.
void phi3(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(c, {.sequence = 4096});
    s.names.attentionDropout = "resid_attn_dropout";
    s.names.mlpDropout = "resid_mlp_dropout";
    s.names.embeddingDropout = "model.embed_dropout";
    s.names.activation = "activation_fn";
    s.qkvLayout = QkvLayout::Fused;
    s.attention.rotary = AttentionTraits::Rotary::Concatenated;
    s.mlpLayout = MlpLayout::GatedFused;
    const double part = readRotaryPart(c, "partial_rotary_factor", 1);
    for (auto& layer : s.layers)
        layer.rotaryDim = partOf(layer.headDim, part);
    s.embeddingDropout = c.probabilityOr("embd_pdrop", 0);
    s.attentionOutDropout = s.mlpDropout = c.probabilityOr("resid_pdrop", 0);
    setWindows(s, c.optionalInteger("sliding_window", kTokenRange).value_or(0));
    finishDecoder(c, s, b);
}

/// Qwen 1: GPT-2's names, one projection with bias, and a key that counts both branches of the MLP.
void qwen(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(c, {.sequence = 8192});
    s.names = {.embedding = "transformer.wte",
               .embeddingDropout = "transformer.drop",
               .layers = "transformer.h",
               .attention = "attn",
               .qkv = "c_attn",
               .o = "c_proj",
               .gate = "w2",
               .up = "w1",
               .down = "c_proj",
               .activation = "act",
               .norm1 = "ln_1",
               .norm2 = "ln_2",
               .finalNorm = "transformer.ln_f"};
    s.qkvLayout = QkvLayout::Fused;
    s.qkvBias = true;
    s.embeddingDropout = c.probabilityOr("emb_dropout_prob", 0);
    s.attention.dropout = c.probabilityOr("attn_dropout_prob", 0);
    for (auto& layer : s.layers) {
        c.require(layer.width % 2 == 0, "the key 'intermediate_size' must be even: it counts both branches of the MLP");
        layer.width /= 2;
    }
    finishDecoder(c, s, b);
}

void qwen2(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(c, {.sequence = 32768});
    s.qkvBias = true;
    setQwenWindows(c, s);
    finishDecoder(c, s, b);
}

void qwen3(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(c, {.headDim = 128, .sequence = 32768});
    s.qkNorm = QkNorm::PerHead;
    s.qkvBias = s.outBias = c.flagOr("attention_bias", false);
    setQwenWindows(c, s);
    finishDecoder(c, s, b);
}

/// Baichuan keeps q, k and v in "W_pack"; the 13B models have ALiBi and say so only by lacking a position limit.
void baichuan(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(c, {.sequence = 4096});
    s.names.qkv = "W_pack";
    s.qkvLayout = QkvLayout::Fused;
    s.attention.positionBias = !c.has("max_position_embeddings");
    if (s.attention.positionBias)
        for (auto& layer : s.layers)
            layer.rotaryDim = 0;
    finishDecoder(c, s, b);
}

constexpr std::array kFamilies{
    Family{"llama", "Llama", llama},
    Family{"mistral", "Mistral", mistral},
    Family{"phi3", "Phi3", phi3},
    Family{"qwen", "QWen", qwen},
    Family{"qwen2", "Qwen2For", qwen2},
    Family{"qwen3", "Qwen3For", qwen3},
    Family{"baichuan", "Baichuan", baichuan},
};

} // namespace

std::span<const Family> llamaFamilies()
{
    return kFamilies;
}

} // namespace loadline
