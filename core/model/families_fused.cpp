// SPDX-License-Identifier: GPL-3.0-or-later
// LayerNorm decoders without learned positions: ALiBi or rotary, mostly one fused projection for queries, keys and values.
#include "core/model/families.hpp"
#include "core/model/family_parts.hpp"

#include <array>

namespace loadline {
namespace {

void bloom(ConfigReader& c, ModelBuilder& b)
{
    StackSpec s;
    s.names = {.embedding = "transformer.word_embeddings",
               .embeddingNorm = "transformer.word_embeddings_layernorm",
               .layers = "transformer.h",
               .attention = "self_attention",
               .qkv = "query_key_value",
               .o = "dense",
               .attentionDropout = "self_attention.hidden_dropout",
               .up = "dense_h_to_4h",
               .down = "dense_4h_to_h",
               .activation = "gelu_impl",
               .mlpDropout = "mlp.hidden_dropout",
               .finalNorm = "transformer.ln_f"};
    s.norm = NormKind::Layer;
    s.normBias = s.qkvBias = s.outBias = s.upBias = s.downBias = true;
    s.qkvLayout = QkvLayout::Fused;
    s.mlpLayout = MlpLayout::Plain;
    s.activation = ActivationKind::Gelu; // its own function keeps no more than one kernel does
    s.attention.positionBias = true;
    s.attention.hasSdpa = false;
    s.hidden = c.integer("hidden_size n_embed n_embd");
    s.vocabulary = c.integerOr("vocab_size", 250880, kVocabularyRange);
    s.sequence = c.integerOr("seq_length", 2048, kTokenRange);
    const auto layers = c.integer("n_layer num_hidden_layers", kLayerRange);
    const auto heads = c.integer("n_head num_attention_heads");
    s.attention.dropout = c.probabilityOr("attention_dropout", 0);
    s.attentionOutDropout = s.mlpDropout = c.probabilityOr("hidden_dropout", 0);
    s.tied = readTied(c, true);
    setLayers(s, layers, fullHeads(c, s.hidden, heads, 4 * s.hidden));
    finishDecoder(c, s, b);
}

/// Three layouts: Falcon-RW (ALiBi, two norms), 7B (one KV head, one norm for both branches), 40B and later.
void falcon(ConfigReader& c, ModelBuilder& b)
{
    StackSpec s;
    s.names = {.embedding = "transformer.word_embeddings",
               .layers = "transformer.h",
               .attention = "self_attention",
               .qkv = "query_key_value",
               .o = "dense",
               .attentionDropout = "self_attention.hidden_dropout",
               .up = "dense_h_to_4h",
               .down = "dense_4h_to_h",
               .activation = "act",
               .mlpDropout = "mlp.hidden_dropout",
               .finalNorm = "transformer.ln_f"};
    s.norm = NormKind::Layer;
    s.normBias = true;
    s.qkvLayout = QkvLayout::Fused;
    s.copiesQkv = true;
    s.attention.masked = true;
    s.mlpLayout = MlpLayout::Plain;
    s.attention.softmaxInFp32 = false;
    s.hidden = c.integerOr("hidden_size n_embed", 4544);
    s.vocabulary = c.integerOr("vocab_size", 65024, kVocabularyRange);
    s.sequence = c.integerOr("max_position_embeddings seq_length", 2048, kTokenRange);
    const auto layers = c.integerOr("num_hidden_layers n_layer", 32, kLayerRange);
    const auto heads = c.integerOr("num_attention_heads n_head", 71);
    auto layer = fullHeads(c, s.hidden, heads, c.integerOr("ffn_hidden_size", 4 * s.hidden));
    const bool newer = c.flagOr("new_decoder_architecture", false);
    const bool multiQuery = c.flagOr("multi_query", true);
    const auto keyHeads = c.integerOr("num_kv_heads n_head_kv", heads);
    layer.kvHeads = newer ? keyHeads : multiQuery ? 1 : heads; // the key counts in the newer layout only
    s.attention.broadcastsKv = !newer && multiQuery;
    s.attention.expandsKv = newer && layer.kvHeads < layer.heads;
    requireSharedHeads(c, layer, "num_kv_heads");
    s.attention.positionBias = c.flagOr("alibi", false);
    layer.rotaryDim = s.attention.positionBias ? 0 : layer.headDim;
    s.qkvBias = s.outBias = s.upBias = s.downBias = c.flagOr("bias", false);
    const bool parallel = c.flagOr("parallel_attn", true);
    const auto norms = c.optionalInteger("num_ln_in_parallel_attn", {1, 2}).value_or(newer ? 2 : 1);
    s.order = !parallel && !newer ? LayerOrder::PreNorm : norms == 2 ? LayerOrder::ParallelTwoNorms : LayerOrder::Parallel;
    if (newer && norms == 2) {
        s.names.norm1 = "ln_attn";
        s.names.norm2 = "ln_mlp";
    }
    s.activation = readActivation(c, "activation", "gelu", false);
    s.attention.dropout = c.probabilityOr("attention_dropout", 0);
    s.attentionOutDropout = s.mlpDropout = c.probabilityOr("hidden_dropout", 0);
    s.tied = readTied(c, true);
    setLayers(s, layers, layer);
    finishDecoder(c, s, b);
}

void mpt(ConfigReader& c, ModelBuilder& b)
{
    StackSpec s;
    s.names = {.embedding = "transformer.wte",
               .layers = "transformer.blocks",
               .attention = "attn",
               .qkv = "Wqkv",
               .o = "out_proj",
               .attentionDropout = "resid_attn_dropout",
               .mlp = "ffn",
               .up = "up_proj",
               .down = "down_proj",
               .activation = "act",
               .mlpDropout = "ffn.hidden_dropout",
               .norm1 = "norm_1",
               .norm2 = "norm_2",
               .finalNorm = "transformer.norm_f"};
    s.norm = NormKind::Layer;
    s.qkvLayout = QkvLayout::Fused;
    s.mlpLayout = MlpLayout::Plain;
    s.activation = ActivationKind::Gelu;
    s.attention.positionBias = true;
    s.attention.hasSdpa = false;
    s.hidden = c.integerOr("d_model hidden_size", 2048);
    s.vocabulary = c.integerOr("vocab_size", 50368, kVocabularyRange);
    s.sequence = c.integerOr("max_seq_len", 2048, kTokenRange);
    const auto layers = c.integerOr("n_layers num_hidden_layers", 24, kLayerRange);
    const auto heads = c.integerOr("n_heads num_attention_heads", 16);
    const auto ratio = c.integerOr("expansion_ratio", 4, {1, 64});
    auto attention = c.child("attn_config");
    s.attention.dropout = s.attentionOutDropout = s.mlpDropout = attention.probabilityOr("attn_pdrop", 0);
    attention.require(attention.flagOr("alibi", true), "the key 'attn_config.alibi' is false, but Hugging Face's MPT has ALiBi only");
    c.take(attention);
    c.require(c.flagOr("no_bias", true), "the key 'no_bias' is false, but Hugging Face's MPT has no biases");
    s.tied = readTied(c, true);
    setLayers(s, layers, fullHeads(c, s.hidden, heads, ratio * s.hidden));
    finishDecoder(c, s, b);
}

void phi(ConfigReader& c, ModelBuilder& b)
{
    StackSpec s;
    s.names = {.embeddingDropout = "model.embed_dropout",
               .o = "dense",
               .qNorm = "q_layernorm",
               .kNorm = "k_layernorm",
               .attentionDropout = "self_attn.resid_dropout",
               .up = "fc1",
               .down = "fc2",
               .activation = "activation_fn",
               .mlpDropout = "mlp.resid_dropout",
               .finalNorm = "model.final_layernorm"};
    s.norm = NormKind::Layer;
    s.normBias = s.qkvBias = s.outBias = s.upBias = s.downBias = s.headBias = s.qkNormBias = true;
    s.mlpLayout = MlpLayout::Plain;
    s.order = LayerOrder::Parallel;
    s.attention.rotary = AttentionTraits::Rotary::Concatenated;
    s.hidden = c.integerOr("hidden_size n_embd", 2048);
    s.vocabulary = c.integerOr("vocab_size", 51200, kVocabularyRange);
    s.sequence = c.integerOr("max_position_embeddings n_positions", 2048, kTokenRange);
    const auto layers = c.integerOr("num_hidden_layers n_layer", 24, kLayerRange);
    const auto heads = c.integerOr("num_attention_heads n_head", 32);
    auto layer = fullHeads(c, s.hidden, heads, c.integerOr("intermediate_size n_inner", 4 * s.hidden));
    layer.kvHeads = c.integerOr("num_key_value_heads n_head_kv", heads);
    requireSharedHeads(c, layer, "num_key_value_heads");
    layer.rotaryDim = partOf(layer.headDim, readRotaryPart(c, "partial_rotary_factor", 0.5));
    s.activation = readActivation(c, "hidden_act activation_function", "gelu_new", false);
    if (c.flagOr("qk_layernorm", false))
        s.qkNorm = QkNorm::PerHead;
    s.attention.dropout = c.probabilityOr("attention_dropout attn_pdrop", 0);
    s.embeddingDropout = c.probabilityOr("embd_pdrop", 0);
    s.attentionOutDropout = s.mlpDropout = c.probabilityOr("resid_pdrop", 0);
    s.tied = readTied(c, false);
    setLayers(s, layers, layer);
    finishDecoder(c, s, b);
}

constexpr std::array kFamilies{
    Family{"bloom", "Bloom", bloom},
    Family{"falcon RefinedWeb RefinedWebModel", "Falcon", falcon},
    Family{"mpt", "Mpt", mpt},
    Family{"phi phi-msft", "PhiFor", phi},
};

} // namespace

std::span<const Family> fusedFamilies()
{
    return kFamilies;
}

} // namespace loadline
