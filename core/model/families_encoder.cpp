// SPDX-License-Identifier: GPL-3.0-or-later
// Encoders trained with a masked language model: BERT, RoBERTa, ALBERT. The class in `architectures` decides what stands
// after the layers.
#include "core/model/encoder_parts.hpp"
#include "core/model/families.hpp"
#include "core/model/family_parts.hpp"

#include <fmt/format.h>

#include <array>

namespace loadline {
namespace {

struct BertNames {
    std::string_view base;      ///< "bert"
    std::string_view transform; ///< linear before the head, and its norm
    std::string_view transformNorm;
    std::string_view head;
    std::string_view headBias; ///< parameter
};
constexpr BertNames kBert{"bert", "cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.decoder",
                          "cls.predictions.bias"};
constexpr BertNames kRoberta{"roberta", "lm_head.dense", "lm_head.layer_norm", "lm_head.decoder", "lm_head.bias"};
constexpr BertNames kAlbert{"albert", "predictions.dense", "predictions.LayerNorm", "predictions.decoder", "predictions.bias"};

struct BertSizes {
    std::int64_t embedding = 0; ///< width of the embeddings
    std::int64_t types = 0;
    double dropout = 0;
    bool madeIndices = false; ///< positions and token types are made for each sequence (RoBERTa), not taken from a buffer
};

/// Defaults in which the classes differ.
struct BertDefaults {
    std::int64_t hidden = 768;
    std::int64_t vocabulary = 30522;
    double dropout = 0.1;
    std::string_view activation = "gelu";
};
constexpr BertDefaults kAlbertDefaults{4096, 30000, 0, "gelu_new"};

/// Sizes that the three share.
StackSpec bertStack(ConfigReader& c, BertSizes& sizes, const BertDefaults& defaults)
{
    StackSpec s;
    s.norm = NormKind::Layer;
    s.normBias = s.qkvBias = s.outBias = s.upBias = s.downBias = true;
    s.order = LayerOrder::PostNorm;
    s.mlpLayout = MlpLayout::Plain;
    s.attention.causal = false;
    s.attention.softmaxInFp32 = false;
    s.hidden = c.integerOr("hidden_size", defaults.hidden);
    s.vocabulary = c.integerOr("vocab_size", defaults.vocabulary, kVocabularyRange);
    s.positions = s.sequence = c.integerOr("max_position_embeddings", 512, kTokenRange);
    s.activation = readActivation(c, "hidden_act", defaults.activation, false);
    s.attention.dropout = c.probabilityOr("attention_probs_dropout_prob", defaults.dropout);
    s.attentionOutDropout = s.mlpDropout = sizes.dropout = c.probabilityOr("hidden_dropout_prob", defaults.dropout);
    sizes.types = c.integerOr("type_vocab_size", 2, kFromZero);
    sizes.embedding = s.hidden;
    return s;
}

std::string join(std::string_view base, std::string_view name)
{
    return base.empty() ? std::string(name) : fmt::format("{}.{}", base, name);
}

void embeddings(const StackSpec& s, const BertSizes& sizes, const std::string& base, ModelBuilder& b)
{
    b.enter(Place::Embedding);
    b.embedding(base + ".word_embeddings", s.vocabulary, sizes.embedding);
    b.embedding(base + ".position_embeddings", s.positions, sizes.embedding, !sizes.madeIndices);
    if (sizes.types > 0)
        std::get<EmbeddingTraits>(b.embedding(base + ".token_type_embeddings", sizes.types, sizes.embedding).traits).bufferIndices =
            !sizes.madeIndices;
    const bool mapped = sizes.embedding != s.hidden; // ALBERT: one linear reads it
    b.norm(base + ".LayerNorm", {.norm = NormKind::Layer, .width = sizes.embedding, .readers = mapped ? 1 : 3}, true);
    b.dropout(base + ".dropout", sizes.embedding, sizes.dropout);
}

/// dense -> activation -> norm -> vocabulary, whose weight is the word embedding.
void maskedHead(const StackSpec& s, const BertSizes& sizes, const BertNames& names, const std::string& words, ModelBuilder& b)
{
    b.enter(Place::FinalNorm);
    b.linear(std::string(names.transform), s.hidden, sizes.embedding, {.bias = true});
    b.add(fmt::format("{}.activation", names.transform), ActivationTraits{s.activation, sizes.embedding, false});
    b.norm(std::string(names.transformNorm), {.norm = NormKind::Layer, .width = sizes.embedding}, true);
    b.enter(Place::Head);
    auto& head = b.add(std::string(names.head), LinearTraits{sizes.embedding, s.vocabulary, false, false});
    if (s.tied)
        head.sharesWith = words;
    else
        b.parameter("weight", {s.vocabulary, sizes.embedding});
    b.namedParameter(std::string(names.headBias), {s.vocabulary});
    if (s.tied)
        b.model.notes.push_back(fmt::format("{}.weight is tied to {}.weight and counted once.", names.head, words));
    b.enter(Place::Loss);
    b.add("loss", LossTraits{.loss = LossKind::MaskedLm, .classes = s.vocabulary, .upcasts = false});
}

/// What follows the layers, by class: masked language model, pre-training, classification, or the bare encoder.
void bertHeads(ConfigReader& c, const StackSpec& s, const BertSizes& sizes, const BertNames& names, std::string_view pooler,
               ModelBuilder& b)
{
    const auto kind = headKind(c, "ForMaskedLM");
    const std::string base = kind == "Model" ? "" : std::string(names.base);
    embeddings(s, sizes, join(base, "embeddings"), b);
    if (sizes.embedding != s.hidden)
        b.linear(join(base, "encoder.embedding_hidden_mapping_in"), sizes.embedding, s.hidden, {.bias = true});
    auto stack = s;
    stack.names.layers = join(base, s.names.layers);
    for (auto& path : stack.layerPaths)
        path = join(base, path);
    buildLayers(stack, b);
    const auto words = join(base, "embeddings.word_embeddings");
    if (kind != "ForMaskedLM")
        poolFirstToken(join(base, pooler), s.hidden, b);
    if (kind == "ForMaskedLM" || kind == "ForPreTraining")
        maskedHead(s, sizes, names, words, b);
    if (kind == "ForPreTraining")
        classifyPooled("cls.seq_relationship", s.hidden, 2, b);
    if (kind == "ForSequenceClassification")
        classifyPooled("classifier", s.hidden, labelCount(c), b);
}

void bertLike(ConfigReader& c, ModelBuilder& b, const BertNames& names, const BertDefaults& defaults, std::int64_t padding)
{
    BertSizes sizes;
    auto s = bertStack(c, sizes, defaults);
    s.sequence = std::max<std::int64_t>(1, s.sequence - padding); // RoBERTa keeps rows for padding
    sizes.madeIndices = padding > 0;
    s.names = {.layers = "encoder.layer",
               .attention = "attention",
               .q = "self.query",
               .k = "self.key",
               .v = "self.value",
               .o = "output.dense",
               .attentionDropout = "attention.output.dropout",
               .mlp = "",
               .up = "intermediate.dense",
               .down = "output.dense",
               .activation = "intermediate.intermediate_act_fn",
               .mlpDropout = "output.dropout",
               .norm1 = "attention.output.LayerNorm",
               .norm2 = "output.LayerNorm"};
    s.names.embeddingNorm = "embeddings.LayerNorm";
    const auto layers = c.integerOr("num_hidden_layers", 12, kLayerRange);
    const auto heads = c.integerOr("num_attention_heads", 12);
    const auto width = c.integerOr("intermediate_size", 4 * s.hidden);
    s.tied = readTied(c, true);
    setLayers(s, layers, fullHeads(c, s.hidden, heads, width));
    b.model.hidden = s.hidden;
    b.model.defaultSequence = s.sequence;
    if (c.ok())
        bertHeads(c, s, sizes, names, "pooler.dense", b);
}

void bert(ConfigReader& c, ModelBuilder& b)
{
    bertLike(c, b, kBert, {}, 0);
}

void roberta(ConfigReader& c, ModelBuilder& b)
{
    bertLike(c, b, kRoberta, {.vocabulary = 50265}, 2);
}

/// ALBERT: the layers of a group are one layer used again and again.
void albert(ConfigReader& c, ModelBuilder& b)
{
    BertSizes sizes;
    auto s = bertStack(c, sizes, kAlbertDefaults);
    s.names = {.layers = "encoder",
               .attention = "attention",
               .q = "query",
               .k = "key",
               .v = "value",
               .o = "dense",
               .attentionDropout = "attention.output_dropout",
               .mlp = "",
               .up = "ffn",
               .down = "ffn_output",
               .activation = "activation",
               .norm1 = "attention.LayerNorm",
               .norm2 = "full_layer_layer_norm"};
    sizes.embedding = c.integerOr("embedding_size", 128);
    s.startsProjected = true;
    if (sizes.embedding == s.hidden)
        c.fail("the key 'embedding_size' equals 'hidden_size', which Loadline does not plan for ALBERT; describe the model by hand as "
               "docs/model-format.md says",
               ErrorCode::Unsupported);
    const auto layers = c.integerOr("num_hidden_layers", 12, kLayerRange);
    const auto groups = c.integerOr("num_hidden_groups", 1, {1, layers});
    const auto inner = c.integerOr("inner_group_num", 1, {1, 64});
    const auto heads = c.integerOr("num_attention_heads", 64);
    const auto width = c.integerOr("intermediate_size", 4 * s.hidden);
    s.tied = readTied(c, true);
    setLayers(s, layers * inner, fullHeads(c, s.hidden, heads, width));
    for (std::int64_t i = 0; i < layers * inner; ++i)
        s.layerPaths.push_back(fmt::format("encoder.albert_layer_groups.{}.albert_layers.{}", i / inner * groups / layers, i % inner));
    if (layers * inner > groups * inner)
        b.model.notes.push_back(
            fmt::format("{} layers share the parameters of {}; they are counted once.", layers * inner, groups * inner));
    b.model.hidden = s.hidden;
    b.model.defaultSequence = s.sequence;
    if (c.ok())
        bertHeads(c, s, sizes, kAlbert, "pooler", b);
}

constexpr std::array kFamilies{
    Family{"bert", "Bert", bert},
    Family{"roberta xlm-roberta", "Roberta", roberta},
    Family{"albert", "Albert", albert},
};

} // namespace

std::span<const Family> encoderFamilies()
{
    return kFamilies;
}

} // namespace loadline
