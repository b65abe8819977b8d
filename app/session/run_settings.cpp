// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/run_settings.hpp"

#include "core/base/json.hpp"

#include <nlohmann/json.hpp>

namespace loadline {

RunSettings runSettingsOf(std::string_view plan)
{
    RunSettings settings;
    const auto json = parseJson(plan, "plan");
    if (!json || !json->is_object())
        return settings;
    const auto at = [&](const char* path) { return json->value(Json::json_pointer(path), Json()); };
    const auto words = [&](const char* path) {
        const Json found = at(path);
        return found.is_string() ? found.get<std::string>() : std::string();
    };
    const auto whole = [&](const char* path) {
        const Json found = at(path);
        return found.is_number_integer() ? found.get<std::int64_t>() : 0;
    };
    settings.model = words("/provenance/model");
    settings.cluster = words("/provenance/cluster");
    settings.batch = whole("/batch");
    settings.accumulation = whole("/accumulation");
    settings.sequence = whole("/sequence");
    settings.precision = words("/setup/precision/name");
    settings.runtime = words("/setup/runtime");
    if (const std::int64_t budget = whole("/memory/budget_bytes"); budget > 0)
        settings.budget = Bytes(budget);
    return settings;
}

} // namespace loadline
