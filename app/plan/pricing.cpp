// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plan/pricing.hpp"

#include "core/base/text.hpp"
#include "core/cluster/recipe.hpp"
#include "core/plan/pins.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace loadline {
namespace {

bool has(const std::vector<std::string>& given, std::string_view flag)
{
    return std::find(given.begin(), given.end(), flag) != given.end();
}

/// What the precision of a configuration is called as a flag; DeepSpeed's kinds start from the recipe that has a master copy.
std::string_view precisionFlag(ConfigPrecision precision)
{
    switch (precision) {
    case ConfigPrecision::Fp32:
        return "fp32";
    case ConfigPrecision::PureBf16:
        return "bf16";
    case ConfigPrecision::Bf16Weights:
    case ConfigPrecision::Fp16Weights:
        return "fp16-mixed";
    default:
        return "bf16-mixed";
    }
}

/// DeepSpeed's identity: train_batch_size = micro-batch x accumulation x ranks. Two of them give the third.
std::optional<Error> completeBatch(const TrainingConfig& config, std::int64_t ranks, const std::vector<std::string>& given,
                                   PricedQuestion& question)
{
    auto& options = question.options;
    if (config.microBatch && !has(given, "batch"))
        options.batch = std::to_string(*config.microBatch);
    if (config.accumulation && !has(given, "accumulation"))
        options.accumulation = std::to_string(*config.accumulation);
    if (!config.globalBatch || has(given, "global-batch") || has(given, "batch"))
        return {};
    const auto steps = config.accumulation.value_or(1);
    if (config.microBatch) {
        const auto each = *config.microBatch * steps * ranks;
        if (config.accumulation || *config.globalBatch % (*config.microBatch * ranks) != 0) {
            if (*config.globalBatch != each)
                question.notes.push_back(fmt::format("the global batch of {} is not {} = micro-batch {} x accumulation {} x {} ranks: the "
                                                     "file is written for another number of "
                                                     "ranks, and the micro-batch is kept",
                                                     *config.globalBatch, each, *config.microBatch, steps, ranks));
            return {};
        }
        options.accumulation = std::to_string(*config.globalBatch / (*config.microBatch * ranks));
        question.notes.push_back(fmt::format("accumulation is {} = global batch {} / (micro-batch {} x {} ranks)", options.accumulation,
                                             *config.globalBatch, *config.microBatch, ranks));
        return {};
    }
    if (*config.globalBatch % (steps * ranks) != 0)
        return invalidInput(fmt::format("the configuration's global batch of {} is no multiple of accumulation {} x {} ranks; give "
                                        "--batch, or a cluster that it is written for",
                                        *config.globalBatch, steps, ranks));
    options.batch = std::to_string(*config.globalBatch / (steps * ranks));
    question.notes.push_back(fmt::format("the micro-batch is {} = global batch {} / (accumulation {} x {} ranks)", options.batch,
                                         *config.globalBatch, steps, ranks));
    return {};
}

/// Where the wanted strategy goes for one unit; units without parameters have nothing to shard.
struct Wanted {
    std::int64_t group = 1;
    bool reshard = true;
};

Wanted wantedFor(Sharding sharding, std::int64_t group, const Setup& setup)
{
    const auto ranks = setup.cluster.ranks();
    switch (sharding) {
    case Sharding::Nothing:
        return {};
    case Sharding::Optimizer:
    case Sharding::Gradients:
        return {group > 0 ? group : ranks, false};
    case Sharding::Everything:
        return {group > 0 ? group : ranks, true};
    case Sharding::Hybrid:
        return {group > 0 ? group : setup.cluster.gpusPerNode, true};
    case Sharding::HybridZeRO2:
        return {group > 0 ? group : setup.cluster.gpusPerNode, false};
    }
    return {};
}

/// Under ZeRO stage 3 small parameters stay whole on every rank.
bool persists(const TrainingConfig& config, const Unit& unit, const Setup& setup)
{
    const auto below = config.persistAuto ? 10 * setup.model->hidden : config.persistBelow.value_or(0);
    if (below <= 0 || unit.holds.empty())
        return false;
    for (const auto index : unit.holds) {
        for (const auto& parameter : setup.model->operators[index].parameters) {
            if (parameter.count() >= below)
                return false;
        }
    }
    return true;
}

Sharding shardingOf(const TrainingConfig& config, const Unit& unit)
{
    if (config.layers.empty())
        return config.sharding;
    if (unit.layer >= 0 && static_cast<std::size_t>(unit.layer) < config.layers.size())
        return config.layers[static_cast<std::size_t>(unit.layer)].sharding;
    return config.shardedEmbedding ? Sharding::Everything : config.sharding;
}

std::optional<std::uint32_t> findOption(const std::vector<OptionCost>& options, const Wanted& wanted)
{
    for (std::size_t i = 0; i < options.size(); ++i) {
        const auto& strategy = options[i].strategy;
        const bool reshard = wanted.group == 1 || strategy.reshardAfterForward == wanted.reshard;
        if (strategy.group == wanted.group && strategy.slices == 1 && reshard)
            return static_cast<std::uint32_t>(i);
    }
    return {};
}

std::optional<Error> applyPins(const CostTable& table, const std::vector<Pin>& pins, Choice& choice)
{
    const auto allowed = allowedOptions(table, pins);
    if (!allowed)
        return allowed.error();
    for (std::size_t unit = 0; unit < choice.size(); ++unit) {
        const auto& options = (*allowed)[unit];
        if (std::find(options.begin(), options.end(), choice[unit]) == options.end())
            choice[unit] = options.front();
    }
    return {};
}

std::optional<Error> completeRecomputation(const TrainingConfig& config, Setup& setup, std::vector<std::string>& notes)
{
    const auto layers = static_cast<std::int64_t>(setup.model->layerCount());
    if (config.recomputeAll)
        setup.recomputedBlocks = layers;
    if (config.recomputeEvery > 0) {
        setup.recomputedBlocks = layers / config.recomputeEvery;
        if (config.recomputeEvery > 1)
            notes.push_back(fmt::format("every {}th layer is recomputed: priced as the first {} of them", config.recomputeEvery,
                                        setup.recomputedBlocks));
    }
    if (config.layers.empty())
        return {};
    if (static_cast<std::int64_t>(config.layers.size()) != layers)
        return invalidInput(
            fmt::format("the configuration has {} layers and the model has {}; give the model it is written for with --model",
                        config.layers.size(), layers));
    setup.recomputedBlocks =
        std::count_if(config.layers.begin(), config.layers.end(), [](const LayerConfig& layer) { return layer.recompute; });
    const auto first = config.layers.begin() + setup.recomputedBlocks;
    if (std::any_of(first, config.layers.end(), [](const LayerConfig& layer) { return layer.recompute; }))
        notes.push_back(fmt::format("{} layers are recomputed: priced as the first {}", setup.recomputedBlocks, setup.recomputedBlocks));
    return {};
}

} // namespace

