// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/stack.hpp"

#include <fmt/format.h>

#include <set>

namespace loadline {
namespace {

/// Linears that read the input of the attention.
std::int64_t attentionReaders(const StackSpec& s, const StackLayer& layer)
{
    if (s.latent.keyValueRank > 0)
        return 2;
    if (s.qkvLayout == QkvLayout::Fused || !layer.ownKeys)
        return 1;
    return layer.ownValues ? 3 : 2;
}

/// Linears that read the input of a layer's MLP; the experts read the router's.
std::int64_t mlpReaders(const StackSpec& s, const StackLayer& layer)
{
    if (layer.sparse && !s.expertsBesideMlp)
        return 1 + (s.experts.sharedWidth > 0 ? 2 : 0) + (s.experts.sharedGate ? 1 : 0);
    return s.mlpLayout == MlpLayout::Gated ? 2 : 1;
}

struct LayerBuilder {
    const StackSpec& s;
    ModelBuilder& b;
    StackLayer layer;
    std::string prefix;
    bool isFirst;
    bool isLast;

    [[nodiscard]] std::string at(std::string_view name) const { return fmt::format("{}.{}", prefix, name); }
    [[nodiscard]] std::string inAttention(std::string_view name) const { return fmt::format("{}.{}.{}", prefix, s.names.attention, name); }

    void norm(std::string_view name, std::int64_t readers, bool savesInput = true)
    {
        b.norm(at(name), {.norm = s.norm, .width = s.hidden, .readers = readers, .savesInput = savesInput}, s.normBias);
    }

    void headNorm(std::string_view name, std::int64_t heads, bool weight)
    {
        const bool whole = s.qkNorm == QkNorm::Whole;
        // Its output goes to the rotary embedding, which saves nothing of it.
        const NormTraits traits{.norm = s.norm,
                                .width = whole ? heads * layer.headDim : layer.headDim,
                                .perToken = whole ? 1 : heads,
                                .readers = 0,
                                .ofProjection = true};
        if (weight)
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
        const bool casts = savesInput && !s.startsProjected;
        const LinearOptions first{s.qkvBias, s.conv1d, savesInput, casts};
        const LinearOptions next{s.qkvBias, s.conv1d, false, casts};
        if (s.latent.keyValueRank > 0)
            latentProjections();
        else if (s.qkvLayout == QkvLayout::Fused)
            b.linear(inAttention(s.names.qkv), s.hidden, queries + keys + values, first);
        else {
            b.linear(inAttention(s.names.q), s.hidden, queries, first);
            if (layer.ownKeys)
                b.linear(inAttention(s.names.k), s.hidden, keys, {s.qkvBias && s.keyBias, s.conv1d, false, casts});
            if (layer.ownKeys && layer.ownValues)
                b.linear(inAttention(s.names.v), s.hidden, values, next);
        }
        const bool norms = s.qkNorm != QkNorm::None && layer.qkNorm;
        if (norms)
            headNorm(s.names.qNorm, layer.heads, s.qkNormWeight);
        if (norms && layer.ownKeys)
            headNorm(s.names.kNorm, layer.kvHeads, s.qkNormWeight);
        if (s.valueNorm && layer.ownKeys)
            headNorm("v_norm", layer.kvHeads, false);
    }

    [[nodiscard]] AttentionTraits core() const
    {
        auto traits = s.attention;
        traits.heads = layer.heads;
        traits.kvHeads = layer.kvHeads;
        traits.headDim = layer.headDim;
        traits.valueDim = layer.valueDim;
        traits.window = layer.window;
        traits.keys = s.tokens;
        traits.fusedQkv = s.qkvLayout == QkvLayout::Fused && !s.copiesQkv;
        traits.rotaryDim = layer.rotaryDim;
        return traits;
    }

    void attention(bool savesInput)
    {
        projections(savesInput);
        b.add(inAttention("attention"), core());
        if (s.sinks) // in the checkpoint they hang on the attention module itself
            b.namedParameter(inAttention("sinks"), {layer.heads});
        if (isFirst && !s.names.positionBias.empty())
            b.namedParameter(inAttention(s.names.positionBias), {s.positionBuckets, layer.heads});
        b.linear(inAttention(s.names.o), layer.heads * layer.valueDim, s.hidden, {s.outBias, s.conv1d});
        if (!s.names.attentionDropout.empty())
            b.dropout(at(s.names.attentionDropout), s.hidden, s.attentionOutDropout);
        if (!s.names.postAttentionNorm.empty())
            norm(s.names.postAttentionNorm, 0);
    }

    /// Queries from this stack, keys and values from the encoder's output, which the first layer saves for all.
    void crossAttention()
    {
        const auto in = [&](std::string_view name) { return fmt::format("{}.{}.{}", prefix, s.names.crossAttention, name); };
        const auto queries = layer.heads * layer.headDim;
        b.linear(in(s.names.q), s.hidden, queries, {.bias = s.qkvBias});
        b.tokens(s.crossTokens);
        b.linear(in(s.names.k), s.hidden, queries, {.bias = s.qkvBias && s.keyBias, .savesInput = isFirst, .castsInput = true});
        b.linear(in(s.names.v), s.hidden, queries, {.bias = s.qkvBias, .castsInput = true});
        b.tokens(s.tokens);
        auto traits = core();
        traits.cross = true;
        traits.causal = false;
        traits.keys = s.crossTokens;
        b.add(in("attention"), traits);
        b.linear(in(s.names.o), queries, s.hidden, {.bias = s.outBias});
        if (!s.names.crossDropout.empty())
            b.dropout(at(s.names.crossDropout), s.hidden, s.attentionOutDropout);
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
        if (!s.names.activationDropout.empty()) {
            b.dropout(in(s.names.activationDropout), width, s.activationDropout);
            std::get<DropoutTraits>(b.model.operators.back().traits).outputRead = true;
        }
        b.linear(in(s.names.down), width, s.hidden, {.bias = s.downBias, .conv1d = s.conv1d, .castsInput = s.castsDown});
    }

