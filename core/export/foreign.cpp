// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/foreign.hpp"

#include "core/base/json.hpp"
#include "core/export/candidates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace loadline {
namespace {

/// Shard groups of the plan, between one rank and all.
std::set<std::int64_t> innerGroups(const Plan& plan)
{
    std::set<std::int64_t> groups;
    for (std::size_t u = 0; u < plan.choice.size(); ++u)
        groups.insert(plan.cost(u).strategy.group);
    groups.erase(1);
    groups.erase(plan.table.setup.cluster.ranks());
    return groups;
}

void offer(Setup& setup, const std::set<std::int64_t>& groups)
{
    if (setup.groups.empty())
        setup.groups = {setup.cluster.gpusPerNode};
    setup.groups.insert(setup.groups.end(), groups.begin(), groups.end());
    setup.groups.push_back(1);
    setup.groups.push_back(setup.cluster.ranks());
}

bool inHalfPrecision(const PrecisionRecipe& recipe)
{
    return recipe.compute != ComputeMode::Fp32;
}

Result<ForeignExport> finished(const std::vector<Candidate>& candidates, const Plan& before, const PlanDocument& document, std::string file,
                               std::string_view program)
{
    auto best = bestCandidate(candidates, document.outcome.budget);
    if (!best)
        return best.error();
    ForeignExport result;
    result.exported.files.push_back({std::move(file), std::move(best->text), false});
    result.exported.notes = lostDecisions(before, best->plan, document.outcome.budget, program);
    result.plan = std::move(best->plan);
    return result;
}

/// These formats recompute whole layers.
std::optional<Error> partsRefused(const Setup& setup, std::string_view program)
{
    if (setup.recomputedPart == RecomputedPart::Block || setup.recomputedBlocks == 0)
        return {};
    return unsupported(fmt::format("{} recomputes whole layers, and the plan only a part of each; plan with --recompute auto", program));
}

Error nothingPlanned()
{
    return invalidInput("The file says that no plan fits, so there is nothing to export; plan with a larger budget");
}

// --- DeepSpeed -------------------------------------------------------------------------------------------------

/// DeepSpeed's own kind of mixed precision: half-precision weights beside an fp32 master copy (docs/formats.md).
Result<Setup> deepspeedSetup(const Plan& plan)
{
    Setup setup = plan.table.setup;
    offer(setup, innerGroups(plan));
    if (!inHalfPrecision(setup.precision))
        return setup;
    const ComputeMode mode = setup.precision.compute;
    auto recipe = loadPrecision("fp16-mixed");
    if (!recipe)
        return recipe.error();
    setup.precision = std::move(*recipe);
    if (mode != ComputeMode::Fp16) {
        setup.precision.name = "bf16 weights, fp32 master (DeepSpeed)";
        setup.precision.compute = ComputeMode::Bf16;
    }
    return setup;
}

std::string deepspeedText(const Setup& setup, Json zero)
{
    Json json;
    json["train_micro_batch_size_per_gpu"] = setup.batch;
    json["gradient_accumulation_steps"] = setup.accumulation;
    json["train_batch_size"] = setup.batch * setup.accumulation * setup.cluster.ranks();
    if (inHalfPrecision(setup.precision))
        json[setup.precision.compute == ComputeMode::Fp16 ? "fp16" : "bf16"] = {{"enabled", true}};
    if (setup.optimizer.name == "adamw")
        json["optimizer"] = {{"type", "AdamW"}, {"params", {{"lr", 1e-4}}}};
    json["gradient_clipping"] = 1.0;
    json["zero_optimization"] = std::move(zero);
    return json.dump(2) + '\n';
}

/// Every threshold that makes a difference: one above each size of a parameter.
std::set<std::int64_t> thresholds(const Model& model)
{
    std::set<std::int64_t> sizes{0};
    for (const Operator& op : model.operators)
        for (const Parameter& parameter : op.parameters)
            sizes.insert(parameter.count() + 1);
    return sizes;
}

bool persists(const Model& model, const Unit& unit, std::int64_t threshold)
{
    if (unit.holds.empty())
        return false;
    return std::all_of(unit.holds.begin(), unit.holds.end(), [&](std::size_t op) {
        const auto& parameters = model.operators[op].parameters;
        return std::all_of(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.count() < threshold; });
    });
}

// --- Galvatron -------------------------------------------------------------------------------------------------

