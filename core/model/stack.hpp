// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/config_reader.hpp"
#include "core/model/model_builder.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace loadline {

/// Module names of a stack of layers and what stands before and after it, as they stand in Hugging Face checkpoints. The defaults are
/// Llama's.
struct StackNames {
    std::string embedding = "model.embed_tokens";
    std::string positions = {};     ///< learned positions
    std::string embeddingNorm = {}; ///< BLOOM's norm between embedding and first layer
    std::string projectIn = {};     ///< OPT-350m: embedding width -> hidden
    std::string embeddingDropout = {};
    std::string layers = "model.layers";
    std::string attention = "self_attn"; ///< of a layer, as are all names down to `experts`
    std::string q = "q_proj", k = "k_proj", v = "v_proj", qkv = "qkv_proj", o = "o_proj";
    std::string qNorm = "q_norm", kNorm = "k_norm";
    std::string attentionDropout = {}; ///< residual dropout after the attention; below the layer
    std::string mlp = "mlp";
    std::string gate = "gate_proj", up = "up_proj", down = "down_proj", gateUp = "gate_up_proj", activation = "act_fn";
    std::string mlpDropout = {}; ///< below the layer
    std::string norm1 = "input_layernorm";
    std::string norm2 = "post_attention_layernorm";
    std::string postAttentionNorm = {}; ///< Gemma-2: norm of the attention's output
    std::string postMlpNorm = {};
    std::string crossAttention = {}; ///< of a decoder that also attends to an encoder
    std::string crossDropout = {}, crossNorm = {};
    std::string router = "mlp.gate", experts = "mlp.experts", sharedExperts = "mlp.shared_experts", sharedGate = {};
    std::string finalNorm = "model.norm";
    std::string finalDropout = {};
    std::string projectOut = {};
    std::string head = "lm_head";
    std::string activationDropout = {}; ///< in the MLP, between activation and last linear
    std::string positionBias = {};      ///< T5: table of biases in the first layer's attention
};

enum class LayerOrder {
    PreNorm,         ///< x + attention(norm1(x)), then x + mlp(norm2(x))
    PostNorm,        ///< norm1(x + attention(x)), then norm2(x + mlp(x))
    Parallel,        ///< x + attention(norm1(x)) + mlp(norm1(x))
    ParallelTwoNorms ///< x + attention(norm1(x)) + mlp(norm2(x))
};
enum class QkvLayout { Separate, Fused };
enum class MlpLayout { Plain, Gated, GatedFused };
enum class QkNorm { None, PerHead, Whole };

/// DeepSeek's multi-head latent attention.
struct LatentAttention {
    std::int64_t queryRank = 0; ///< 0: queries without a low-rank step
    std::int64_t keyValueRank = 0;
    std::int64_t plainDim = 0; ///< features of a query head without rotary
    std::int64_t rotaryDim = 0;
};

/// How a checkpoint keeps the experts of a layer.
enum class ExpertShape {
    OutFirst,   ///< [experts, out, in], as a linear (Mixtral)
    InFirst,    ///< [experts, in, out] (GPT-OSS, Llama 4)
    StackedRows ///< DBRX: three matrices of [experts x width, hidden]
};

/// Routed experts of a layer.
struct ExpertLayout {
    std::int64_t experts = 0; ///< 0: no experts
    std::int64_t active = 0;
    std::int64_t width = 0;
    ActivationKind activation = ActivationKind::GatedSilu;
    RouterTraits::Scores scores = RouterTraits::Scores::Softmax;
    std::int64_t groups = 1;
    ExpertShape shape = ExpertShape::OutFirst;
    bool bias = false;            ///< GPT-OSS: on both expert products
    bool routerBias = false;      ///< GPT-OSS
    bool scoreCorrection = false; ///< DeepSeek V3's e_score_correction_bias
    std::int64_t sharedWidth = 0; ///< one dense MLP beside the experts
    bool sharedGate = false;      ///< Qwen2-MoE: a linear of width 1 weighs it
};

