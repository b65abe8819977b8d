// SPDX-License-Identifier: GPL-3.0-or-later
// Decoders with routed experts. As transformers 5 keeps them, the experts of a layer are one 3-D parameter.
#include "core/model/families.hpp"
#include "core/model/family_parts.hpp"

#include <algorithm>
#include <array>

namespace loadline {
namespace {

void allSparse(StackSpec& s)
{
    for (auto& layer : s.layers)
        layer.sparse = true;
}

void mixtral(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(c, {.keyHeads = 8, .sequence = 131072});
    setWindows(s, c.optionalInteger("sliding_window", kTokenRange).value_or(0));
    s.experts.experts = c.integerOr("num_local_experts num_experts", 8);
    s.experts.active = c.integerOr("num_experts_per_tok", 2);
    s.experts.width = c.integer("intermediate_size");
    s.experts.activation = s.activation;
    allSparse(s);
    finishDecoder(c, s, b);
}

/// Phi-3.5-MoE: Mixtral with LayerNorm and biases.
void phiMoe(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(c, {.keyHeads = 8, .sequence = 131072});
    s.norm = NormKind::Layer;
    s.normBias = true;
    s.names.router = "mlp.router";
    s.qkvBias = s.outBias = c.flagOr("attention_bias", false);
    s.headBias = c.flagOr("lm_head_bias", false);
    setWindows(s, c.optionalInteger("sliding_window", kTokenRange).value_or(0));
    s.experts.experts = c.integerOr("num_local_experts", 16);
    s.experts.active = c.integerOr("num_experts_per_tok", 2);
    s.experts.width = c.integer("intermediate_size");
    s.experts.activation = s.activation;
    allSparse(s);
    finishDecoder(c, s, b);
}

/// Experts on every `decoder_sparse_step`-th layer, but not on `mlp_only_layers`.
void qwenSparseLayers(ConfigReader& c, StackSpec& s)
{
    const auto step = c.integerOr("decoder_sparse_step", 1);
    const auto dense = c.integers("mlp_only_layers");
    for (std::size_t i = 0; i < s.layers.size(); ++i) {
        const auto index = static_cast<std::int64_t>(i);
        s.layers[i].sparse = (index + 1) % step == 0 && std::find(dense.begin(), dense.end(), index) == dense.end();
    }
}

void qwen2Moe(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(c, {.sequence = 32768});
    s.qkvBias = c.flagOr("qkv_bias", true);
    setQwenWindows(c, s);
    s.names.sharedExperts = "mlp.shared_expert";
    s.names.sharedGate = "mlp.shared_expert_gate";
    s.experts.experts = c.integerOr("num_experts", 60);
    s.experts.active = c.integerOr("num_experts_per_tok", 4);
    s.experts.width = c.integerOr("moe_intermediate_size", 1408);
    s.experts.sharedWidth = c.integerOr("shared_expert_intermediate_size", 5632);
    s.experts.sharedGate = true;
    s.experts.activation = s.activation;
    qwenSparseLayers(c, s);
    finishDecoder(c, s, b);
}

void qwen3Moe(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(c, {.keyHeads = 4, .sequence = 32768});
    s.qkNorm = QkNorm::PerHead;
    s.qkvBias = s.outBias = c.flagOr("attention_bias", false);
    setQwenWindows(c, s);
    s.experts.experts = c.integerOr("num_experts num_local_experts", 128);
    s.experts.active = c.integerOr("num_experts_per_tok", 8);
    s.experts.width = c.integerOr("moe_intermediate_size", 768);
    s.experts.activation = s.activation;
    qwenSparseLayers(c, s);
    finishDecoder(c, s, b);
}

/// Multi-head latent attention, dense first layers, experts that are always on. V2 and V3 differ in the router.
StackSpec deepseek(ConfigReader& c, std::int64_t sequence)
{
    auto s = rmsDecoder(c, {.headDim = -1, .sequence = sequence}); // heads are put together from two parts
    s.qkvBias = s.outBias = c.flagOr("attention_bias", false);
    s.latent.queryRank = c.optionalInteger("q_lora_rank").value_or(0);
    s.latent.keyValueRank = c.integerOr("kv_lora_rank", 512);
    s.latent.plainDim = c.integerOr("qk_nope_head_dim", 128);
    s.latent.rotaryDim = c.integerOr("qk_rope_head_dim", 64);
    const auto valueDim = c.integerOr("v_head_dim", 128);
    auto& e = s.experts;
    e.activation = s.activation;
    e.experts = c.optionalInteger("n_routed_experts").value_or(0);
    const auto dense = c.integerOr("first_k_dense_replace", 0, kFromZero);
    const auto step = c.integerOr("moe_layer_freq", 1);
    if (e.experts > 0) {
        e.active = c.integer("num_experts_per_tok");
        e.width = c.integer("moe_intermediate_size");
        e.sharedWidth = c.integerOr("n_shared_experts", 1, kFromZero) * e.width;
    }
    for (std::size_t i = 0; i < s.layers.size(); ++i) {
        auto& layer = s.layers[i];
        const auto index = static_cast<std::int64_t>(i);
        layer.sparse = e.experts > 0 && index >= dense && index % step == 0;
        layer.kvHeads = layer.heads; // keys and values are made for every head
        layer.headDim = s.latent.plainDim + s.latent.rotaryDim;
        layer.valueDim = valueDim;
        layer.rotaryDim = s.latent.rotaryDim;
    }
    return s;
}

void deepseekV2(ConfigReader& c, ModelBuilder& b)
{
    auto s = deepseek(c, 2048);
    s.upBias = s.downBias = c.flagOr("mlp_bias", false);
    s.experts.groups = c.optionalInteger("n_group").value_or(1);
    finishDecoder(c, s, b);
}

void deepseekV3(ConfigReader& c, ModelBuilder& b)
{
    auto s = deepseek(c, 4096);
    s.experts.scores = RouterTraits::Scores::Sigmoid;
    s.experts.scoreCorrection = true;
    s.experts.groups = c.integerOr("n_group", 8);
    if (const auto extra = c.optionalInteger("num_nextn_predict_layers", kFromZero).value_or(0); extra > 0)
        b.model.notes.push_back("The layers that predict further tokens ('num_nextn_predict_layers') are not planned: Hugging Face leaves "
                                "them out in training.");
    finishDecoder(c, s, b);
}

void dbrx(ConfigReader& c, ModelBuilder& b)
{
    StackSpec s;
    s.names = {.embedding = "transformer.wte",
               .layers = "transformer.blocks",
               .attention = "norm_attn_norm.attn",
               .qkv = "Wqkv",
               .o = "out_proj",
               .attentionDropout = "resid_dropout",
               .mlp = "ffn",
               .mlpDropout = "ffn.resid_dropout",
               .norm1 = "norm_attn_norm.norm_1",
               .norm2 = "norm_attn_norm.norm_2",
               .router = "ffn.router.layer",
               .experts = "ffn.experts.mlp",
               .finalNorm = "transformer.norm_f"};
    s.norm = NormKind::Layer;
    s.qkvLayout = QkvLayout::Fused;
    s.hidden = c.integerOr("d_model", 2048);
    s.vocabulary = c.integerOr("vocab_size", 32000, kVocabularyRange);
    s.sequence = c.integerOr("max_seq_len", 2048, kTokenRange);
    const auto layers = c.integerOr("n_layers", 24, kLayerRange);
    const auto heads = c.integerOr("n_heads", 16);
    s.attentionOutDropout = s.mlpDropout = c.probabilityOr("resid_pdrop", 0);
    auto attention = c.child("attn_config");
    auto layer = fullHeads(c, s.hidden, heads, 1);
    layer.kvHeads = attention.integerOr("kv_n_heads", 1);
    s.attention.dropout = attention.probabilityOr("attn_pdrop", 0);
    c.take(attention);
    requireSharedHeads(c, layer, "attn_config.kv_n_heads");
    layer.rotaryDim = layer.headDim;
    layer.sparse = true;
    auto experts = c.child("ffn_config");
    s.experts.experts = experts.integerOr("moe_num_experts", 4);
    s.experts.active = experts.integerOr("moe_top_k", 1);
    s.experts.width = experts.integerOr("ffn_hidden_size", 3584);
    s.experts.shape = ExpertShape::StackedRows;
    auto activation = experts.child("ffn_act_fn");
    s.experts.activation = readActivation(activation, "name", "silu", true);
    experts.take(activation);
    c.take(experts);
    s.tied = readTied(c, false);
    setLayers(s, layers, layer);
    finishDecoder(c, s, b);
}

void gptOss(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(
        c,
        {.headDim = 64, .hidden = 2880, .width = 2880, .layers = 36, .heads = 64, .keyHeads = 8, .vocabulary = 201088, .sequence = 131072});
    s.norm = NormKind::GptOssRms;
    s.names.router = "mlp.router";
    s.qkvBias = s.outBias = c.flagOr("attention_bias", true);
    s.sinks = true;
    s.attention.hasSdpa = false;
    s.attention.softmaxInFp32 = false;
    auto& e = s.experts;
    e.experts = c.integerOr("num_local_experts num_experts", 128);
    e.active = c.integerOr("num_experts_per_tok experts_per_token", 4);
    e.width = c.integerOr("intermediate_size", 2880);
    e.activation = ActivationKind::GatedClampedSilu;
    e.scores = RouterTraits::Scores::TopKSoftmax;
    e.bias = e.routerBias = true;
    e.shape = ExpertShape::InFirst;
    const auto window = c.integerOr("sliding_window", 128, kTokenRange);
    if (const auto types = c.texts("layer_types"); !types.empty())
        setWindowsByType(c, s, types, window);
    else
        for (std::size_t i = 0; i < s.layers.size(); i += 2)
            s.layers[i].window = window;
    allSparse(s);
    finishDecoder(c, s, b);
}

/// Llama 4: every `no_rope_layer_interval`-th layer sees everything without positions, the others chunks with rotary ones.
void llama4Attention(ConfigReader& c, StackSpec& s)
{
    const auto interval = c.integerOr("no_rope_layer_interval", 4);
    const auto chunk = c.integerOr("attention_chunk_size", 8192, kTokenRange);
    const auto rotary = c.integers("no_rope_layers");
    c.require(rotary.empty() || rotary.size() >= s.layers.size(), "the key 'no_rope_layers' must have one entry a layer");
    s.qkNorm = c.flagOr("use_qk_norm", true) ? QkNorm::PerHead : QkNorm::None;
    s.qkNormWeight = false;
    for (std::size_t i = 0; i < s.layers.size() && c.ok(); ++i) {
        const bool rotates = rotary.empty() ? (static_cast<std::int64_t>(i) + 1) % interval != 0 : rotary[i] != 0;
        s.layers[i].window = rotates ? chunk : 0;
        s.layers[i].rotaryDim = rotates ? s.layers[i].headDim : 0;
        s.layers[i].qkNorm = rotates;
    }
    if (const auto types = c.texts("layer_types"); !types.empty())
        setWindowsByType(c, s, types, chunk);
}

void llama4Text(ConfigReader& c, ModelBuilder& b)
{
    auto s = rmsDecoder(c, {.headDim = 128,
                            .hidden = 5120,
                            .width = 8192,
                            .layers = 48,
                            .heads = 40,
                            .keyHeads = 8,
                            .vocabulary = 202048,
                            .sequence = 131072});
    s.names.mlp = "feed_forward";
    s.names.activation = "activation_fn";
    s.names.router = "feed_forward.router";
    s.names.experts = "feed_forward.experts";
    s.names.sharedExperts = "feed_forward.shared_expert";
    s.qkvBias = s.outBias = c.flagOr("attention_bias", false);
    llama4Attention(c, s);
    auto& e = s.experts;
    e.experts = c.integerOr("num_local_experts", 16);
    e.active = c.integerOr("num_experts_per_tok", 1);
    e.width = e.sharedWidth = c.integerOr("intermediate_size", 8192);
    e.activation = s.activation;
    e.scores = RouterTraits::Scores::Sigmoid;
    e.shape = ExpertShape::InFirst;
    const auto denseWidth = c.integerOr("intermediate_size_mlp", 16384);
    const auto step = c.integerOr("interleave_moe_layer_step", 1);
    const auto sparse = c.integers("moe_layers");
    for (std::size_t i = 0; i < s.layers.size(); ++i) {
        const auto index = static_cast<std::int64_t>(i);
        s.layers[i].width = denseWidth;
        s.layers[i].sparse = sparse.empty() ? (index + 1) % step == 0 : std::find(sparse.begin(), sparse.end(), index) != sparse.end();
    }
    finishDecoder(c, s, b);
}

void llama4(ConfigReader& c, ModelBuilder& b)
{
    buildTextPart(c, b, llama4Text);
}

constexpr std::array kFamilies{
    Family{"mixtral", "Mixtral", mixtral},
    Family{"phimoe", "Phimoe", phiMoe},
    Family{"qwen2_moe", "Qwen2Moe", qwen2Moe},
    Family{"qwen3_moe", "Qwen3Moe", qwen3Moe},
    Family{"deepseek_v2", "DeepseekV2", deepseekV2},
    Family{"deepseek_v3", "DeepseekV3", deepseekV3},
    Family{"dbrx", "Dbrx", dbrx},
    Family{"gpt_oss", "GptOss", gptOss},
    Family{"llama4_text", "Llama4ForCausal", llama4Text},
    Family{"llama4", "Llama4ForConditional", llama4},
};

} // namespace

std::span<const Family> expertFamilies()
{
    return kFamilies;
}

} // namespace loadline
