// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/decoder.hpp"

#include <fmt/format.h>

namespace loadline {
namespace {

/// Linears that read the input of the attention.
std::int64_t attentionReaders(const DecoderSpec& s)
{
    if (s.latent.keyValueRank > 0)
        return 2;
    return s.qkvLayout == QkvLayout::Fused ? 1 : 3;
}

/// Linears that read the input of a layer's MLP; the experts read the router's.
std::int64_t mlpReaders(const DecoderSpec& s, const DecoderLayer& layer)
{
    if (layer.sparse)
        return 1 + (s.experts.sharedWidth > 0 ? 2 : 0) + (s.experts.sharedGate ? 1 : 0);
    return s.mlpLayout == MlpLayout::Gated ? 2 : 1;
}

struct LayerBuilder {
    const DecoderSpec& s;
    ModelBuilder& b;
    DecoderLayer layer;
    std::string prefix;
    bool isFirst;
    bool isLast;

    [[nodiscard]] std::string at(std::string_view name) const { return fmt::format("{}.{}", prefix, name); }
    [[nodiscard]] std::string inAttention(std::string_view name) const { return fmt::format("{}.{}.{}", prefix, s.names.attention, name); }
    [[nodiscard]] std::string inMlp(std::string_view name) const
    {
        return s.names.mlp.empty() ? at(name) : fmt::format("{}.{}.{}", prefix, s.names.mlp, name);
    }

    void norm(std::string_view name, std::int64_t readers, bool savesInput = true)
    {
        b.norm(at(name), {.norm = s.norm, .width = s.hidden, .readers = readers, .savesInput = savesInput}, s.normBias);
    }

    void headNorm(std::string_view name, std::int64_t heads)
    {
        const bool whole = s.qkNorm == QkNorm::Whole;
        // Its output goes to the rotary embedding, which saves nothing of it.
        const NormTraits traits{.norm = s.norm,
                                .width = whole ? heads * layer.headDim : layer.headDim,
                                .perToken = whole ? 1 : heads,
                                .readers = 0,
                                .ofProjection = true};
        if (s.qkNormWeight)
            b.norm(inAttention(name), traits, s.qkNormBias);
        else
            b.add(inAttention(name), traits);
    }

    void latentProjections()
    {
        const auto& latent = s.latent;
        const auto queries = layer.heads * layer.headDim;
        if (latent.queryRank > 0) {
            b.linear(inAttention("q_a_proj"), s.hidden, latent.queryRank, {.bias = s.qkvBias});
            b.norm(inAttention("q_a_layernorm"), {.norm = s.norm, .width = latent.queryRank, .ofProjection = true}, s.normBias);
            b.linear(inAttention("q_b_proj"), latent.queryRank, queries);
        } else
            b.linear(inAttention("q_proj"), s.hidden, queries);
        b.linear(inAttention("kv_a_proj_with_mqa"), s.hidden, latent.keyValueRank + latent.rotaryDim, {.bias = s.qkvBias});
        b.norm(inAttention("kv_a_layernorm"), {.norm = s.norm, .width = latent.keyValueRank, .ofProjection = true}, s.normBias);
        b.linear(inAttention("kv_b_proj"), latent.keyValueRank, layer.heads * (latent.plainDim + layer.valueDim));
    }

    void projections(bool savesInput)
    {
        const auto queries = layer.heads * layer.headDim;
        const auto keys = layer.kvHeads * layer.headDim;
        const auto values = layer.kvHeads * layer.valueDim;
        const LinearOptions first{s.qkvBias, s.conv1d, savesInput, savesInput};
        const LinearOptions next{s.qkvBias, s.conv1d, false, savesInput};
        if (s.latent.keyValueRank > 0)
            latentProjections();
        else if (s.qkvLayout == QkvLayout::Fused)
            b.linear(inAttention(s.names.qkv), s.hidden, queries + keys + values, first);
        else {
            b.linear(inAttention(s.names.q), s.hidden, queries, first);
            b.linear(inAttention(s.names.k), s.hidden, keys, next);
            b.linear(inAttention(s.names.v), s.hidden, values, next);
        }
        if (s.qkNorm != QkNorm::None && layer.qkNorm) {
            headNorm(s.names.qNorm, layer.heads);
            headNorm(s.names.kNorm, layer.kvHeads);
        }
    }

