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
    const bool bias = c.flagOr("attention_bias", false);
    s.qkvBias = s.outBias = bias;
    s.upBias = s.downBias = c.flagOr("mlp_bias", false);
    finishDecoder(c, s, b);
}

void mistral(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(c);
    setWindows(s, c.optionalInteger("sliding_window", kTokenRange).value_or(0));
    finishDecoder(c, s, b);
}

void mixtral(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(c);
    setWindows(s, c.optionalInteger("sliding_window", kTokenRange).value_or(0));
    s.experts.experts = c.integerOr("num_local_experts num_experts", 8);
    s.experts.active = c.integerOr("num_experts_per_tok", 2);
    s.experts.width = s.layers.empty() ? 1 : s.layers.front().width;
    for (auto& layer : s.layers)
        layer.sparse = true;
    finishDecoder(c, s, b);
}

/// Qwen 2 and 3 use a window only if told to, and then only from layer `max_window_layers` on.
void qwenWindows(ConfigReader& c, DecoderSpec& s)
{
    const bool used = c.flagOr("use_sliding_window", false);
    const auto window = c.optionalInteger("sliding_window", kTokenRange).value_or(0);
    if (!used || window == 0)
        return;
    const auto types = c.texts("layer_types");
    if (!types.empty())
        return setWindowsByType(c, s, types, window);
    const auto first = c.integerOr("max_window_layers", 28, kFromZero);
    for (std::size_t i = 0; i < s.layers.size(); ++i)
        s.layers[i].window = static_cast<std::int64_t>(i) >= first ? window : 0;
}

void qwen2(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(c);
    s.qkvBias = true;
    qwenWindows(c, s);
    finishDecoder(c, s, b);
}

void qwen3(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(c, {.headDim = 128});
    s.qkNorm = QkNorm::PerHead;
    s.qkvBias = s.outBias = c.flagOr("attention_bias", false);
    qwenWindows(c, s);
    finishDecoder(c, s, b);
}

void gemma(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(c, {.headDim = 256, .tied = true, .activation = "gelu_pytorch_tanh"});
    s.norm = NormKind::GemmaRms;
    s.qkvBias = s.outBias = c.flagOr("attention_bias", false);
    finishDecoder(c, s, b);
}

constexpr std::array kFamilies{
    Family{"llama", "Llama", llama},          Family{"mistral", "Mistral", mistral},    Family{"mixtral", "Mixtral", mixtral},
    Family{"qwen2", "Qwen2ForCausal", qwen2}, Family{"qwen3", "Qwen3ForCausal", qwen3}, Family{"gemma", "GemmaFor", gemma},
};

} // namespace

std::span<const Family> llamaFamilies()
{
    return kFamilies;
}

} // namespace loadline
