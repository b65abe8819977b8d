// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/bundle_plan.hpp"

#include "core/base/json.hpp"
#include "core/cost/option_sizes.hpp"
#include "core/cost/traffic.hpp"
#include "core/cost/unit.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace loadline {
namespace {

constexpr double kHalf = 2; // bytes of bf16

/// A layer that is run again is the same module: "…@3" is what the model's description calls its fourth run.
std::string moduleName(const std::string& operatorName)
{
    return operatorName.substr(0, operatorName.find('@'));
}

/// The modules of the recomputed layers, in order.
Result<std::vector<std::string>> recomputedModules(const Setup& setup)
{
    if (setup.recomputedPart != RecomputedPart::Block && setup.recomputedBlocks > 0)
        return unsupported("The plan recomputes parts of blocks, which have no module of their own in PyTorch; plan with --recompute auto");
    std::vector<std::string> modules;
    std::map<std::string, std::set<bool>> said;
    for (const Operator& op : setup.model->operators) {
        if (op.place != Place::Layer)
            continue;
        const std::string name = moduleName(op.name);
        const std::string block = blockName(name);
        const bool recomputed = op.layer < setup.recomputedBlocks;
        if (recomputed && block == name)
            return unsupported(
                fmt::format("{} lies in no numbered layer, so PyTorch has no module to recompute; plan with --recompute off", name));
        if (said[block].insert(recomputed).second && recomputed)
            modules.push_back(block);
        if (said[block].size() > 1)
            return unsupported(fmt::format(
                "The layers of {} are one module, which PyTorch recomputes always or never; plan with --recompute all or off", block));
    }
    return modules;
}

std::string_view typeOf(double bytes)
{
    return bytes <= kHalf ? "bf16" : "fp32";
}

Json precisionJson(const PrecisionRecipe& recipe)
{
    const bool autocast = recipe.compute == ComputeMode::AutocastBf16;
    Json json;
    json["name"] = recipe.name;
    json["weight"] = typeOf(recipe.weight);
    json["compute"] = typeOf(recipe.gathered);
    json["reduce"] = typeOf(recipe.reduced);
    json["autocast"] = autocast;
    return json;
}

/// "root" and "units", with the names and shapes of their parameters.
void addUnits(Json& json, const Plan& plan)
{
    const Setup& setup = plan.table.setup;
    Json units = Json::array();
    Json shapes = Json::object();
    Json acrossRows = Json::array();
    Json root = {{"group", setup.cluster.ranks()}, {"parameters", Json::array()}};
    for (std::size_t u = 0; u < plan.table.units.size(); ++u) {
        const Unit& unit = plan.table.units[u];
        const Strategy& strategy = plan.cost(u).strategy;
        if (unit.holds.empty())
            continue;
        Json names = Json::array();
        for (const std::size_t index : unit.holds) {
            const Operator& op = setup.model->operators[index];
            for (const Parameter& parameter : op.parameters) {
                names.push_back(parameter.name);
                shapes[parameter.name] = parameter.shape;
                if (strategy.group > 1 && shardDimension(setup, op, parameter.shape, strategy.group) == 1)
                    acrossRows.push_back(parameter.name);
            }
        }
        if (unit.root) {
            root = {{"group", strategy.group}, {"parameters", std::move(names)}};
            continue;
        }
        units.push_back({{"name", unit.name},
                         {"parameters", std::move(names)},
                         {"group", strategy.group},
                         {"slices", strategy.slices},
                         {"sharded_slices", strategy.shardedSlices},
                         {"reshard_after_forward", strategy.reshardAfterForward}});
    }
    json["root"] = std::move(root);
    json["units"] = std::move(units);
    json["dimension_1"] = std::move(acrossRows);
    json["shapes"] = std::move(shapes);
}

Json predictedJson(const Plan& plan)
{
    const Traffic traffic = stepTraffic(plan.table, plan.choice);
    Bytes states;
    for (std::size_t u = 0; u < plan.choice.size(); ++u)
        states += plan.cost(u).states();
    Json json;
    json["step_seconds"] = plan.time.overlapped.value();
    json["serial_seconds"] = plan.time.serial.value();
    json["tokens_per_second"] = plan.tokensPerSecond();
    json["peak_bytes"] = plan.peak.count();
    json["overhead_bytes"] = plan.table.overhead.count();
    json["peak_allocated_bytes"] = (plan.peak - plan.table.overhead).count();
    json["states_bytes"] = states.count();
    json["all_gather_bytes"] = traffic.allGather.count();
    json["reduce_scatter_bytes"] = traffic.reduceScatter.count();
    json["all_reduce_bytes"] = traffic.allReduce.count();
    return json;
}

} // namespace

Result<std::string> bundlePlanJson(const Plan& plan, const Provenance& provenance, bool withConfig)
{
    const Setup& setup = plan.table.setup;
    auto recomputed = recomputedModules(setup);
    if (!recomputed)
        return recomputed.error();
    Json json;
    json["format"] = "loadline.bundle/1";
    json["loadline"] = loadlineVersion();
    json["model"] = {{"name", setup.model->name},
                     {"family", setup.model->family},
                     {"parameters", setup.model->parameterCount()},
                     {"config", withConfig}};
    json["cluster"] = provenance.cluster;
    json["times"] = provenance.profile;
    json["ranks"] = setup.cluster.ranks();
    json["nodes"] = setup.cluster.nodes;
    json["gpus_per_node"] = setup.cluster.gpusPerNode;
    json["batch"] = setup.batch;
    json["accumulation"] = setup.accumulation;
    json["sequence"] = setup.sequence;
    json["precision"] = precisionJson(setup.precision);
    json["optimizer"] = setup.optimizer.name;
    json["attention"] = attentionWord(setup.attention);
    json["dropout"] = setup.dropout ? Json(*setup.dropout) : Json(nullptr);
    json["prefetch"] = {{"forward", setup.rules.gatherAheadForward}, {"backward", setup.rules.gatherAheadBackward}};
    json["checkpointed"] = std::move(*recomputed);
    json["predicted"] = predictedJson(plan);
    addUnits(json, plan);
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

} // namespace loadline
