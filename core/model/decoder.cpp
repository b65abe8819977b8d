// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/stack.hpp"

#include <fmt/format.h>

namespace loadline {

void buildEmbeddings(const StackSpec& s, ModelBuilder& b)
{
    const auto width = s.embeddingWidth > 0 ? s.embeddingWidth : s.hidden;
    b.tokens(s.tokens);
    b.embedding(s.names.embedding, s.vocabulary, width);
    if (!s.names.projectIn.empty())
        b.linear(s.names.projectIn, width, s.hidden, {.savesInput = true, .castsInput = true});
    if (s.positions > 0)
        b.embedding(s.names.positions, s.positions, s.hidden, s.samePositions);
    if (!s.names.embeddingNorm.empty())
        b.norm(s.names.embeddingNorm, {.norm = s.norm, .width = s.hidden, .readers = s.order == LayerOrder::PostNorm ? 3 : 0}, s.normBias);
    if (s.perLayerWidth > 0) {
        const auto layers = static_cast<std::int64_t>(s.layers.size());
        b.embedding("model.embed_tokens_per_layer", s.perLayerVocabulary, layers * s.perLayerWidth);
        b.linear("model.per_layer_model_projection", s.hidden, layers * s.perLayerWidth, {.savesInput = true, .castsInput = true});
        b.norm("model.per_layer_projection_norm",
               {.norm = s.norm, .width = s.perLayerWidth, .perToken = layers, .readers = 0, .ofProjection = true}, false);
    }
    if (!s.names.embeddingDropout.empty())
        b.dropout(s.names.embeddingDropout, s.hidden, s.embeddingDropout);
}

void buildHead(const StackSpec& s, ModelBuilder& b)
{
    const auto width = s.embeddingWidth > 0 ? s.embeddingWidth : s.hidden;
    b.tokens(s.tokens);
    b.enter(Place::FinalNorm);
    if (s.finalNorm)
        b.norm(s.names.finalNorm, {.norm = s.norm, .width = s.hidden}, s.normBias);
    if (!s.names.finalDropout.empty())
        b.dropout(s.names.finalDropout, s.hidden, s.embeddingDropout);
    const bool afterProjection = !s.names.projectOut.empty(); // else the norm's output, which the norm counts
    if (afterProjection)
        b.linear(s.names.projectOut, s.hidden, width);
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

void buildDecoder(const StackSpec& spec, ModelBuilder& builder)
{
    builder.model.hidden = spec.hidden;
    builder.model.defaultSequence = spec.sequence;
    builder.enter(Place::Embedding);
    buildEmbeddings(spec, builder);
    buildLayers(spec, builder);
    buildHead(spec, builder);
}

} // namespace loadline
