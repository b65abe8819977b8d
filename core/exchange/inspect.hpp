// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.hpp"
#include "core/base/units.hpp"
#include "core/cost/footprint.hpp"
#include "core/model/description.hpp"

#include <string>
#include <vector>

namespace loadline {

/// Bytes saved for backward by place, without recomputation; `total` leaves weight casts out.
struct SavedBytes {
    Bytes embedding;
    std::vector<Bytes> layers; ///< in execution order, encoder first
    Bytes between;             ///< between encoder and decoder
    Bytes finalNorm;
    Bytes head;
    Bytes loss;
    Bytes weightCasts;
    Bytes total;
};

SavedBytes savedBytes(const Model& model, const std::vector<Footprint>& footprints);

/// The document of `inspect --json`: the model format with counts and saved bytes on top; `readModel` reads it back.
std::string inspectJson(const Model& model, const ActivationSettings& settings);

} // namespace loadline
