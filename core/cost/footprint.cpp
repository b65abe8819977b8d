// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/footprint.hpp"

#include "core/cost/footprint_forms.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace loadline {

namespace {

using forms::Form;
using forms::Scene;

template <class... Fs>
struct Overloaded : Fs... {
    using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>; // clang 14 does not deduce aggregates by itself

Bytes toBytes(double value)
{
    if (!(value > 0)) // also NaN
        return Bytes(0);
    const double up = std::ceil(value);
    return up >= static_cast<double>(kMostBytes) ? Bytes(kMostBytes) : Bytes(static_cast<std::int64_t>(up));
}

Bytes saturatingSum(Bytes a, Bytes b)
{
    return a.count() > kMostBytes - b.count() ? Bytes(kMostBytes) : a + b;
}

Scene sceneOf(const Operator& op, const ActivationSettings& settings)
{
    Scene scene;
    scene.batch = static_cast<double>(std::max<std::int64_t>(settings.batch, 0));
    scene.sequence = static_cast<double>(std::max<std::int64_t>(op.tokens.of(settings.sequence), 0));
    scene.keys = scene.sequence;
    if (const auto* attention = std::get_if<AttentionTraits>(&op.traits)) {
        const TokenCount& keys = attention->keys;
        if (attention->cross || keys.fixed > 0 || keys.most > 0)
            scene.keys = static_cast<double>(std::max<std::int64_t>(keys.of(settings.sequence), 0));
        scene.sinks = !op.parameters.empty() && !attention->positionBias; // T5 keeps its bias table there
    }
    scene.mode = settings.compute;
    scene.attention = settings.attention;
    scene.dropout = settings.dropout;
    return scene;
}

Form formOf(const Operator& op, const forms::Trained& trained, const ActivationSettings& settings)
{
    Scene scene = sceneOf(op, settings);
    scene.trainable = trained.trains(op);
    return std::visit(Overloaded{
                          [&](const EmbeddingTraits& t) { return forms::embeddingForm(t, scene); },
                          [&](const NormTraits& t) { return forms::normForm(t, scene); },
                          [&](const LinearTraits& t) { return forms::linearForm(t, scene); },
                          [&](const AttentionTraits& t) { return forms::attentionForm(t, scene, chosenAttention(t, settings)); },
                          [&](const ActivationTraits& t) { return forms::activationForm(t, scene); },
                          [&](const DropoutTraits& t) { return forms::dropoutForm(t, scene); },
                          [&](const RouterTraits& t) { return forms::routerForm(t, scene); },
                          [&](const ExpertsTraits& t) { return forms::expertsForm(t, scene); },
                          [&](const ConvolutionTraits& t) { return forms::convolutionForm(t, scene); },
                          [&](const LossTraits& t) { return forms::lossForm(t, scene); },
                          [&](const CustomTraits& t) { return forms::customForm(t, scene); },
                      },
                      op.traits);
}

bool samePlace(const Operator& a, const Operator& b)
{
    return a.place == b.place && a.layer == b.layer;
}

/// The operator that saves the output of norm `from` first: the next linear, whatever stands between.
std::size_t readerOf(const Model& model, std::size_t from)
{
    for (std::size_t i = from + 1; i < model.operators.size(); ++i) {
        const Traits& traits = model.operators[i].traits;
        if (std::holds_alternative<LinearTraits>(traits) || std::holds_alternative<RouterTraits>(traits))
            return i;
    }
    return from;
}

/// A tensor counts where it is saved first: a norm's output is saved by its readers, which may stand in the next place.
void settleReaders(const Model& model, const ActivationSettings& settings, std::vector<Form>& all)
{
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].readerSaved == 0)
            continue;
        const std::size_t reader = readerOf(model, i);
        const Scene scene = sceneOf(model.operators[reader], settings);
        const double rows = sceneOf(model.operators[i], settings).tokens();
        if (scene.autocast() && scene.tokens() < rows) // a classifier copies its one token; else a view keeps all
            all[i].readerSaved *= scene.tokens() / rows;
        all[samePlace(model.operators[i], model.operators[reader]) ? i : reader].saved += all[i].readerSaved;
        all[i].readerSaved = 0;
    }
}

/// Cosines and sines are made once, in the residual stream's type, and saved by the first attention that rotates.
void addRotaryTables(const Model& model, const ActivationSettings& settings, std::vector<Form>& all)
{
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto* attention = std::get_if<AttentionTraits>(&model.operators[i].traits);
        if (attention == nullptr || attention->rotaryDim == 0 || attention->rotary == AttentionTraits::Rotary::PerLayer)
            continue;
        const Scene scene = sceneOf(model.operators[i], settings);
        all[i].saved += 2 * scene.sequence * static_cast<double>(attention->rotaryDim) * scene.residual();
        return;
    }
}

/// T5's relative positions: bucket numbers where a stack's bias table is read, and the zeros that stand for a bias in all
/// cross attentions under sdpa, which the first saves.
void addPositionBias(const Model& model, const ActivationSettings& settings, std::vector<Form>& all)
{
    bool zeros = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Operator& op = model.operators[i];
        const auto* attention = std::get_if<AttentionTraits>(&op.traits);
        if (attention == nullptr || !attention->positionBias)
            continue;
        const Scene scene = sceneOf(op, settings);
        if (!op.parameters.empty())
            all[i].saved += 8 * scene.sequence * scene.keys;
        const AttentionKind kind = chosenAttention(*attention, settings);
        const bool fused = kind == AttentionKind::Flash || kind == AttentionKind::Efficient;
        if (attention->cross && fused && !zeros) {
            all[i].saved += static_cast<double>(attention->heads) * scene.sequence * scene.keys * scene.matmul();
            zeros = true;
        }
    }
}

