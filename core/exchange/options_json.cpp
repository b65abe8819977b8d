// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/options_json.hpp"

#include "core/base/json.hpp"

#include <nlohmann/json.hpp>

namespace loadline {

std::string requestOptionsJson(const RequestOptions& options, Bytes budget)
{
    Json json;
    json["format"] = "loadline.options/1";
    json["budget_bytes"] = budget.count();
    json["pins"] = options.pins;
    const std::pair<const char*, const std::string*> texts[] = {{"model", &options.model},
                                                                {"lora", &options.lora},
                                                                {"cluster", &options.cluster},
                                                                {"budget", &options.budget},
                                                                {"batch", &options.batch},
                                                                {"accumulation", &options.accumulation},
                                                                {"granularity", &options.granularity},
                                                                {"groups", &options.groups},
                                                                {"recompute", &options.recompute},
                                                                {"unit", &options.unit},
                                                                {"precision", &options.precision},
                                                                {"attention", &options.attention},
                                                                {"dropout", &options.dropout},
                                                                {"optimizer", &options.optimizer},
                                                                {"overhead", &options.overhead},
                                                                {"memory", &options.memory},
                                                                {"time", &options.time},
                                                                {"runtime", &options.runtime},
                                                                {"profile", &options.profile}};
    for (const auto& [key, text] : texts)
        json[key] = *text;
    const std::pair<const char*, const std::optional<std::int64_t>*> numbers[] = {{"nodes", &options.nodes},
                                                                                  {"gpus_per_node", &options.gpusPerNode},
                                                                                  {"sequence", &options.sequence},
                                                                                  {"global_batch", &options.globalBatch},
                                                                                  {"work", &options.work}};
    for (const auto& [key, number] : numbers) {
        if (*number)
            json[key] = **number;
    }
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace loadline
