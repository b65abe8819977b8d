// SPDX-License-Identifier: GPL-3.0-or-later
// Decoders with LayerNorm and learned positions: GPT-2 and its contemporaries.
#include "core/model/families.hpp"
#include "core/model/family_parts.hpp"

#include <array>

namespace loadline {
namespace {

/// LayerNorm with bias, a plain MLP, biases on every linear.
StackSpec layerNormDecoder()
{
    StackSpec s;
    s.norm = NormKind::Layer;
    s.normBias = s.qkvBias = s.outBias = s.upBias = s.downBias = true;
    s.mlpLayout = MlpLayout::Plain;
    return s;
}

StackNames gptNames()
{
    return {.embedding = "transformer.wte",
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
}

void gpt2Dropouts(ConfigReader& c, StackSpec& s, double fallback)
{
    s.embeddingDropout = c.probabilityOr("embd_pdrop", fallback);
    s.attention.dropout = c.probabilityOr("attn_pdrop", fallback);
    s.attentionOutDropout = s.mlpDropout = c.probabilityOr("resid_pdrop", fallback);
}

void gpt2(ConfigReader& c, ModelBuilder& b)
{
    auto s = layerNormDecoder();
    s.names = gptNames();
    s.conv1d = true;
    s.qkvLayout = QkvLayout::Fused;
    s.attention.softmaxInFp32 = false;
    s.hidden = c.integerOr("n_embd hidden_size", 768);
    s.vocabulary = c.integerOr("vocab_size", 50257, kVocabularyRange);
    s.positions = s.sequence = c.integerOr("n_positions max_position_embeddings n_ctx", 1024, kTokenRange);
    const auto layers = c.integerOr("n_layer num_hidden_layers", 12, kLayerRange);
    const auto heads = c.integerOr("n_head num_attention_heads", 12);
    const auto width = c.integerOr("n_inner", 4 * s.hidden);
    s.activation = readActivation(c, "activation_function", "gelu_new", false);
    gpt2Dropouts(c, s, 0.1);
    s.tied = readTied(c, true);
    setLayers(s, layers, fullHeads(c, s.hidden, heads, width));
    finishDecoder(c, s, b);
}

/// GPT-1: as GPT-2, but the norms follow, and none stands before the head.
void openAiGpt(ConfigReader& c, ModelBuilder& b)
{
    auto s = layerNormDecoder();
    s.names = gptNames();
    s.names.embedding = "transformer.tokens_embed";
    s.names.positions = "transformer.positions_embed";
    s.conv1d = true;
    s.qkvLayout = QkvLayout::Fused;
    s.order = LayerOrder::PostNorm;
    s.finalNorm = false;
    s.attention.hasSdpa = false;
    s.attention.softmaxInFp32 = false;
    s.hidden = c.integerOr("n_embd", 768);
    s.vocabulary = c.integerOr("vocab_size", 40478, kVocabularyRange);
    s.positions = s.sequence = c.integerOr("n_positions n_ctx", 512, kTokenRange);
    const auto layers = c.integerOr("n_layer", 12, kLayerRange);
    const auto heads = c.integerOr("n_head", 12);
    const auto name = c.textOr("afn", "gelu"); // means gelu_new here
    s.activation = activationNamed(c, "afn", name == "gelu" ? "gelu_new" : name, false);
    gpt2Dropouts(c, s, 0.1);
    s.tied = readTied(c, true);
    setLayers(s, layers, fullHeads(c, s.hidden, heads, 4 * s.hidden));
    finishDecoder(c, s, b);
}

/// [[["global", "local"], 12]]: which layers look through the window.
void gptNeoWindows(ConfigReader& c, StackSpec& s)
{
    const auto window = c.integerOr("window_size", 256, kTokenRange);
    auto kinds = c.texts("attention_layers");
    if (kinds.empty())
        kinds = c.repeatedTexts("attention_types");
    if (kinds.empty())
        kinds = {"global", "local"};
    for (std::size_t i = 0; i < s.layers.size(); ++i) {
        const auto& kind = kinds[i % kinds.size()];
        c.require(kind == "global" || kind == "local", "the key 'attention_types' must name global and local layers only");
        s.layers[i].window = kind == "local" ? window : 0;
    }
}

void gptNeo(ConfigReader& c, ModelBuilder& b)
{
    auto s = layerNormDecoder();
    s.names = gptNames();
    s.names.attention = "attn.attention";
    s.names.o = "out_proj";
    s.names.attentionDropout = "attn.attention.resid_dropout";
    s.qkvBias = false;
    s.attention.scoresInFp32 = true;
    s.attention.hasSdpa = false;
    s.hidden = c.integerOr("hidden_size", 2048);
    s.vocabulary = c.integerOr("vocab_size", 50257, kVocabularyRange);
    s.positions = s.sequence = c.integerOr("max_position_embeddings", 2048, kTokenRange);
    const auto layers = c.integerOr("num_layers num_hidden_layers", 24, kLayerRange);
    const auto heads = c.integerOr("num_heads num_attention_heads", 16);
    const auto width = c.integerOr("intermediate_size", 4 * s.hidden);
    s.activation = readActivation(c, "activation_function", "gelu_new", false);
    s.embeddingDropout = c.probabilityOr("embed_dropout", 0);
    s.attention.dropout = c.probabilityOr("attention_dropout", 0);
    s.attentionOutDropout = s.mlpDropout = c.probabilityOr("resid_dropout", 0);
    s.tied = readTied(c, true);
    setLayers(s, layers, fullHeads(c, s.hidden, heads, width));
    gptNeoWindows(c, s);
    finishDecoder(c, s, b);
}

void gptJ(ConfigReader& c, ModelBuilder& b)
{
    auto s = layerNormDecoder();
    s.names = gptNames();
    s.names.positions = "";
    s.names.o = "out_proj";
    s.names.up = "fc_in";
    s.names.down = "fc_out";
    s.order = LayerOrder::Parallel;
    s.qkvBias = s.outBias = false;
    s.headBias = true;
    s.attention.rotary = AttentionTraits::Rotary::PerLayer;
    s.attention.scoresInFp32 = true;
    s.hidden = c.integerOr("n_embd hidden_size", 4096);
    s.vocabulary = c.integerOr("vocab_size", 50400, kVocabularyRange);
    s.sequence = c.integerOr("n_positions max_position_embeddings", 2048, kTokenRange);
    const auto layers = c.integerOr("n_layer num_hidden_layers", 28, kLayerRange);
    const auto heads = c.integerOr("n_head num_attention_heads", 16);
    const auto width = c.integerOr("n_inner", 4 * s.hidden);
    auto layer = fullHeads(c, s.hidden, heads, width);
    layer.rotaryDim = c.integerOr("rotary_dim", 64, {1, layer.headDim});
    s.activation = readActivation(c, "activation_function", "gelu_new", false);
    gpt2Dropouts(c, s, 0);
    s.tied = readTied(c, false);
    setLayers(s, layers, layer);
    finishDecoder(c, s, b);
}

void gptNeoX(ConfigReader& c, ModelBuilder& b)
{
    auto s = layerNormDecoder();
    s.names = {.embedding = "gpt_neox.embed_in",
               .embeddingDropout = "gpt_neox.emb_dropout",
               .layers = "gpt_neox.layers",
               .attention = "attention",
               .qkv = "query_key_value",
               .o = "dense",
               .attentionDropout = "post_attention_dropout",
               .up = "dense_h_to_4h",
               .down = "dense_4h_to_h",
               .activation = "act",
               .mlpDropout = "post_mlp_dropout",
               .finalNorm = "gpt_neox.final_layer_norm",
               .head = "lm_head"};
    s.qkvLayout = QkvLayout::Fused;
    s.attention.rotary = AttentionTraits::Rotary::Concatenated;
    s.hidden = c.integerOr("hidden_size", 6144);
    s.vocabulary = c.integerOr("vocab_size", 50432, kVocabularyRange);
    s.sequence = c.integerOr("max_position_embeddings", 2048, kTokenRange);
    const auto layers = c.integerOr("num_hidden_layers", 44, kLayerRange);
    const auto heads = c.integerOr("num_attention_heads", 64);
    auto layer = fullHeads(c, s.hidden, heads, c.integerOr("intermediate_size", 4 * s.hidden));
    layer.rotaryDim = partOf(layer.headDim, readRotaryPart(c, "rotary_pct partial_rotary_factor", 0.25));
    s.activation = readActivation(c, "hidden_act", "gelu", false);
    s.qkvBias = s.outBias = c.flagOr("attention_bias", true);
    s.order = c.flagOr("use_parallel_residual", true) ? LayerOrder::ParallelTwoNorms : LayerOrder::PreNorm;
    s.attention.dropout = c.probabilityOr("attention_dropout", 0);
    s.embeddingDropout = s.attentionOutDropout = s.mlpDropout = c.probabilityOr("hidden_dropout", 0);
    s.tied = readTied(c, false);
    setLayers(s, layers, layer);
    finishDecoder(c, s, b);
}

void opt(ConfigReader& c, ModelBuilder& b)
{
    auto s = layerNormDecoder();
    s.names = {.embedding = "model.decoder.embed_tokens",
               .positions = "model.decoder.embed_positions",
               .layers = "model.decoder.layers",
               .o = "out_proj",
               .attentionDropout = "self_attn.dropout",
               .mlp = "",
               .up = "fc1",
               .down = "fc2",
               .activation = "activation_fn",
               .mlpDropout = "dropout",
               .norm1 = "self_attn_layer_norm",
               .norm2 = "final_layer_norm",
               .finalNorm = "model.decoder.final_layer_norm"};
    s.hidden = c.integerOr("hidden_size", 768);
    s.vocabulary = c.integerOr("vocab_size", 50272, kVocabularyRange);
    s.sequence = c.integerOr("max_position_embeddings", 2048, kTokenRange);
    s.samePositions = false;
    s.positions = s.sequence + 2; // the table keeps two rows for padding
    const auto layers = c.integerOr("num_hidden_layers", 12, kLayerRange);
    const auto heads = c.integerOr("num_attention_heads", 12);
    const auto width = c.integerOr("ffn_dim", 4 * s.hidden);
    s.embeddingWidth = c.integerOr("word_embed_proj_dim", s.hidden);
    if (s.embeddingWidth != s.hidden) {
        s.names.projectIn = "model.decoder.project_in";
        s.names.projectOut = "model.decoder.project_out";
    }
    const bool before = c.flagOr("do_layer_norm_before", true);
    s.order = before ? LayerOrder::PreNorm : LayerOrder::PostNorm;
    s.finalNorm = before && !c.flagOr("_remove_final_layer_norm", false);
    s.qkvBias = s.outBias = s.upBias = s.downBias = c.flagOr("enable_bias", true);
    s.activation = readActivation(c, "activation_function", "relu", false);
    s.attention.dropout = c.probabilityOr("attention_dropout", 0);
    s.attentionOutDropout = s.mlpDropout = c.probabilityOr("dropout", 0.1);
    s.tied = readTied(c, true);
    setLayers(s, layers, fullHeads(c, s.hidden, heads, width));
    finishDecoder(c, s, b);
}

constexpr std::array kFamilies{
    Family{"gpt2", "GPT2", gpt2}, Family{"openai-gpt", "OpenAIGPT", openAiGpt}, Family{"gpt_neo", "GPTNeoFor", gptNeo},
    Family{"gptj", "GPTJ", gptJ}, Family{"gpt_neox", "GPTNeoXFor", gptNeoX},    Family{"opt", "OPT", opt},
};

} // namespace

std::span<const Family> gptFamilies()
{
    return kFamilies;
}

} // namespace loadline
