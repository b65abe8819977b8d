// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/inspect.hpp"

#include "core/model/format.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace loadline {
SavedBytes savedBytes(const Model& model, const std::vector<Footprint>& footprints)
{
    SavedBytes sum;
    sum.layers.resize(static_cast<std::size_t>(std::max(0, model.layerCount())));
    for (std::size_t i = 0; i < model.operators.size(); ++i) {
        const auto& op = model.operators[i];
        const Bytes saved = footprints[i].saved;
        sum.total += saved;
        sum.weightCasts += footprints[i].weightCasts;
        switch (op.place) {
        case Place::Embedding:
            sum.embedding += saved;
            break;
        case Place::Layer:
            if (op.layer >= 0 && static_cast<std::size_t>(op.layer) < sum.layers.size())
                sum.layers[static_cast<std::size_t>(op.layer)] += saved;
            break;
        case Place::Between:
            sum.between += saved;
            break;
        case Place::FinalNorm:
            sum.finalNorm += saved;
            break;
        case Place::Head:
            sum.head += saved;
            break;
        case Place::Loss:
            sum.loss += saved;
            break;
        }
    }
    return sum;
}

std::string inspectJson(const Model& model, const ActivationSettings& settings)
{
    const auto prints = footprints(model, settings);
    const auto saved = savedBytes(model, prints);
    Json json = modelJson(model);
    auto& operators = json["operators"];
    for (std::size_t i = 0; i < model.operators.size() && i < operators.size(); ++i) {
        operators[i]["saved_bytes"] = prints[i].saved.count();
    }
    Json layers = Json::array();
    for (const Bytes bytes : saved.layers)
        layers.push_back(bytes.count());
    json["saved_bytes"] = {{"embedding", saved.embedding.count()},      {"layers", std::move(layers)}, {"between", saved.between.count()},
                           {"final_norm", saved.finalNorm.count()},     {"head", saved.head.count()},  {"loss", saved.loss.count()},
                           {"weight_casts", saved.weightCasts.count()}, {"total", saved.total.count()}};
    json["settings"] = {{"batch", settings.batch}, {"sequence", settings.sequence}};
    return modelText(json);
}

} // namespace loadline