Result<TrainingConfig> uniformConfig(const std::string& word)
{
    TrainingConfig config;
    config.kind = "uniform " + word;
    if (word == "dp")
        config.sharding = Sharding::Nothing;
    else if (word == "zdp")
        config.sharding = Sharding::Everything;
    else if (word == "hsdp")
        config.sharding = Sharding::Hybrid;
    else if (word == "zero2")
        config.sharding = Sharding::Gradients;
    else
        return invalidInput(fmt::format("--uniform is '{}'; give dp, zdp, hsdp or zero2", word.substr(0, 40)));
    return config;
}

Result<PricedQuestion> completeOptions(const RequestOptions& given, const std::vector<std::string>& flags, TrainingConfig config)
{
    PricedQuestion question{given, std::move(config), {}};
    auto& options = question.options;
    const auto& said = question.config;
    question.notes = said.notes;
    if (said.sequence && !has(flags, "sequence"))
        options.sequence = said.sequence;
    if (!said.optimizer.empty() && !has(flags, "optimizer"))
        options.optimizer = said.optimizer;
    if (!has(flags, "precision")) {
        options.precision = precisionFlag(said.precision);
        if (said.precision == ConfigPrecision::Unsaid && !said.kind.starts_with("uniform"))
            question.notes.push_back(fmt::format("the file leaves precision open: {} is taken (--precision sets it)", options.precision));
    }
    // What FSDP's own programs train with is PyTorch's FSDP, which wraps block by block.
    const bool fsdp = said.kind == "torchtitan" || said.kind == "Accelerate (FSDP)";
    if (fsdp && !has(flags, "runtime")) {
        options.runtime = "fsdp2";
        if (!has(flags, "unit"))
            options.unit = "block";
        question.notes.push_back(fmt::format("priced under the rules of runtime {} with unit {} (--runtime and --unit set them)",
                                             options.runtime, options.unit));
    }
    const auto cluster = resolveCluster(options);
    if (!cluster)
        return cluster.error();
    if (auto problem = completeBatch(said, cluster->ranks(), flags, question))
        return *problem;
    if (said.ranks && *said.ranks != cluster->ranks())
        question.notes.push_back(
            fmt::format("the file is written for {} ranks: it is priced on the {} of --cluster", *said.ranks, cluster->ranks()));
    if (said.sharding == Sharding::Optimizer)
        question.notes.emplace_back(
            "ZeRO stage 1 is priced as stage 2, which also shards gradients: the real peak is higher by the unsharded ones");
    return question;
}