/// Parameters of each layer, and of them those that are sharded.
std::vector<std::pair<std::int64_t, std::int64_t>> shardedByLayer(const Plan& plan)
{
    const Model& model = *plan.table.setup.model;
    const auto strategies = strategiesByOperator(plan.table, plan.choice);
    std::vector<std::pair<std::int64_t, std::int64_t>> layers(static_cast<std::size_t>(model.layerCount()));
    for (std::size_t i = 0; i < model.operators.size(); ++i) {
        const Operator& op = model.operators[i];
        if (op.layer < 0 || static_cast<std::size_t>(op.layer) >= layers.size())
            continue;
        auto& [all, sharded] = layers[static_cast<std::size_t>(op.layer)];
        all += op.parameterCount();
        sharded += strategies[i].group > 1 ? op.parameterCount() : 0;
    }
    return layers;
}

Candidate galvatronCandidate(const Plan& plan, double share, bool embedding)
{
    std::vector<int> types;
    std::vector<int> checkpoints;
    for (const auto& [all, sharded] : shardedByLayer(plan)) {
        types.push_back(static_cast<double>(sharded) > share * static_cast<double>(all) ? 1 : 0);
        checkpoints.push_back(static_cast<std::int64_t>(checkpoints.size()) < plan.table.setup.recomputedBlocks ? 1 : 0);
    }
    const std::vector<int> ones(types.size(), 1);
    Candidate candidate;
    candidate.setup = plan.table.setup;
    offer(candidate.setup, {});
    const Setup& setup = candidate.setup;
    Json json;
    json["pp_deg"] = 1;
    json["tp_sizes_enc"] = fmt::format("{}", fmt::join(ones, ","));
    json["tp_consecutive_flags"] = fmt::format("{}", fmt::join(ones, ","));
    json["dp_types_enc"] = fmt::format("{}", fmt::join(types, ","));
    json["use_sp"] = fmt::format("{}", fmt::join(std::vector<int>(types.size(), 0), ","));
    json["checkpoint"] = fmt::format("{}", fmt::join(checkpoints, ","));
    json["global_bsz"] = setup.batch * setup.accumulation * setup.cluster.ranks();
    json["chunks"] = setup.accumulation;
    json["pp_division"] = std::to_string(types.size());
    json["pipeline_type"] = "pipedream_flush";
    json["default_dp_type"] = "ddp";
    json["vtp"] = 1;
    json["vsp"] = 0;
    json["embed_sdp"] = embedding ? 1 : 0;
    candidate.text = json.dump(4) + '\n';
    candidate.storage = [types, embedding, ranks = setup.cluster.ranks()](const Unit& unit) {
        const bool inLayer = unit.layer >= 0 && static_cast<std::size_t>(unit.layer) < types.size();
        return Storage{(inLayer ? types[static_cast<std::size_t>(unit.layer)] == 1 : embedding) ? ranks : 1, true};
    };
    return candidate;
}

// --- Accelerate ------------------------------------------------------------------------------------------------

std::string accelerateText(const Setup& setup, std::int64_t group, bool reshard)
{
    const std::int64_t ranks = setup.cluster.ranks();
    std::string text =
        fmt::format("compute_environment: LOCAL_MACHINE\ndistributed_type: {}\nnum_machines: {}\nnum_processes: {}\n"
                    "mixed_precision: '{}'\ngradient_accumulation_steps: {}\nmachine_rank: 0\nmain_training_function: main\n",
                    group == 1 ? "MULTI_GPU" : "FSDP", setup.cluster.nodes, ranks, inHalfPrecision(setup.precision) ? "bf16" : "no",
                    setup.accumulation);
    if (group == 1)
        return text;
    text +=
        fmt::format("fsdp_config:\n  fsdp_version: 2\n  fsdp_reshard_after_forward: {}\n  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n"
                    "  fsdp_activation_checkpointing: {}\n  fsdp_offload_params: false\n  fsdp_state_dict_type: SHARDED_STATE_DICT\n",
                    reshard, setup.recomputedBlocks > 0);
    if (group < ranks)
        text += fmt::format("parallelism_config:\n  parallelism_config_dp_replicate_size: {}\n  parallelism_config_dp_shard_size: {}\n",
                            ranks / group, group);
    return text;
}

} // namespace