/// What may differ between layers.
struct StackLayer {
    std::int64_t window = 0; ///< sliding window, 0 = none
    bool sparse = false;     ///< routed experts instead of the dense MLP
    std::int64_t width = 0;  ///< of the dense MLP
    std::int64_t heads = 0, kvHeads = 0, headDim = 0, valueDim = 0, rotaryDim = 0;
    bool ownKeys = true;   ///< false: keys and values of an earlier layer are used again (Gemma 4)
    bool ownValues = true; ///< false: the keys are the values too (Gemma 4)
    bool qkNorm = true;    ///< with StackSpec::qkNorm: not on layers without rotary (Llama 4)
};

/// A stack of transformer layers as data: a family fills this in.
struct StackSpec {
    StackNames names;
    std::int64_t hidden = 0;
    std::int64_t vocabulary = 0;
    std::int64_t embeddingWidth = 0; ///< 0: hidden
    std::int64_t positions = 0;      ///< rows of learned positions, 0 = none
    bool samePositions = true;       ///< one row of indices for the whole batch; false: one a sequence (OPT)
    std::int64_t sequence = 0;       ///< longest sequence, the default of a run
    std::vector<StackLayer> layers;
    std::vector<std::string> layerPaths; ///< one a layer instead of names.layers; a path that comes again shares its parameters
    TokenCount tokens;                   ///< that the stack sees
    TokenCount crossTokens;              ///< that its cross attention sees
    std::int64_t readersAtEnd = 1;       ///< linears that read a post-norm stack's output

    LayerOrder order = LayerOrder::PreNorm;
    NormKind norm = NormKind::Rms;
    bool normBias = false;
    bool finalNorm = true;
    QkvLayout qkvLayout = QkvLayout::Separate;
    MlpLayout mlpLayout = MlpLayout::Gated;
    ActivationKind activation = ActivationKind::GatedSilu;
    QkNorm qkNorm = QkNorm::None;
    bool qkNormBias = false;
    bool qkNormWeight = true; ///< Llama 4's has none
    bool keyBias = true;      ///< false: none on k even with qkvBias (Whisper)
    bool qkvBias = false, outBias = false, upBias = false, downBias = false, headBias = false;
    bool valueNorm = false;              ///< Gemma 4: values are normalised without a weight
    bool expertsBesideMlp = false;       ///< Gemma 4: routed experts and a dense MLP in one layer
    std::int64_t perLayerWidth = 0;      ///< Gemma 4: every layer gets so many features of its own embedding, 0 = none
    std::int64_t perLayerVocabulary = 0; ///< rows of that embedding
    bool conv1d = false;
    bool castsDown = false;       ///< T5 converts the input of the MLP's last linear itself, so autocast makes a second copy
    bool startsProjected = false; ///< the first layer reads a linear's output, which autocast has in bf16 (ALBERT)
    AttentionTraits attention;    ///< all but its sizes, which a layer gives
    bool copiesQkv = false;       ///< with QkvLayout::Fused: the parts are copied out (Falcon)
    LatentAttention latent;
    ExpertLayout experts;

    double embeddingDropout = 0, attentionOutDropout = 0, mlpDropout = 0, activationDropout = 0;
    double finalSoftCap = 0;
    std::int64_t positionBuckets = 0; ///< rows of T5's table
    bool sinks = false;               ///< GPT-OSS: one learned score per head
    bool tied = false;
    bool upcastsLoss = true;
};

/// Appends the layers, `first` being the execution index of the first one. Sizes have been checked by ConfigReader.
void buildLayers(const StackSpec& spec, ModelBuilder& builder, int first = 0);

/// Appends token and position embeddings, at the builder's place.
void buildEmbeddings(const StackSpec& spec, ModelBuilder& builder);

/// Appends final norm, head and loss.
void buildHead(const StackSpec& spec, ModelBuilder& builder);

/// All of a language model's decoder.
void buildDecoder(const StackSpec& spec, ModelBuilder& builder);

} // namespace loadline