std::optional<Error> completeSetup(const TrainingConfig& config, Setup& setup, std::vector<std::string>& notes)
{
    if (config.precision == ConfigPrecision::Bf16Weights && setup.precision.name == "fp16-mixed") {
        setup.precision.name = "bf16 weights, fp32 master (DeepSpeed)";
        setup.precision.compute = ComputeMode::Bf16;
    }
    if (config.precision == ConfigPrecision::Fp16Copies && setup.precision.name == "bf16-mixed") {
        setup.precision.name = "fp32 shards, fp16 copies (FSDP)";
        setup.precision.compute = ComputeMode::Fp16;
    }
    const auto ranks = setup.cluster.ranks();
    auto group = config.shardGroup;
    if (config.sharding == Sharding::Hybrid && group == 0 && config.replicas > 1) {
        if (ranks % config.replicas != 0)
            return invalidInput(
                fmt::format("the configuration has {} replicas, which do not divide {} ranks; give the cluster it is written for",
                            config.replicas, ranks));
        group = ranks / config.replicas;
    }
    if (group > ranks || (group > 0 && ranks % group != 0))
        return invalidInput(fmt::format(
            "the configuration shards over {} ranks, which do not divide {}; give the cluster it is written for", group, ranks));
    if (setup.groups.empty() && group > 0)
        setup.groups = {1, setup.cluster.gpusPerNode, ranks};
    // What is priced must be on offer.
    const auto offer = [&](std::int64_t wanted) {
        if (!setup.groups.empty() && std::find(setup.groups.begin(), setup.groups.end(), wanted) == setup.groups.end())
            setup.groups.push_back(wanted);
    };
    offer(group > 0 ? group : ranks);
    offer(1);
    if (config.sharding == Sharding::Hybrid || config.sharding == Sharding::HybridZeRO2)
        offer(wantedFor(config.sharding, group, setup).group);
    return completeRecomputation(config, setup, notes);
}

Result<Choice> configuredChoice(const TrainingConfig& config, const CostTable& table, const std::vector<Pin>& pins,
                                std::vector<std::string>& notes)
{
    const auto& setup = table.setup;
    auto group = config.shardGroup;
    if (config.sharding == Sharding::Hybrid && group == 0 && config.replicas > 1)
        group = setup.cluster.ranks() / config.replicas;
    Choice choice;
    std::int64_t persistent = 0;
    for (std::size_t unit = 0; unit < table.units.size(); ++unit) {
        const auto& entry = table.units[unit];
        auto wanted = wantedFor(shardingOf(config, entry), group, setup);
        if (config.sharding == Sharding::Everything && wanted.group > 1 && persists(config, entry, setup)) {
            wanted = {};
            ++persistent;
        }
        const auto& options = table.options(unit);
        auto found = findOption(options, wanted);
        if (!found && entry.root) // a runtime's root unit stays gathered by itself
            found = findOption(options, {wanted.group, true});
        if (!found && options.size() == 1)
            found = 0; // nothing to shard, or the runtime leaves no choice
        if (!found)
            return invalidInput(fmt::format("'{}' cannot be stored over {} ranks{} under runtime {}; choose another --runtime", entry.name,
                                            wanted.group, wanted.reshard ? "" : " and kept gathered", setup.rules.name));
        choice.push_back(*found);
    }
    if (persistent > 0)
        notes.push_back(fmt::format("{} units stay whole on every rank: their parameters are below the persistence threshold of {}",
                                    persistent, config.persistAuto ? 10 * setup.model->hidden : *config.persistBelow));
    if (auto problem = applyPins(table, pins, choice))
        return *problem;
    return choice;
}

} // namespace loadline