Result<ForeignExport> deepspeedExport(const PlanDocument& document)
{
    if (!document.outcome.plan)
        return nothingPlanned();
    const Plan& plan = *document.outcome.plan;
    const auto made = deepspeedSetup(plan);
    if (!made)
        return made.error();
    const Setup& setup = *made;
    const std::int64_t ranks = setup.cluster.ranks();
    std::vector<Candidate> candidates;
    candidates.push_back({deepspeedText(setup, {{"stage", 0}}), setup, [](const Unit&) { return Storage{}; }});
    for (const std::int64_t threshold : thresholds(*setup.model))
        candidates.push_back({deepspeedText(setup, {{"stage", 3},
                                                    {"overlap_comm", true},
                                                    {"stage3_param_persistence_threshold", threshold},
                                                    {"stage3_gather_16bit_weights_on_model_save", true}}),
                              setup, [model = setup.model, threshold, ranks](const Unit& unit) {
                                  return Storage{persists(*model, unit, threshold) ? 1 : ranks, true};
                              }});
    for (const std::int64_t group : innerGroups(plan))
        candidates.push_back({deepspeedText(setup, {{"stage", 3},
                                                    {"overlap_comm", true},
                                                    {"stage3_param_persistence_threshold", 0},
                                                    {"mics_shard_size", group},
                                                    {"mics_hierarchical_params_gather", false}}),
                              setup, [group](const Unit&) {
                                  return Storage{group, true};
                              }});
    auto result = finished(candidates, plan, document, "deepspeed.json", "DeepSpeed");
    if (!result)
        return result;
    auto& notes = result->exported.notes;
    if (inHalfPrecision(setup.precision) && setup.precision.name != plan.table.setup.precision.name)
        notes.push_back(fmt::format("DeepSpeed keeps half-precision weights beside an fp32 master copy, unlike {}; that is in the cost.",
                                    plan.table.setup.precision.name));
    if (setup.recomputedBlocks > 0)
        notes.push_back(
            fmt::format("Recomputation is the model's code under DeepSpeed: turn it on for the first {} layers.", setup.recomputedBlocks));
    return result;
}

Result<ForeignExport> galvatronExport(const PlanDocument& document)
{
    if (!document.outcome.plan)
        return nothingPlanned();
    const Plan& plan = *document.outcome.plan;
    if (auto problem = partsRefused(plan.table.setup, "Galvatron"))
        return *problem;
    if (plan.table.setup.model->layerCount() == 0)
        return unsupported("The model has no layers, which is all that Galvatron's file speaks of; export to fsdp2");
    std::vector<Candidate> candidates;
    for (const bool embedding : {false, true})
        for (const double share : {1.0, 0.5, 0.0}) // a layer is ZeRO-3 if more than this of it is sharded
            candidates.push_back(galvatronCandidate(plan, share, embedding));
    candidates.push_back(galvatronCandidate(plan, -1.0, true));
    return finished(candidates, plan, document, "galvatron.json", "Galvatron");
}

Result<ForeignExport> accelerateExport(const PlanDocument& document)
{
    if (!document.outcome.plan)
        return nothingPlanned();
    Setup setup = document.outcome.plan->table.setup;
    if (auto problem = partsRefused(setup, "Accelerate"))
        return *problem;
    setup.rules = fsdp2Rules();
    const auto before = project(*document.outcome.plan, setup); // what the plan costs under the rules of the program that runs the file
    if (!before)
        return before.error();
    const auto groups = innerGroups(*document.outcome.plan);
    const std::int64_t ranks = setup.cluster.ranks();
    offer(setup, groups);
    setup.unit = UnitKind::Block;
    std::vector<Candidate> candidates;
    const auto layers = static_cast<std::int64_t>(setup.model->layerCount());
    for (const std::int64_t recomputed : std::set<std::int64_t>{0, layers}) {
        setup.recomputedBlocks = recomputed;
        if (recomputed == 0)
            candidates.push_back({accelerateText(setup, 1, true), setup, [](const Unit&) { return Storage{}; }});
        for (const bool reshard : {true, false}) {
            candidates.push_back({accelerateText(setup, ranks, reshard), setup, [=](const Unit&) { return Storage{ranks, reshard}; }});
            for (const std::int64_t group : groups)
                candidates.push_back({accelerateText(setup, group, reshard), setup, [=](const Unit&) { return Storage{group, reshard}; }});
        }
    }
    auto result = finished(candidates, before->plan, document, "accelerate.yaml", "Accelerate");
    if (!result)
        return result;
    result->exported.notes.push_back("Accelerate's file has no batch and no sequence length: your training script sets them.");
    return result;
}

} // namespace loadline