    [[nodiscard]] ExpertsTraits expertTraits() const
    {
        return {s.experts.experts, s.experts.active, s.hidden, s.experts.width, s.experts.activation};
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
        b.add(at(s.names.experts), expertTraits());
        expertWeights();
        if (e.sharedWidth == 0)
            return;
        denseMlp(s.names.sharedExperts, e.sharedWidth);
        if (e.sharedGate)
            b.linear(at(s.names.sharedGate), s.hidden, 1);
    }

    /// Gemma 4: a dense MLP and routed experts, each with norms of its own, whose outputs are added.
    void mlpAndExperts()
    {
        denseMlp(s.names.mlp, layer.width);
        norm("post_feedforward_layernorm_1", 0);
        b.add(at("router.norm"), NormTraits{.norm = s.norm, .width = s.hidden, .readers = 1, .savesInput = false});
        b.add(at("router.proj"), RouterTraits{s.hidden, s.experts.experts, s.experts.active, s.experts.scores, s.experts.groups});
        b.parameter("weight", {s.experts.experts, s.hidden});
        b.namedParameter(at("router.scale"), {s.hidden});
        b.namedParameter(at("router.per_expert_scale"), {s.experts.experts});
        norm("pre_feedforward_layernorm_2", 0, false);
        b.add(at("experts"), expertTraits());
        expertWeights();
        norm("post_feedforward_layernorm_2", 0);
    }

    /// Gemma 4: the layer's own embedding of the token, weighed by a gate and projected to the hidden size.
    void perLayerInput()
    {
        b.linear(at("per_layer_input_gate"), s.hidden, s.perLayerWidth, {.savesInput = true, .castsInput = true});
        b.add(at("act_fn"), ActivationTraits{s.activation, s.perLayerWidth});
        b.linear(at("per_layer_projection"), s.perLayerWidth, s.hidden);
        norm("post_per_layer_input_norm", 0);
    }

    void mlp()
    {
        if (layer.sparse && s.expertsBesideMlp)
            mlpAndExperts();
        else if (layer.sparse)
            experts();
        else
            denseMlp(s.names.mlp, layer.width);
        if (!s.names.mlpDropout.empty())
            b.dropout(at(s.names.mlpDropout), s.hidden, s.mlpDropout);
        if (!s.names.postMlpNorm.empty())
            norm(s.names.postMlpNorm, 0);
        if (s.perLayerWidth > 0)
            perLayerInput();
    }

    /// Linears that read the last norm of a post-norm layer: the next layer's, or what follows the stack.
    [[nodiscard]] std::int64_t readersAfter() const { return isLast ? s.readersAtEnd : attentionReaders(s, layer); }

    void buildPostNorm()
    {
        const bool crosses = !s.names.crossAttention.empty();
        b.part("attention");
        attention(isFirst && s.names.embeddingNorm.empty());
        norm(s.names.norm1, crosses ? 1 : mlpReaders(s, layer));
        if (crosses) {
            b.part("cross_attention");
            crossAttention();
            norm(s.names.crossNorm, mlpReaders(s, layer));
        }
        b.part("mlp");
        mlp();
        norm(s.names.norm2, readersAfter());
    }

    void build()
    {
        if (s.order == LayerOrder::PostNorm)
            return buildPostNorm();
        b.part("attention");
        norm(s.names.norm1, attentionReaders(s, layer) + (s.order == LayerOrder::Parallel ? mlpReaders(s, layer) : 0));
        if (s.order == LayerOrder::ParallelTwoNorms)
            norm(s.names.norm2, mlpReaders(s, layer), false);
        attention(false);
        if (!s.names.crossAttention.empty()) {
            b.part("cross_attention");
            norm(s.names.crossNorm, 1);
            crossAttention();
        }
        b.part("mlp");
        if (s.order == LayerOrder::PreNorm)
            norm(s.names.norm2, mlpReaders(s, layer));
        mlp();
    }
};

/// A layer that uses parameters of one before it: the operators stay, with names of their own, the parameters go.
void shareLayer(std::vector<Operator>& operators, std::size_t begin, int layer)
{
    for (auto i = begin; i < operators.size(); ++i) {
        auto& op = operators[i];
        if (!op.parameters.empty())
            op.sharesWith = op.name;
        op.parameters.clear();
        op.name += fmt::format("@{}", layer);
    }
}

} // namespace

void buildLayers(const StackSpec& spec, ModelBuilder& builder, int first)
{
    builder.tokens(spec.tokens);
    std::set<std::string> seen;
    for (std::size_t i = 0; i < spec.layers.size() && !builder.tooLarge(); ++i) {
        const int index = first + static_cast<int>(i);
        builder.enter(Place::Layer, index);
        const auto begin = builder.model.operators.size();
        auto path = spec.layerPaths.empty() ? fmt::format("{}.{}", spec.names.layers, i) : spec.layerPaths[i];
        const bool shared = !spec.layerPaths.empty() && !seen.insert(path).second;
        LayerBuilder{spec, builder, spec.layers[i], std::move(path), i == 0, i + 1 == spec.layers.size()}.build();
        if (shared)
            shareLayer(builder.model.operators, begin, index);
    }
}

} // namespace loadline
