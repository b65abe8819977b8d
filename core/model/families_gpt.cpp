// SPDX-License-Identifier: GPL-3.0-or-later
// Decoders with LayerNorm: GPT-2 and its contemporaries.
#include "core/model/families.hpp"
#include "core/model/family_parts.hpp"

#include <array>

namespace loadline {
namespace {

void gpt2(ConfigReader& c, ModelBuilder& b)
{
    DecoderSpec s;
    s.names = {.embedding = "transformer.wte",
               .positions = "transformer.wpe",
               .embeddingDropout = "transformer.drop",
               .layers = "transformer.h",
               .attention = "attn",
               .qkv = "c_attn",
               .o = "c_proj",
               .attentionDropout = "attn.resid_dropout",
               .up = "c_fc",
               .down = "c_proj",
               .activation = "act",
               .mlpDropout = "mlp.dropout",
               .norm1 = "ln_1",
               .norm2 = "ln_2",
               .finalNorm = "transformer.ln_f"};
    s.norm = NormKind::Layer;
    s.normBias = s.qkvBias = s.outBias = s.upBias = s.downBias = s.conv1d = true;
    s.qkvLayout = QkvLayout::Fused;
    s.mlpLayout = MlpLayout::Plain;
    s.softmaxInFp32 = false;
    s.hidden = c.integerOr("n_embd hidden_size", 768);
    s.vocabulary = c.integerOr("vocab_size", 50257, kVocabularyRange);
    s.positions = s.sequence = c.integerOr("n_positions max_position_embeddings n_ctx", 1024, kTokenRange);
    const auto layers = c.integerOr("n_layer num_hidden_layers", 12, kLayerRange);
    DecoderLayer layer;
    layer.heads = layer.kvHeads = c.integerOr("n_head num_attention_heads", 12);
    layer.headDim = layer.valueDim = dividedHeads(c, s.hidden, layer.heads);
    layer.width = c.integerOr("n_inner", 4 * s.hidden);
    s.activation = readActivation(c, "activation_function", "gelu_new", false);
    s.embeddingDropout = c.probabilityOr("embd_pdrop", 0.1);
    s.attentionDropout = c.probabilityOr("attn_pdrop", 0.1);
    s.attentionOutDropout = s.mlpDropout = c.probabilityOr("resid_pdrop", 0.1);
    s.tied = readTied(c, true);
    setLayers(s, layers, layer);
    finishDecoder(c, s, b);
}

constexpr std::array kFamilies{
    Family{"gpt2", "GPT2", gpt2},
};

} // namespace

std::span<const Family> gptFamilies()
{
    return kFamilies;
}

} // namespace loadline