/// Autocast's copy of an image or of audio is made as a weight's is, and counts with them.
void castInput(const Model& model, const ActivationSettings& settings, std::vector<Form>& all)
{
    const bool convolves = !all.empty() && std::holds_alternative<ConvolutionTraits>(model.operators.front().traits);
    if (!convolves || settings.compute != ComputeMode::AutocastBf16)
        return;
    all.front().weightCasts += all.front().saved;
    all.front().saved = 0;
}

/// What comes before the first trainable parameter takes no gradient: it saves nothing of its own and has no backward.
void dropFrozenStart(const Model& model, std::vector<Form>& all)
{
    for (std::size_t i = 0; i < all.size() && model.operators[i].trainableCount() == 0; ++i) {
        if (std::holds_alternative<CustomTraits>(model.operators[i].traits))
            break; // described by hand: its bytes are as given
        all[i].saved = all[i].weightCasts = all[i].backwardWorkspace = all[i].backwardFlops = 0;
    }
}

/// Autocast casts a shared weight once (ALBERT); a head tied to an embedding makes its own cast, embeddings have none.
void dropRepeatedCasts(const Model& model, std::vector<Form>& all)
{
    std::map<std::string, bool> cast;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Operator& op = model.operators[i];
        const std::string& owner = op.sharesWith.empty() ? op.name : op.sharesWith;
        if (all[i].weightCasts > 0 && !cast.emplace(owner, true).second)
            all[i].weightCasts = 0;
    }
}

Footprint footprintOf(const Form& form)
{
    Footprint print;
    print.saved = toBytes(form.saved);
    print.weightCasts = toBytes(form.weightCasts);
    print.input = toBytes(form.input);
    print.output = toBytes(form.output);
    print.forwardWorkspace = toBytes(form.forwardWorkspace);
    print.backwardWorkspace = toBytes(form.backwardWorkspace);
    print.forwardFlops = form.forwardFlops;
    print.backwardFlops = form.backwardFlops;
    print.forwardTraffic = toBytes(form.forwardTraffic);
    return print;
}

} // namespace

AttentionKind chosenAttention(const AttentionTraits& traits, const ActivationSettings& settings)
{
    if (settings.attention != AttentionKind::Auto)
        return settings.attention;
    if (!traits.hasSdpa)
        return AttentionKind::Eager;
    const std::int64_t keys = traits.keys.of(settings.sequence);
    const bool masked = traits.masked || traits.positionBias || (traits.window > 0 && keys > traits.window);
    const bool half = settings.compute != ComputeMode::Fp32;
    const bool grouped = traits.kvHeads != traits.heads && !traits.expandsKv;
    if (traits.broadcastsKv) // shapes that differ without the GQA flag suit no fused kernel
        return AttentionKind::Math;
    if (half && !masked && traits.headDim == traits.valueDim && traits.headDim <= 256)
        return AttentionKind::Flash;
    return grouped ? AttentionKind::Math : AttentionKind::Efficient;
}

std::vector<Footprint> footprints(const Model& model, const ActivationSettings& settings)
{
    const forms::Trained trained(model);
    std::vector<Form> all;
    all.reserve(model.operators.size());
    for (const Operator& op : model.operators)
        all.push_back(formOf(op, trained, settings));
    if (!model.operators.empty())
        forms::dropFrozen(model, trained, sceneOf(model.operators.front(), settings), all);
    dropFrozenStart(model, all);
    settleReaders(model, settings, all);
    addRotaryTables(model, settings, all);
    addPositionBias(model, settings, all);
    castInput(model, settings, all);
    dropRepeatedCasts(model, all);

    std::vector<Footprint> prints;
    prints.reserve(all.size());
    for (const Form& form : all)
        prints.push_back(footprintOf(form));
    return prints;
}

SavedByPlace savedByPlace(const Model& model, const std::vector<Footprint>& prints)
{
    SavedByPlace sums;
    sums.layers.resize(static_cast<std::size_t>(std::max(model.layerCount(), 0)));
    for (std::size_t i = 0; i < prints.size() && i < model.operators.size(); ++i) {
        const Operator& op = model.operators[i];
        Bytes* sum = &sums.between;
        switch (op.place) {
        case Place::Embedding:
            sum = &sums.embedding;
            break;
        case Place::Layer:
            if (op.layer >= 0)
                sum = &sums.layers[static_cast<std::size_t>(op.layer)];
            break;
        case Place::Between:
            break;
        case Place::FinalNorm:
            sum = &sums.finalNorm;
            break;
        case Place::Head:
            sum = &sums.head;
            break;
        case Place::Loss:
            sum = &sums.loss;
            break;
        }
        *sum = saturatingSum(*sum, prints[i].saved);
        sums.weightCasts = saturatingSum(sums.weightCasts, prints[i].weightCasts);
        sums.total = saturatingSum(sums.total, prints[i].saved);
    }
    return sums;
}

} // namespace loadline
