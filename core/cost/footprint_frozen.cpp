// SPDX-License-Identifier: GPL-3.0-or-later
// What frozen parameters spare. PyTorch saves a linear's input only for its weight's gradient, and a norm's normalised
// tensor only for its scale's. docs/activations.md, "Frozen parameters".
#include "core/cost/footprint_forms.hpp"

#include <algorithm>

namespace loadline::forms {

namespace {

struct Readers {
    std::int64_t own = 0;      ///< trainable ones among the first `wanted` linears
    std::int64_t adapters = 0; ///< trainable ones that cast for themselves under autocast (LoRA's A)
};

/// Width of the tensor that operator `from` hands to linears, and to how many; 0 linears: to none.
std::pair<std::int64_t, std::int64_t> handedOut(const Operator& from)
{
    if (const auto* norm = std::get_if<NormTraits>(&from.traits))
        return {norm->width, norm->readers};
    if (const auto* activation = std::get_if<ActivationTraits>(&from.traits))
        return {activation->width, 1};
    if (const auto* attention = std::get_if<AttentionTraits>(&from.traits))
        return {attention->heads * attention->valueDim, 1};
    return {0, 0};
}

/// The linears behind operator `from` that read its output and count on it to have saved it.
Readers readersOf(const Model& model, const Trained& trained, std::size_t from)
{
    const auto [width, wanted] = handedOut(model.operators[from]);
    Readers found;
    std::int64_t seen = 0;
    for (std::size_t i = from + 1; i < model.operators.size(); ++i) {
        const Operator& op = model.operators[i];
        const auto* linear = std::get_if<LinearTraits>(&op.traits);
        const auto* router = std::get_if<RouterTraits>(&op.traits);
        const bool reads =
            (linear != nullptr && linear->in == width && !linear->savesInput) || (router != nullptr && router->hidden == width);
        if (!reads)
            continue;
        const bool adapter = linear != nullptr && linear->castsInput;
        if (!adapter && seen == wanted)
            break;
        seen += adapter ? 0 : 1;
        (adapter ? found.adapters : found.own) += trained.trains(op) ? 1 : 0;
    }
    return found;
}

} // namespace

Trained::Trained(const Model& model)
{
    for (const Operator& op : model.operators) {
        if (op.trainableCount() > 0)
            m_names.insert(op.name);
        else
            m_frozen = m_frozen || !op.parameters.empty();
    }
}

bool Trained::trains(const Operator& op) const
{
    if (!op.sharesWith.empty() && m_names.contains(op.sharesWith))
        return true;
    return op.parameters.empty() ? op.sharesWith.empty() : op.trainableCount() > 0;
}

void dropFrozen(const Model& model, const Trained& trained, const Scene& scene, std::vector<Form>& all)
{
    if (!trained.anyFrozen())
        return;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].readerSaved == 0)
            continue;
        const Readers readers = readersOf(model, trained, i);
        const auto* norm = std::get_if<NormTraits>(&model.operators[i].traits);
        if (norm != nullptr && scene.autocast()) // one copy for each reader
            all[i].readerSaved *= static_cast<double>(readers.own) / static_cast<double>(std::max<std::int64_t>(norm->readers, 1));
        else if (readers.own == 0 && (scene.autocast() || readers.adapters == 0))
            all[i].readerSaved = 0;
    }
}

} // namespace loadline::forms
