// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace loadline {

/// Where an operator stands in the model; the places of `inspect --json`.
enum class Place { Embedding, Layer, Between, FinalNorm, Head, Loss };

/// How many tokens of one sequence an operator sees.
/// A decoder sees the run's sequence length; an image encoder a fixed number of patches; Whisper's decoder at most 448.
struct TokenCount {
    std::int64_t fixed = 0; ///< > 0: this many, whatever the run's sequence length is
    std::int64_t most = 0;  ///< > 0: never more than this

    [[nodiscard]] std::int64_t of(std::int64_t sequence) const;
    friend auto operator<=>(const TokenCount&, const TokenCount&) = default;
};

struct Parameter {
    std::string name;                ///< as in the checkpoint, e.g. "model.layers.0.mlp.up_proj.weight"
    std::vector<std::int64_t> shape; ///< as PyTorch stores it; FSDP2 shards dimension 0
    bool trainable = true;

    [[nodiscard]] std::int64_t count() const;
    friend bool operator==(const Parameter&, const Parameter&) = default;
};

// --- what an operator computes: one struct a kind; sizes are feature counts, not bytes -------------------------

struct EmbeddingTraits {
    std::int64_t rows = 0;
    std::int64_t width = 0;
    bool positions = false;     ///< looks up positions, the same for every sequence of the batch
    bool bufferIndices = false; ///< its indices are a buffer of the model, so nothing is saved (BERT's token types)
    friend bool operator==(const EmbeddingTraits&, const EmbeddingTraits&) = default;
};

enum class NormKind { Layer, Rms, GemmaRms, T5Rms, GptOssRms };
struct NormTraits {
    NormKind norm = NormKind::Layer;
    std::int64_t width = 0;
    std::int64_t perToken = 1; ///< rows normalised for each token: heads for Qwen3's q_norm
    std::int64_t readers = 1;  ///< linears that read the output, which counts here; autocast gives each its own bf16 copy
    bool ofProjection = false; ///< normalises a projection's output, not the residual stream (q_norm, DeepSeek's q_a_layernorm)
    bool savesInput = true;    ///< false if an operator before it has saved the same tensor (second norm of a parallel layer)
    friend bool operator==(const NormTraits&, const NormTraits&) = default;
};

struct LinearTraits {
    std::int64_t in = 0;
    std::int64_t out = 0;
    bool savesInput = true;  ///< false if an operator before it has saved the same tensor already (norm output, sibling)
    bool castsInput = false; ///< autocast makes a bf16 copy that no norm's `readers` counts (keys of a cross attention)
    friend bool operator==(const LinearTraits&, const LinearTraits&) = default;
};

/// Scores and weighted sum between the projections; no parameters (GPT-OSS's sinks and T5's bias table excepted).
struct AttentionTraits {
    std::int64_t heads = 0;
    std::int64_t kvHeads = 0;
    std::int64_t headDim = 0;  ///< of queries and keys
    std::int64_t valueDim = 0; ///< of values; equals headDim but in MLA
    std::int64_t window = 0;   ///< sliding window in tokens, 0 = none
    TokenCount keys;           ///< tokens attended to; another stream's in cross attention
    bool causal = true;
    bool cross = false;
    bool fusedQkv = false;      ///< one projection holds q, k and v in one storage
    std::int64_t rotaryDim = 0; ///< features rotated per head; 0 = no rotary; < headDim = partial
    bool positionBias = false;  ///< additive bias (ALiBi, T5): needs a mask, so never flash
    double softCap = 0;         ///< Gemma-2's tanh cap on scores, 0 = none
    double dropout = 0;
    bool softmaxInFp32 = true; ///< eager softmax runs in fp32 and is cast back (Llama); false: in the scores' type (GPT-2, BERT)
    bool broadcastsKv = false; ///< one KV head broadcast to all queries without a GQA flag (Falcon-7B): sdpa must take math
    bool expandsKv = false;    ///< keys and values are written out for all heads before any kernel (Falcon-40B)
    bool masked = false;       ///< always given an explicit mask, one for all heads, so never flash (Falcon)
    bool headMajor = false;    ///< queries are written out head by head (Whisper); flash's output follows, and its reader makes a copy
    bool scoresInFp32 = false; ///< eager casts queries and keys to fp32 for the scores (GPT-J)
    /// How positions are rotated in: with tables made once for the model; likewise, but by concatenating parts, which leaves
    /// queries in another layout (NeoX, Phi, Phi-3); or with sines repeated in every layer (GPT-J).
    enum class Rotary { Tables, Concatenated, PerLayer } rotary = Rotary::Tables;
    bool hasSdpa = true; ///< false where Hugging Face has no scaled_dot_product_attention for the family
    friend bool operator==(const AttentionTraits&, const AttentionTraits&) = default;
};

