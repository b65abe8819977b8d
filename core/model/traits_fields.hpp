// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/config_reader.hpp"
#include "core/model/description.hpp"

#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>
#include <variant>

/// The fields of every kind of operator by the names they have in a file: one list for reading and writing.
/// `visit(key, field, range)` for whole numbers, `visit(key, field, most)` for others, `visit(key, field)` for the rest.
namespace loadline::fields {

inline constexpr IntegerRange kCount{0, 1LL << 40};
inline constexpr double kMostPerToken = 1e15; ///< bytes or FLOPs of one operator for one token

template <class Enum>
struct EnumName {
    std::string_view name;
    Enum value;
};

inline constexpr std::array kPlaces{
    EnumName<Place>{"embedding", Place::Embedding},  EnumName<Place>{"layer", Place::Layer}, EnumName<Place>{"between", Place::Between},
    EnumName<Place>{"final_norm", Place::FinalNorm}, EnumName<Place>{"head", Place::Head},   EnumName<Place>{"loss", Place::Loss},
};
inline constexpr std::array kNorms{
    EnumName<NormKind>{"layer", NormKind::Layer},           EnumName<NormKind>{"rms", NormKind::Rms},
    EnumName<NormKind>{"gemma_rms", NormKind::GemmaRms},    EnumName<NormKind>{"t5_rms", NormKind::T5Rms},
    EnumName<NormKind>{"gpt_oss_rms", NormKind::GptOssRms},
};
inline constexpr std::array kActivations{
    EnumName<ActivationKind>{"relu", ActivationKind::Relu},
    EnumName<ActivationKind>{"gelu", ActivationKind::Gelu},
    EnumName<ActivationKind>{"gelu_new", ActivationKind::GeluNew},
    EnumName<ActivationKind>{"gelu_tanh", ActivationKind::GeluTanh},
    EnumName<ActivationKind>{"quick_gelu", ActivationKind::QuickGelu},
    EnumName<ActivationKind>{"silu", ActivationKind::Silu},
    EnumName<ActivationKind>{"tanh", ActivationKind::Tanh},
    EnumName<ActivationKind>{"gated_silu", ActivationKind::GatedSilu},
    EnumName<ActivationKind>{"gated_gelu", ActivationKind::GatedGelu},
    EnumName<ActivationKind>{"gated_gelu_tanh", ActivationKind::GatedGeluTanh},
    EnumName<ActivationKind>{"gated_gelu_new", ActivationKind::GatedGeluNew},
    EnumName<ActivationKind>{"gated_clamped_silu", ActivationKind::GatedClampedSilu},
};
inline constexpr std::array kLosses{
    EnumName<LossKind>{"causal_lm", LossKind::CausalLm},
    EnumName<LossKind>{"masked_lm", LossKind::MaskedLm},
    EnumName<LossKind>{"classification", LossKind::Classification},
};
inline constexpr std::array kScores{
    EnumName<RouterTraits::Scores>{"softmax", RouterTraits::Scores::Softmax},
    EnumName<RouterTraits::Scores>{"sigmoid", RouterTraits::Scores::Sigmoid},
    EnumName<RouterTraits::Scores>{"top_k_softmax", RouterTraits::Scores::TopKSoftmax},
};

inline constexpr std::array kRotaries{
    EnumName<AttentionTraits::Rotary>{"tables", AttentionTraits::Rotary::Tables},
    EnumName<AttentionTraits::Rotary>{"concatenated", AttentionTraits::Rotary::Concatenated},
    EnumName<AttentionTraits::Rotary>{"per_layer", AttentionTraits::Rotary::PerLayer},
};

constexpr const auto& namesOf(AttentionTraits::Rotary)
{
    return kRotaries;
}
constexpr const auto& namesOf(Place)
{
    return kPlaces;
}
constexpr const auto& namesOf(NormKind)
{
    return kNorms;
}
constexpr const auto& namesOf(ActivationKind)
{
    return kActivations;
}
constexpr const auto& namesOf(LossKind)
{
    return kLosses;
}
constexpr const auto& namesOf(RouterTraits::Scores)
{
    return kScores;
}

inline constexpr std::array<std::string_view, std::variant_size_v<Traits>> kKinds{
    "embedding", "norm", "linear", "attention", "activation", "dropout", "router", "experts", "convolution", "loss", "custom"};

// A reader passes T = XTraits, a writer T = const XTraits.
template <class T, class V>
requires std::same_as<std::remove_const_t<T>, EmbeddingTraits>
void each(T& t, V&& visit)
{
    visit("rows", t.rows, kVocabularyRange);
    visit("width", t.width, kSizeRange);
    visit("positions", t.positions);
    visit("buffer_indices", t.bufferIndices);
}
template <class T, class V>
requires std::same_as<std::remove_const_t<T>, NormTraits>
void each(T& t, V&& visit)
{
    visit("norm", t.norm);
    visit("width", t.width, kSizeRange);
    visit("per_token", t.perToken, kSizeRange);
    visit("readers", t.readers, kFromZero);
    visit("of_projection", t.ofProjection);
    visit("saves_input", t.savesInput);
}
template <class T, class V>
requires std::same_as<std::remove_const_t<T>, LinearTraits>
void each(T& t, V&& visit)
{
    visit("in", t.in, kCount);
    visit("out", t.out, kCount);
    visit("saves_input", t.savesInput);
    visit("casts_input", t.castsInput);
}
template <class T, class V>
requires std::same_as<std::remove_const_t<T>, AttentionTraits>
void each(T& t, V&& visit)
{
    visit("heads", t.heads, kSizeRange);
    visit("kv_heads", t.kvHeads, kSizeRange);
    visit("head_dim", t.headDim, kSizeRange);
    visit("value_dim", t.valueDim, kSizeRange);
    visit("window", t.window, kCount);
    visit("keys", t.keys);
    visit("causal", t.causal);
    visit("cross", t.cross);
    visit("fused_qkv", t.fusedQkv);
    visit("rotary_dim", t.rotaryDim, kFromZero);
    visit("position_bias", t.positionBias);
    visit("soft_cap", t.softCap, 1e9);
    visit("dropout", t.dropout, 1.0);
    visit("softmax_in_fp32", t.softmaxInFp32);
    visit("broadcasts_kv", t.broadcastsKv);
    visit("expands_kv", t.expandsKv);
    visit("masked", t.masked);
    visit("head_major", t.headMajor);
    visit("scores_in_fp32", t.scoresInFp32);
    visit("rotary", t.rotary);
    visit("has_sdpa", t.hasSdpa);
}
template <class T, class V>
requires std::same_as<std::remove_const_t<T>, ActivationTraits>
void each(T& t, V&& visit)
{
    visit("activation", t.activation);
    visit("width", t.width, kCount);
    visit("output_read", t.outputRead);
}
template <class T, class V>
requires std::same_as<std::remove_const_t<T>, DropoutTraits>
void each(T& t, V&& visit)
{
    visit("width", t.width, kCount);
    visit("probability", t.probability, 1.0);
    visit("output_read", t.outputRead);
}
template <class T, class V>
requires std::same_as<std::remove_const_t<T>, RouterTraits>
void each(T& t, V&& visit)
{
    visit("hidden", t.hidden, kSizeRange);
    visit("experts", t.experts, kSizeRange);
    visit("active", t.active, kSizeRange);
    visit("scores", t.scores);
    visit("groups", t.groups, kSizeRange);
}
template <class T, class V>
requires std::same_as<std::remove_const_t<T>, ExpertsTraits>
void each(T& t, V&& visit)
{
    visit("experts", t.experts, kSizeRange);
    visit("active", t.active, kSizeRange);
    visit("hidden", t.hidden, kSizeRange);
    visit("width", t.width, kSizeRange);
    visit("activation", t.activation);
}
template <class T, class V>
requires std::same_as<std::remove_const_t<T>, ConvolutionTraits>
void each(T& t, V&& visit)
{
    visit("in_channels", t.inChannels, kSizeRange);
    visit("out_channels", t.outChannels, kSizeRange);
    visit("kernel", t.kernel, kCount);
    visit("input_per_sequence", t.inputPerSequence, kCount);
    visit("outputs", t.outputs);
}
template <class T, class V>
requires std::same_as<std::remove_const_t<T>, LossTraits>
void each(T& t, V&& visit)
{
    visit("loss", t.loss);
    visit("classes", t.classes, kVocabularyRange);
    visit("upcasts", t.upcasts);
    visit("fp32_logits", t.fp32Logits);
    visit("soft_cap", t.softCap, 1e9);
}
template <class T, class V>
requires std::same_as<std::remove_const_t<T>, CustomTraits>
void each(T& t, V&& visit)
{
    visit("saved_per_token", t.savedPerToken, kMostPerToken);
    visit("saved_per_token_squared", t.savedPerTokenSquared, kMostPerToken);
    visit("input_per_token", t.inputPerToken, kMostPerToken);
    visit("flops_per_token", t.flopsPerToken, kMostPerToken);
    visit("flops_per_token_squared", t.flopsPerTokenSquared, kMostPerToken);
}

} // namespace loadline::fields
