// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plan/table.hpp"
#include "app/plan/verbs.hpp"

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/cluster/library.hpp"
#include "core/cluster/recipe.hpp"
#include "core/model/reader.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace loadline {
namespace {

struct NamedModel {
    std::string name;
    Model model;
};

Result<std::vector<NamedModel>> models()
{
    std::vector<NamedModel> list;
    for (const auto& name : bundledModels()) {
        auto model = loadModel(name);
        if (!model)
            return model.error();
        list.push_back({name, std::move(*model)});
    }
    return list;
}

std::string listJson(const std::vector<NamedModel>& models)
{
    Json json;
    json["format"] = "loadline.list/1";
    json["models"] = Json::array();
    for (const auto& [name, model] : models)
        json["models"].push_back(
            {{"name", name}, {"family", model.family}, {"parameters", model.parameterCount()}, {"sequence", model.defaultSequence}});
    json["clusters"] = Json::array();
    for (const auto& cluster : bundledClusters())
        json["clusters"].push_back({{"name", cluster.name},
                                    {"device", cluster.device.name},
                                    {"nodes", cluster.nodes},
                                    {"gpus_per_node", cluster.gpusPerNode},
                                    {"memory_bytes", cluster.device.memory.count()}});
    json["precisions"] = Json::array();
    for (const auto& recipe : bundledPrecisions())
        json["precisions"].push_back({{"name", recipe.name},
                                      {"weight", recipe.weight},
                                      {"master", recipe.master},
                                      {"gathered", recipe.gathered},
                                      {"gradient", recipe.gradient},
                                      {"reduced", recipe.reduced}});
    json["optimizers"] = Json::array();
    for (const auto& recipe : bundledOptimizers())
        json["optimizers"].push_back({{"name", recipe.name}, {"state", recipe.state}});
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string listText(const std::vector<NamedModel>& models)
{
    using Align = TextTable::Align;
    TextTable modelTable({{"Models (--model)"}, {"family"}, {"parameters", Align::Right}, {"sequence", Align::Right}});
    for (const auto& [name, model] : models)
        modelTable.add(
            {name, model.family, formatCount(static_cast<double>(model.parameterCount())), std::to_string(model.defaultSequence)});
    TextTable clusters({{"Clusters (--cluster)"}, {"device"}, {"nodes x GPUs", Align::Right}, {"memory", Align::Right}});
    for (const auto& cluster : bundledClusters())
        clusters.add({cluster.name, cluster.device.name, fmt::format("{} x {}", cluster.nodes, cluster.gpusPerNode),
                      formatBytes(cluster.device.memory)});
    TextTable precisions({{"Precisions (--precision): bytes per parameter"},
                          {"weight", Align::Right},
                          {"master", Align::Right},
                          {"gathered", Align::Right},
                          {"gradient", Align::Right},
                          {"reduced", Align::Right}});
    for (const auto& recipe : bundledPrecisions())
        precisions.add({recipe.name, fmt::format("{:g}", recipe.weight), fmt::format("{:g}", recipe.master),
                        fmt::format("{:g}", recipe.gathered), fmt::format("{:g}", recipe.gradient), fmt::format("{:g}", recipe.reduced)});
    TextTable optimizers({{"Optimizers (--optimizer): bytes per trainable parameter"}, {"state", Align::Right}});
    for (const auto& recipe : bundledOptimizers())
        optimizers.add({recipe.name, fmt::format("{:g}", recipe.state)});
    return modelTable.text() + '\n' + clusters.text() + '\n' + precisions.text() + '\n' + optimizers.text();
}

} // namespace

Result<Answer> runList(const Arguments& arguments)
{
    const auto list = models();
    if (!list)
        return list.error();
    Answer answer;
    answer.text = arguments.json ? listJson(*list) : listText(*list);
    return answer;
}

} // namespace loadline
