// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/family_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

void setLayers(StackSpec& s, std::int64_t layers, const StackLayer& layer)
{
    s.layers.assign(static_cast<std::size_t>(layers), layer);
}

void setWindows(StackSpec& s, std::int64_t window)
{
    for (auto& layer : s.layers)
        layer.window = window;
}

void setWindowsByType(ConfigReader& c, StackSpec& s, const std::vector<std::string>& types, std::int64_t window)
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

void setQwenWindows(ConfigReader& c, StackSpec& s)
{
    const bool used = c.flagOr("use_sliding_window", false);
    const auto window = c.optionalInteger("sliding_window", {0, kTokenRange.most}).value_or(0);
    if (!used || window == 0)
        return;
    if (const auto types = c.texts("layer_types"); !types.empty())
        return setWindowsByType(c, s, types, window);
    const auto first = c.integerOr("max_window_layers", 28, kFromZero);
    for (std::size_t i = 0; i < s.layers.size(); ++i)
        s.layers[i].window = static_cast<std::int64_t>(i) >= first ? window : 0;
}

StackLayer fullHeads(ConfigReader& c, std::int64_t hidden, std::int64_t heads, std::int64_t width)
{
    StackLayer layer;
    layer.heads = layer.kvHeads = heads;
    layer.headDim = layer.valueDim = dividedHeads(c, hidden, heads);
    layer.width = width;
    return layer;
}

void requireSharedHeads(ConfigReader& c, const StackLayer& layer, std::string_view key)
{
    c.require(layer.heads % layer.kvHeads == 0,
              fmt::format("the {} attention heads cannot share {} key/value heads; correct the key '{}{}'", layer.heads, layer.kvHeads,
                          c.path(), key));
}

double readRotaryPart(ConfigReader& c, std::string_view keys, double fallback)
{
    if (!c.has(keys) && c.has("rope_parameters")) {
        auto rope = c.child("rope_parameters");
        const double part = rope.probabilityOr("partial_rotary_factor", fallback);
        c.take(rope);
        return part;
    }
    return c.probabilityOr(keys, fallback);
}

std::int64_t partOf(std::int64_t headDim, double part)
{
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(headDim) * part));
}

StackSpec rmsDecoder(ConfigReader& c, const RmsDefaults& defaults)
{
    const auto size = [&](std::string_view keys, std::int64_t fallback, IntegerRange range = kSizeRange) {
        return fallback > 0 ? c.integerOr(keys, fallback, range) : c.integer(keys, range);
    };
    StackSpec s;
    s.hidden = size("hidden_size dim n_embd", defaults.hidden);
    s.vocabulary = size("vocab_size padded_vocab_size", defaults.vocabulary, kVocabularyRange);
    const auto layers = size("num_hidden_layers n_layers n_layer", defaults.layers, kLayerRange);
    StackLayer layer;
    layer.width = size("intermediate_size ffn_hidden_size", defaults.width);
    layer.heads = size("num_attention_heads n_heads n_head", defaults.heads);
    // Null means as many as heads, even where the class has another default for a missing key.
    const bool ownDefault = defaults.keyHeads > 0 && !c.mentions("num_key_value_heads");
    layer.kvHeads = c.integerOr("num_key_value_heads n_kv_heads", ownDefault ? defaults.keyHeads : layer.heads);
    requireSharedHeads(c, layer, "num_key_value_heads");
    if (const auto given = c.optionalInteger("head_dim kv_channels"))
        layer.headDim = *given;
    else if (defaults.headDim >= 0)
        layer.headDim = defaults.headDim > 0 ? c.integerOr("head_dim", defaults.headDim) : dividedHeads(c, s.hidden, layer.heads);
    layer.valueDim = layer.rotaryDim = layer.headDim;
    s.activation = readActivation(c, "hidden_activation hidden_act", defaults.activation, true);
    s.attention.dropout = c.probabilityOr("attention_dropout attn_dropout_prob", 0);
    s.sequence =
        c.integerOr("max_position_embeddings model_max_length max_sequence_length seq_length max_seq_len", defaults.sequence, kTokenRange);
    s.tied = readTied(c, defaults.tied);
    if (c.ok())
        setLayers(s, layers, layer);
    return s;
}

void finishDecoder(ConfigReader& c, const StackSpec& s, ModelBuilder& b)
{
    if (s.experts.experts > 0)
        c.require(s.experts.active <= s.experts.experts,
                  fmt::format("{} experts a token are more than the {} there are; correct the key 'num_experts_per_tok'", s.experts.active,
                              s.experts.experts));
    if (c.ok())
        buildDecoder(s, b);
}

void buildTextPart(ConfigReader& c, ModelBuilder& b, void (*build)(ConfigReader&, ModelBuilder&))
{
    c.require(c.has("text_config"), "the key 'text_config' is missing; add it, or give the configuration of the language model alone");
    auto text = c.child("text_config");
    if (c.ok())
        build(text, b);
    c.take(text);
    b.model.notes.push_back("Only the language model in 'text_config' is planned; the encoders for images and sound are left out.");
}

} // namespace loadline