/// The MLP's nonlinearity, with the product of a gated MLP.
enum class ActivationKind {
    Relu,
    Gelu,
    GeluNew,
    GeluTanh,
    QuickGelu,
    Silu,
    Tanh,
    GatedSilu,
    GatedGelu,
    GatedGeluTanh,
    GatedGeluNew,
    GatedClampedSilu
};
struct ActivationTraits {
    ActivationKind activation = ActivationKind::Gelu;
    std::int64_t width = 0; ///< f: features of the hidden layer (one branch of a gated MLP)
    bool outputRead = true; ///< the linear behind it saves its output, which counts here; false: nobody does, or a norm or convolution
    friend bool operator==(const ActivationTraits&, const ActivationTraits&) = default;
};

struct DropoutTraits {
    std::int64_t width = 0;
    double probability = 0;
    bool outputRead = false; ///< a linear reads the dropped tensor, so it is saved beside the mask (T5's MLP)
    friend bool operator==(const DropoutTraits&, const DropoutTraits&) = default;
};

/// Router scores: a linear of hidden -> experts with its softmax or sigmoid and top-k.
struct RouterTraits {
    std::int64_t hidden = 0;
    std::int64_t experts = 0;
    std::int64_t active = 0;
    enum class Scores { Softmax, Sigmoid, TopKSoftmax } scores = Scores::Softmax; ///< Sigmoid: DeepSeek-V3; TopKSoftmax: GPT-OSS
    std::int64_t groups = 1;                                                      ///< expert groups that scores are limited to (DeepSeek)
    friend bool operator==(const RouterTraits&, const RouterTraits&) = default;
};

/// All routed experts of one layer as one operator: parameters of all, FLOPs of the active ones.
struct ExpertsTraits {
    std::int64_t experts = 0;
    std::int64_t active = 0; ///< experts per token (k)
    std::int64_t hidden = 0;
    std::int64_t width = 0; ///< f of one expert
    ActivationKind activation = ActivationKind::GatedSilu;
    friend bool operator==(const ExpertsTraits&, const ExpertsTraits&) = default;
};

struct ConvolutionTraits {
    std::int64_t inChannels = 0;
    std::int64_t outChannels = 0;
    std::int64_t kernel = 0;           ///< elements of one kernel (width x height)
    std::int64_t inputPerSequence = 0; ///< input elements of one sequence
    TokenCount outputs;                ///< positions written
    friend bool operator==(const ConvolutionTraits&, const ConvolutionTraits&) = default;
};

enum class LossKind { CausalLm, MaskedLm, Classification };
struct LossTraits {
    LossKind loss = LossKind::CausalLm;
    std::int64_t classes = 0; ///< vocabulary or labels
    bool upcasts = true;      ///< logits to fp32 first (Hugging Face's ForCausalLMLoss)
    bool fp32Logits = false;  ///< without upcast: the logits are fp32 under autocast all the same (BART's bias buffer)
    double softCap = 0;
    friend bool operator==(const LossTraits&, const LossTraits&) = default;
};

/// Described by hand: the costs themselves, as polynomials in batch b and tokens t of one sequence.
struct CustomTraits {
    double savedPerToken = 0;        ///< bytes x b x t
    double savedPerTokenSquared = 0; ///< bytes x b x t x t
    double inputPerToken = 0;        ///< bytes x b x t of the tensor it reads: what recompute keeps
    double flopsPerToken = 0;        ///< forward, x b x t
    double flopsPerTokenSquared = 0; ///< forward, x b x t x t
    friend bool operator==(const CustomTraits&, const CustomTraits&) = default;
};

using Traits = std::variant<EmbeddingTraits, NormTraits, LinearTraits, AttentionTraits, ActivationTraits, DropoutTraits, RouterTraits,
                            ExpertsTraits, ConvolutionTraits, LossTraits, CustomTraits>;

/// One layer-sized piece of the model.
struct Operator {
    std::string name; ///< Hugging Face module path, e.g. "model.layers.0.mlp.up_proj"
    Place place = Place::Layer;
    int layer = -1;   ///< execution index (encoder first), -1 outside layers
    std::string part; ///< "attention", "cross_attention", "mlp"; empty outside layers
    Traits traits;
    std::vector<Parameter> parameters; ///< own ones; a tied parameter is listed at its first user only
    std::string sharesWith;            ///< operator whose parameters this one uses too (tied head, ALBERT); else empty
    TokenCount tokens;

    [[nodiscard]] std::int64_t parameterCount() const;
    [[nodiscard]] std::int64_t trainableCount() const;
    friend bool operator==(const Operator&, const Operator&) = default;
};

/// A model as planned: operators in execution order of the forward pass.
struct Model {
    std::string name;
    std::string family; ///< Hugging Face model_type, or "custom"
    std::int64_t hidden = 0;
    std::int64_t defaultSequence = 0; ///< what `--sequence` takes when it is not given
    std::vector<Operator> operators;
    std::vector<std::string> notes; ///< one sentence each: tied weights, defaults taken, differences to an index

    [[nodiscard]] std::int64_t parameterCount() const;
    [[nodiscard]] std::int64_t trainableCount() const;
    [[nodiscard]] int layerCount() const;
    friend bool operator==(const Model&, const Model&) = default;
};

} // namespace loadline
