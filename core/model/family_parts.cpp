// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/family_parts.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

namespace loadline {
namespace {

struct ActivationName {
    std::string_view name;
    ActivationKind plain;
    ActivationKind gated;
};
constexpr std::array kActivations{
    ActivationName{"silu", ActivationKind::Silu, ActivationKind::GatedSilu},
    ActivationName{"swish", ActivationKind::Silu, ActivationKind::GatedSilu},
    ActivationName{"gelu", ActivationKind::Gelu, ActivationKind::GatedGelu},
    ActivationName{"gelu_python", ActivationKind::Gelu, ActivationKind::GatedGelu},
    ActivationName{"gelu_new", ActivationKind::GeluNew, ActivationKind::GatedGeluNew},
    ActivationName{"gelu_fast", ActivationKind::GeluNew, ActivationKind::GatedGeluNew},
    ActivationName{"gelu_pytorch_tanh", ActivationKind::GeluTanh, ActivationKind::GatedGeluTanh},
    ActivationName{"quick_gelu", ActivationKind::QuickGelu, ActivationKind::GatedGelu},
    ActivationName{"relu", ActivationKind::Relu, ActivationKind::GatedGelu},
    ActivationName{"tanh", ActivationKind::Tanh, ActivationKind::GatedGelu},
};

} // namespace

ActivationKind activationNamed(ConfigReader& c, std::string_view key, std::string_view name, bool gated)
{
    for (const auto& known : kActivations)
        if (known.name == name)
            return gated ? known.gated : known.plain;
    c.fail(fmt::format("the key '{}' names the activation '{}', which Loadline does not know; use one of silu, gelu, gelu_new, "
                       "gelu_pytorch_tanh, quick_gelu, relu and tanh, or describe the model by hand as docs/model-format.md says",
                       key, name.substr(0, 40)),
           ErrorCode::Unsupported);
    return gated ? ActivationKind::GatedSilu : ActivationKind::Gelu;
}

ActivationKind readActivation(ConfigReader& c, std::string_view keys, std::string_view fallback, bool gated)
{
    const auto name = c.textOr(keys, fallback);
    return activationNamed(c, keys.substr(0, keys.find(' ')), name, gated);
}

bool readTied(ConfigReader& c, bool fallback)
{
    return c.flagOr("tie_word_embeddings", fallback);
}

std::int64_t dividedHeads(ConfigReader& c, std::int64_t hidden, std::int64_t heads)
{
    c.require(
        heads <= hidden && hidden % heads == 0,
        fmt::format("the hidden size {} cannot be divided by the {} attention heads; correct the key for one of them", hidden, heads));
    return std::max<std::int64_t>(1, hidden / heads);
}

void setLayers(DecoderSpec& s, std::int64_t layers, const DecoderLayer& layer)
{
    s.layers.assign(static_cast<std::size_t>(layers), layer);
}

void setWindows(DecoderSpec& s, std::int64_t window)
{
    for (auto& layer : s.layers)
        layer.window = window;
}

void setWindowsByType(ConfigReader& c, DecoderSpec& s, const std::vector<std::string>& types, std::int64_t window)
{
    if (types.size() < s.layers.size())
        return c.fail(fmt::format("the key 'layer_types' has {} entries for {} layers; give one a layer", types.size(), s.layers.size()));
    for (std::size_t i = 0; i < s.layers.size(); ++i) {
        if (types[i] != "full_attention" && types[i] != "sliding_attention" && types[i] != "chunked_attention")
            return c.fail(fmt::format("the key 'layer_types' has '{}' at layer {}, but Loadline plans only full_attention, "
                                      "sliding_attention and chunked_attention; describe the model by hand as docs/model-format.md says",
                                      types[i].substr(0, 40), i),
                          ErrorCode::Unsupported);
        s.layers[i].window = types[i] == "full_attention" ? 0 : window;
    }
}

DecoderSpec rmsDecoder(ConfigReader& c, const RmsDefaults& defaults)
{
    DecoderSpec s;
    s.hidden = c.integer("hidden_size dim n_embd");
    s.vocabulary = c.integer("vocab_size", kVocabularyRange);
    const auto layers = c.integer("num_hidden_layers n_layers n_layer", kLayerRange);
    DecoderLayer layer;
    layer.width = c.integer("intermediate_size");
    layer.heads = c.integer("num_attention_heads n_heads");
    layer.kvHeads = c.integerOr("num_key_value_heads n_kv_heads", layer.heads);
    if (defaults.headDim > 0)
        layer.headDim = c.integerOr("head_dim", defaults.headDim);
    else {
        const auto given = c.optionalInteger("head_dim");
        layer.headDim = given ? *given : dividedHeads(c, s.hidden, layer.heads);
    }
    c.require(layer.heads % layer.kvHeads == 0,
              fmt::format("the {} attention heads cannot be shared by {} key/value heads; correct the key 'num_key_value_heads'",
                          layer.heads, layer.kvHeads));
    layer.valueDim = layer.headDim;
    layer.rotaryDim = layer.headDim;
    s.activation = readActivation(c, "hidden_activation hidden_act", defaults.activation, true);
    s.experts.activation = s.activation;
    s.attentionDropout = c.probabilityOr("attention_dropout", 0);
    s.sequence = c.integerOr("max_position_embeddings max_sequence_length max_seq_len", 2048, kTokenRange);
    s.tied = readTied(c, defaults.tied);
    if (c.ok())
        setLayers(s, layers, layer);
    return s;
}

void finishDecoder(ConfigReader& c, DecoderSpec& s, ModelBuilder& b)
{
    if (s.experts.experts > 0)
        c.require(s.experts.active <= s.experts.experts,
                  fmt::format("{} experts a token are more than the {} there are; correct the key 'num_experts_per_tok'", s.experts.active,
                              s.experts.experts));
    if (c.ok())
        buildDecoder(s, b);
}

} // namespace loadline