    void attention(bool savesInput)
    {
        projections(savesInput);
        AttentionTraits core;
        core.heads = layer.heads;
        core.kvHeads = layer.kvHeads;
        core.headDim = layer.headDim;
        core.valueDim = layer.valueDim;
        core.window = layer.window;
        core.fusedQkv = s.qkvLayout == QkvLayout::Fused;
        core.rotaryDim = layer.rotaryDim;
        core.positionBias = s.positionBias;
        core.softCap = s.softCap;
        core.dropout = s.attentionDropout;
        core.hasSdpa = s.hasSdpa;
        core.softmaxInFp32 = s.softmaxInFp32;
        core.broadcastsKv = s.broadcastsKv;
        b.add(inAttention("attention"), core);
        if (s.sinks) // in the checkpoint it hangs on the attention module itself
            b.namedParameter(inAttention("sinks"), {layer.heads});
        b.linear(inAttention(s.names.o), layer.heads * layer.valueDim, s.hidden, {s.outBias, s.conv1d});
        if (!s.names.attentionDropout.empty())
            b.dropout(at(s.names.attentionDropout), s.hidden, s.attentionOutDropout);
        if (!s.names.postAttentionNorm.empty())
            norm(s.names.postAttentionNorm, 0);
    }

    void denseMlp(const std::string& module, std::int64_t width)
    {
        const auto in = [&](std::string_view name) { return module.empty() ? at(name) : fmt::format("{}.{}.{}", prefix, module, name); };
        const LinearOptions first{s.upBias, s.conv1d};
        if (s.mlpLayout == MlpLayout::GatedFused)
            b.linear(in(s.names.gateUp), s.hidden, 2 * width, first);
        else if (s.mlpLayout == MlpLayout::Gated) {
            b.linear(in(s.names.gate), s.hidden, width, first);
            b.linear(in(s.names.up), s.hidden, width, first);
        } else
            b.linear(in(s.names.up), s.hidden, width, first);
        b.add(in(s.names.activation), ActivationTraits{s.activation, width});
        b.linear(in(s.names.down), width, s.hidden, {s.downBias, s.conv1d});
    }

    void expertWeights()
    {
        const auto& e = s.experts;
        if (e.shape == ExpertShape::StackedRows) {
            for (const auto* name : {"w1", "v1", "w2"})
                b.parameter(name, {e.experts * e.width, s.hidden});
            return;
        }
        const bool outFirst = e.shape == ExpertShape::OutFirst;
        b.parameter("gate_up_proj", {e.experts, outFirst ? 2 * e.width : s.hidden, outFirst ? s.hidden : 2 * e.width});
        if (e.bias)
            b.parameter("gate_up_proj_bias", {e.experts, 2 * e.width});
        b.parameter("down_proj", {e.experts, outFirst ? s.hidden : e.width, outFirst ? e.width : s.hidden});
        if (e.bias)
            b.parameter("down_proj_bias", {e.experts, s.hidden});
    }

    void experts()
    {
        const auto& e = s.experts;
        b.add(at(s.names.router), RouterTraits{s.hidden, e.experts, e.active, e.scores, e.groups});
        b.parameter("weight", {e.experts, s.hidden});
        if (e.routerBias)
            b.parameter("bias", {e.experts});
        if (e.scoreCorrection) // moved by the router's own rule, not by gradients
            b.namedParameter(at(s.names.router) + ".e_score_correction_bias", {e.experts}, false);
        b.add(at(s.names.experts), ExpertsTraits{e.experts, e.active, s.hidden, e.width, e.activation});
        expertWeights();
        if (e.sharedWidth == 0)
            return;
        denseMlp(s.names.sharedExperts, e.sharedWidth);
        if (e.sharedGate)
            b.linear(at(s.names.sharedGate), s.hidden, 1);
    }

