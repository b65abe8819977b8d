// SPDX-License-Identifier: GPL-3.0-or-later
// Encoder and decoder: BART, T5, Whisper. Layers count on from the encoder's to the decoder's.
#include "core/model/families.hpp"
#include "core/model/family_parts.hpp"

#include <fmt/format.h>

#include <array>

namespace loadline {
namespace {

/// What an encoder and a decoder of one model have in common.
struct Seq2Seq {
    StackSpec encoder;
    StackSpec decoder;
};

void layersOf(ConfigReader& c, StackSpec& s, std::string_view layerKeys, std::string_view headKeys, std::string_view widthKeys,
              std::int64_t layers, std::int64_t heads, std::int64_t width)
{
    const auto count = c.integerOr(layerKeys, layers, kLayerRange);
    const auto headCount = c.integerOr(headKeys, heads);
    setLayers(s, count, fullHeads(c, s.hidden, headCount, c.integerOr(widthKeys, width)));
}

/// The parts that BART and Whisper share; both keep fairseq's names.
Seq2Seq fairseqStacks(ConfigReader& c, LayerOrder order, std::int64_t hidden, double dropout)
{
    StackSpec s;
    s.names = {.attention = "self_attn",
               .o = "out_proj",
               .attentionDropout = "self_attn.dropout",
               .mlp = "",
               .up = "fc1",
               .down = "fc2",
               .activation = "activation_fn",
               .mlpDropout = "dropout",
               .norm1 = "self_attn_layer_norm",
               .norm2 = "final_layer_norm",
               .activationDropout = "activation_dropout"};
    s.norm = NormKind::Layer;
    s.normBias = s.qkvBias = s.outBias = s.upBias = s.downBias = true;
    s.order = order;
    s.mlpLayout = MlpLayout::Plain;
    s.attention.softmaxInFp32 = false;
    s.upcastsLoss = false;
    s.hidden = c.integerOr("d_model hidden_size", hidden);
    s.activation = readActivation(c, "activation_function", "gelu", false);
    s.embeddingDropout = s.attentionOutDropout = s.mlpDropout = c.probabilityOr("dropout", dropout);
    s.attention.dropout = c.probabilityOr("attention_dropout", 0);
    s.activationDropout = c.probabilityOr("activation_dropout", 0);
    Seq2Seq both{s, s};
    both.encoder.attention.causal = false;
    both.encoder.names.layers = "model.encoder.layers";
    both.decoder.names.layers = "model.decoder.layers";
    both.decoder.names.crossAttention = "encoder_attn";
    both.decoder.names.crossNorm = "encoder_attn_layer_norm";
    both.decoder.names.crossDropout = "encoder_attn.dropout";
    return both;
}

/// Token embedding of the decoder: the encoder's, used again.
void sharedEmbedding(const std::string& name, const std::string& owner, const StackSpec& s, ModelBuilder& b)
{
    b.add(name, EmbeddingTraits{s.vocabulary, s.hidden, false}).sharesWith = owner;
    b.model.notes.push_back(fmt::format("{}.weight is tied to {}.weight and counted once.", name, owner));
}

void vocabularyHead(const std::string& name, const std::string& owner, const StackSpec& s, bool fp32Logits, ModelBuilder& b)
{
    b.enter(Place::Head);
    b.tokens(s.tokens);
    if (s.tied) {
        b.add(name, LinearTraits{s.hidden, s.vocabulary, false, false}).sharesWith = owner;
        b.model.notes.push_back(fmt::format("{}.weight is tied to {}.weight and counted once.", name, owner));
    } else
        b.linear(name, s.hidden, s.vocabulary);
    b.enter(Place::Loss);
    b.add("loss", LossTraits{.loss = LossKind::CausalLm, .classes = s.vocabulary, .upcasts = false, .fp32Logits = fp32Logits});
}

/// The encoder makes its positions for each sequence, the decoder once.
void positionsNormDropout(const std::string& base, std::int64_t rows, bool once, const StackSpec& s, ModelBuilder& b)
{
    b.embedding(base + ".embed_positions", rows, s.hidden, once);
    b.norm(base + ".layernorm_embedding", {.norm = NormKind::Layer, .width = s.hidden, .readers = 3}, true);
    b.dropout(base + ".dropout", s.hidden, s.embeddingDropout);
}

void bart(ConfigReader& c, ModelBuilder& b)
{
    auto [encoder, decoder] = fairseqStacks(c, LayerOrder::PostNorm, 1024, 0.1);
    layersOf(c, encoder, "encoder_layers", "encoder_attention_heads", "encoder_ffn_dim", 12, 16, 4096);
    layersOf(c, decoder, "decoder_layers", "decoder_attention_heads", "decoder_ffn_dim", 12, 16, 4096);
    encoder.vocabulary = decoder.vocabulary = c.integerOr("vocab_size", 50265, kVocabularyRange);
    const auto sequence = c.integerOr("max_position_embeddings", 1024, kTokenRange);
    decoder.tied = readTied(c, true);
    // Both stacks start behind a norm; the encoder's end is read by the decoder's cross attention alone.
    encoder.names.embeddingNorm = decoder.names.embeddingNorm = "layernorm_embedding";
    encoder.readersAtEnd = 0;
    if (!c.ok())
        return;
    b.model.hidden = encoder.hidden;
    b.model.defaultSequence = sequence;
    b.enter(Place::Embedding);
    b.embedding("model.shared", encoder.vocabulary, encoder.hidden);
    positionsNormDropout("model.encoder", sequence + 2, false, encoder, b); // two rows for padding
    buildLayers(encoder, b);
    b.enter(Place::Between);
    sharedEmbedding("model.decoder.embed_tokens", "model.shared", decoder, b);
    positionsNormDropout("model.decoder", sequence + 2, true, decoder, b);
    buildLayers(decoder, b, static_cast<int>(encoder.layers.size()));
    vocabularyHead("lm_head", "model.shared", decoder, true, b);
}

StackSpec t5Stack(ConfigReader& c)
{
    StackSpec s;
    s.norm = NormKind::T5Rms;
    s.attention.softmaxInFp32 = false;
    s.attention.positionBias = true;
    s.upcastsLoss = false;
    s.hidden = c.integerOr("d_model hidden_size", 512);
    s.vocabulary = c.integerOr("vocab_size", 32128, kVocabularyRange);
    s.positionBuckets = c.integerOr("relative_attention_num_buckets", 32);
    s.attention.dropout = s.embeddingDropout = s.attentionOutDropout = s.mlpDropout = s.activationDropout =
        c.probabilityOr("dropout_rate", 0.1);
    // "gated-gelu" is gelu_new with a gate, "relu" plain.
    auto name = c.textOr("feed_forward_proj", "relu");
    const bool gated = name.starts_with("gated-");
    if (gated)
        name = name == "gated-gelu" ? "gelu_new" : name.substr(6);
    s.activation = activationNamed(c, "feed_forward_proj", name, gated);
    s.castsDown = s.activation == ActivationKind::Relu; // whose own output stays beside the copy
    s.mlpLayout = gated ? MlpLayout::Gated : MlpLayout::Plain;
    s.names = {.attention = "layer.0.SelfAttention",
               .q = "q",
               .k = "k",
               .v = "v",
               .o = "o",
               .attentionDropout = "layer.0.dropout",
               .gate = "wi_0",
               .up = gated ? "wi_1" : "wi",
               .down = "wo",
               .activation = "act",
               .norm1 = "layer.0.layer_norm",
               .activationDropout = "dropout",
               .positionBias = "relative_attention_bias.weight"};
    return s;
}

void t5Half(StackSpec& s, const std::string& base, int mlpIndex)
{
    s.names.layers = base + ".block";
    s.names.mlp = fmt::format("layer.{}.DenseReluDense", mlpIndex);
    s.names.norm2 = fmt::format("layer.{}.layer_norm", mlpIndex);
    s.names.mlpDropout = fmt::format("layer.{}.dropout", mlpIndex);
}

void t5(ConfigReader& c, ModelBuilder& b)
{
    auto encoder = t5Stack(c);
    const auto layers = c.integerOr("num_layers num_hidden_layers", 6, kLayerRange);
    const auto decoderLayers = c.integerOr("num_decoder_layers", layers, kLayerRange);
    StackLayer layer;
    layer.heads = layer.kvHeads = c.integerOr("num_heads num_attention_heads", 8);
    layer.headDim = layer.valueDim = c.integerOr("d_kv", 64);
    layer.width = c.integerOr("d_ff", 2048);
    const auto sequence = c.integerOr("n_positions", 512, kTokenRange);
    encoder.tied = readTied(c, true);
    if (!c.ok())
        return;
    auto decoder = encoder;
    encoder.attention.causal = false;
    setLayers(encoder, layers, layer);
    setLayers(decoder, decoderLayers, layer);
    t5Half(encoder, "encoder", 1);
    t5Half(decoder, "decoder", 2);
    decoder.names.crossAttention = "layer.1.EncDecAttention";
    decoder.names.crossNorm = "layer.1.layer_norm";
    decoder.names.crossDropout = "layer.1.dropout";
    b.model.hidden = encoder.hidden;
    b.model.defaultSequence = sequence;
    b.enter(Place::Embedding);
    b.embedding("shared", encoder.vocabulary, encoder.hidden);
    b.dropout("encoder.embed_dropout", encoder.hidden, encoder.embeddingDropout);
    buildLayers(encoder, b);
    b.enter(Place::Between);
    b.norm("encoder.final_layer_norm", {.norm = NormKind::T5Rms, .width = encoder.hidden, .readers = 0}, false);
    b.dropout("encoder.dropout", encoder.hidden, encoder.embeddingDropout);
    sharedEmbedding("decoder.embed_tokens", "shared", decoder, b);
    b.dropout("decoder.embed_dropout", decoder.hidden, decoder.embeddingDropout);
    buildLayers(decoder, b, static_cast<int>(layers));
    b.enter(Place::FinalNorm);
    b.norm("decoder.final_layer_norm", {.norm = NormKind::T5Rms, .width = decoder.hidden}, false);
    b.dropout("decoder.dropout", decoder.hidden, decoder.embeddingDropout);
    vocabularyHead("lm_head", "shared", decoder, false, b);
}

/// Two convolutions over the sound's spectrum, the second of stride 2.
void whisperEars(const StackSpec& s, std::int64_t bins, std::int64_t frames, ModelBuilder& b)
{
    constexpr std::int64_t kKernel = 3;
    const auto convolution = [&](const std::string& name, std::int64_t channels, std::int64_t inputs, std::int64_t outputs) {
        b.tokens({.fixed = outputs});
        b.add(name, ConvolutionTraits{channels, s.hidden, kKernel, channels * inputs, {.fixed = outputs}});
        b.parameter("weight", {s.hidden, channels, kKernel});
        b.parameter("bias", {s.hidden});
        b.add(name + ".gelu", ActivationTraits{ActivationKind::Gelu, s.hidden, false}); // its output counts at what reads it
    };
    convolution("model.encoder.conv1", bins, 2 * frames, 2 * frames);
    convolution("model.encoder.conv2", s.hidden, 2 * frames, frames);
}

void whisper(ConfigReader& c, ModelBuilder& b)
{
    auto [encoder, decoder] = fairseqStacks(c, LayerOrder::PreNorm, 384, 0);
    encoder.keyBias = decoder.keyBias = false;
    encoder.attention.headMajor = decoder.attention.headMajor = true;
    layersOf(c, encoder, "encoder_layers", "encoder_attention_heads", "encoder_ffn_dim", 4, 6, 1536);
    layersOf(c, decoder, "decoder_layers", "decoder_attention_heads", "decoder_ffn_dim", 4, 6, 1536);
    decoder.vocabulary = c.integerOr("vocab_size", 51865, kVocabularyRange);
    const auto bins = c.integerOr("num_mel_bins", 80);
    const auto frames = c.integerOr("max_source_positions", 1500, {1, 1 << 24});
    const auto sequence = c.integerOr("max_target_positions", 448, kTokenRange);
    decoder.tied = readTied(c, true);
    if (!c.ok())
        return;
    encoder.tokens = decoder.crossTokens = {.fixed = frames};
    decoder.tokens = {.most = sequence};
    b.model.hidden = encoder.hidden;
    b.model.defaultSequence = sequence;
    b.enter(Place::Embedding);
    whisperEars(encoder, bins, frames, b);
    b.tokens(encoder.tokens);
    b.embedding("model.encoder.embed_positions", frames, encoder.hidden, true).parameters.front().trainable = false; // sines, kept fixed
    b.dropout("model.encoder.dropout", encoder.hidden, encoder.embeddingDropout);
    buildLayers(encoder, b);
    b.enter(Place::Between);
    b.norm("model.encoder.layer_norm", {.norm = NormKind::Layer, .width = encoder.hidden, .readers = 0}, true);
    b.tokens(decoder.tokens);
    b.embedding("model.decoder.embed_tokens", decoder.vocabulary, decoder.hidden);
    b.embedding("model.decoder.embed_positions", sequence, decoder.hidden, true);
    b.dropout("model.decoder.dropout", decoder.hidden, decoder.embeddingDropout);
    buildLayers(decoder, b, static_cast<int>(encoder.layers.size()));
    b.enter(Place::FinalNorm);
    b.norm("model.decoder.layer_norm", {.norm = NormKind::Layer, .width = decoder.hidden}, true);
    vocabularyHead("proj_out", "model.decoder.embed_tokens", decoder, false, b);
}

constexpr std::array kFamilies{
    Family{"bart mbart", "Bart", bart},
    Family{"t5 mt5", "T5", t5},
    Family{"whisper", "Whisper", whisper},
};

} // namespace

std::span<const Family> seq2seqFamilies()
{
    return kFamilies;
}

} // namespace loadline
