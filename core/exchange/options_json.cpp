// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/options_json.hpp"

#include "core/base/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace loadline {
namespace {

constexpr std::string_view kFormat = "loadline.options/1";

/// The text members of the options with their keys: one list for writing and reading.
template <class Options, class Use>
void eachText(Options& options, Use use)
{
    use("model", options.model);
    use("lora", options.lora);
    use("cluster", options.cluster);
    use("budget", options.budget);
    use("batch", options.batch);
    use("accumulation", options.accumulation);
    use("granularity", options.granularity);
    use("groups", options.groups);
    use("recompute", options.recompute);
    use("unit", options.unit);
    use("precision", options.precision);
    use("attention", options.attention);
    use("dropout", options.dropout);
    use("optimizer", options.optimizer);
    use("overhead", options.overhead);
    use("memory", options.memory);
    use("time", options.time);
    use("runtime", options.runtime);
    use("profile", options.profile);
}

template <class Options, class Use>
void eachNumber(Options& options, Use use)
{
    use("nodes", options.nodes);
    use("gpus_per_node", options.gpusPerNode);
    use("sequence", options.sequence);
    use("global_batch", options.globalBatch);
    use("work", options.work);
}

/// Takes what is there into `options`; the last key of a wrong type, or nothing.
std::string take(const Json& json, RequestOptions& options)
{
    std::string bad;
    eachText(options, [&](const char* key, std::string& value) {
        if (const auto found = json.find(key); found != json.end())
            found->is_string() ? void(value = found->get<std::string>()) : void(bad = key);
    });
    eachNumber(options, [&](const char* key, std::optional<std::int64_t>& value) {
        if (const auto found = json.find(key); found != json.end())
            found->is_number_integer() ? void(value = found->get<std::int64_t>()) : void(bad = key);
    });
    if (const auto pins = json.find("pins"); pins != json.end()) {
        if (!pins->is_array())
            return "pins";
        for (const Json& pin : *pins)
            pin.is_string() ? options.pins.push_back(pin.get<std::string>()) : void(bad = "pins");
    }
    return bad;
}

} // namespace

std::string requestOptionsJson(const RequestOptions& options, Bytes budget)
{
    Json json;
    json["format"] = kFormat;
    json["budget_bytes"] = budget.count();
    json["pins"] = options.pins;
    eachText(options, [&](const char* key, const std::string& value) { json[key] = value; });
    eachNumber(options, [&](const char* key, const std::optional<std::int64_t>& value) {
        if (value)
            json[key] = *value;
    });
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<SavedOptions> readRequestOptions(std::string_view text, std::string_view origin)
{
    const auto json = parseJson(text, origin);
    if (!json || !json->is_object())
        return invalidInput(fmt::format("{}: the settings are not JSON; open another session", origin));
    if (json->value("format", Json()) != kFormat)
        return invalidInput(fmt::format("{}: the settings are of another version; open it with the Loadline that wrote it", origin));
    SavedOptions saved;
    std::string bad = take(*json, saved.options);
    const auto budget = json->find("budget_bytes");
    if (budget == json->end() || !budget->is_number_integer() || budget->get<std::int64_t>() < 0)
        bad = "budget_bytes";
    else
        saved.budget = Bytes(budget->get<std::int64_t>());
    if (!bad.empty())
        return invalidInput(fmt::format("{}: '{}' of the settings has a wrong type; open another session", origin, bad));
    return saved;
}

} // namespace loadline