    void mlp()
    {
        if (layer.sparse)
            experts();
        else
            denseMlp(s.names.mlp, layer.width);
        if (!s.names.mlpDropout.empty())
            b.dropout(at(s.names.mlpDropout), s.hidden, s.mlpDropout);
        if (!s.names.postMlpNorm.empty())
            norm(s.names.postMlpNorm, 0);
    }

    /// Linears that read the last norm of a layer whose norms follow: the next layer's, or the head.
    [[nodiscard]] std::int64_t readersAfter() const { return isLast ? 1 : attentionReaders(s); }

    void buildPostNorm()
    {
        b.part("attention");
        attention(isFirst);
        norm(s.names.norm1, mlpReaders(s, layer));
        b.part("mlp");
        mlp();
        norm(s.names.norm2, readersAfter());
    }

    void build()
    {
        if (s.order == LayerOrder::PostNorm)
            return buildPostNorm();
        b.part("attention");
        norm(s.names.norm1, attentionReaders(s) + (s.order == LayerOrder::Parallel ? mlpReaders(s, layer) : 0));
        if (s.order == LayerOrder::ParallelTwoNorms)
            norm(s.names.norm2, mlpReaders(s, layer), false);
        attention(false);
        b.part("mlp");
        if (s.order == LayerOrder::PreNorm)
            norm(s.names.norm2, mlpReaders(s, layer));
        mlp();
    }
};

void embeddings(const DecoderSpec& s, ModelBuilder& b)
{
    const auto width = s.embeddingWidth > 0 ? s.embeddingWidth : s.hidden;
    b.enter(Place::Embedding);
    b.embedding(s.names.embedding, s.vocabulary, width);
    if (!s.names.projectIn.empty())
        b.linear(s.names.projectIn, width, s.hidden, {.savesInput = true, .castsInput = true});
    if (s.positions > 0)
        b.embedding(s.names.positions, s.positions, s.hidden, true);
    if (!s.names.embeddingNorm.empty())
        b.norm(s.names.embeddingNorm, {.norm = s.norm, .width = s.hidden, .readers = 0}, s.normBias);
    if (!s.names.embeddingDropout.empty())
        b.dropout(s.names.embeddingDropout, s.hidden, s.embeddingDropout);
}

void headAndLoss(const DecoderSpec& s, ModelBuilder& b)
{
    const auto width = s.embeddingWidth > 0 ? s.embeddingWidth : s.hidden;
    b.enter(Place::FinalNorm);
    if (s.finalNorm)
        b.norm(s.names.finalNorm, {.norm = s.norm, .width = s.hidden}, s.normBias);
    if (!s.names.projectOut.empty())
        b.linear(s.names.projectOut, s.hidden, width);
    const bool afterProjection = !s.names.projectOut.empty(); // else the norm's output, which the norm counts
    b.enter(Place::Head);
    if (s.tied) {
        b.add(s.names.head, LinearTraits{width, s.vocabulary, afterProjection, false}).sharesWith = s.names.embedding;
        if (s.headBias)
            b.parameter("bias", {s.vocabulary});
        b.model.notes.push_back(fmt::format("{}.weight is tied to {}.weight and counted once.", s.names.head, s.names.embedding));
    } else
        b.linear(s.names.head, width, s.vocabulary, {.bias = s.headBias, .savesInput = afterProjection});
    b.enter(Place::Loss);
    b.add("loss", LossTraits{.loss = LossKind::CausalLm, .classes = s.vocabulary, .upcasts = s.upcastsLoss, .softCap = s.finalSoftCap});
}

} // namespace

void buildDecoder(const DecoderSpec& spec, ModelBuilder& builder)
{
    builder.model.hidden = spec.hidden;
    builder.model.defaultSequence = spec.sequence;
    embeddings(spec, builder);
    for (std::size_t i = 0; i < spec.layers.size() && !builder.tooLarge(); ++i) {
        builder.enter(Place::Layer, static_cast<int>(i));
        auto prefix = fmt::format("{}.{}", spec.names.layers, i);
        LayerBuilder{spec, builder, spec.layers[i], std::move(prefix), i == 0, i + 1 == spec.layers.size()}.build();
    }
    headAndLoss(spec, builder);
}

} // namespace loadline
