// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.hpp"
#include "core/cost/setup.hpp"
#include "core/plan/planner.hpp"

#include <nlohmann/json.hpp>

#include <string_view>
#include <vector>

namespace loadline {

/// The "setup" of a plan document: model, cluster, recipes and every setting but batch and accumulation, which stand at
/// the document's root.
Json setupJson(const Setup& setup, const std::vector<Pin>& pins);

/// Reads it back equal. Errors name `origin` and the key.
struct SetupAndPins {
    Setup setup;
    std::vector<Pin> pins;
};
Result<SetupAndPins> readSetupJson(const Json& json, std::string_view origin);

} // namespace loadline
