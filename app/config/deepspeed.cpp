// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/config/readers.hpp"

#include <fmt/format.h>

namespace loadline {
namespace {

// Defaults of DeepSpeed's own documentation (config-json, "ZeRO Optimizations").
constexpr std::int64_t kDefaultPersistence = 100'000;
constexpr std::int64_t kMostElements = 1'000'000'000'000'000;

void readPrecision(const ConfigFields& root, TrainingConfig& config)
{
    const auto bf16 = root.object("bf16");
    const auto fp16 = root.object("fp16");
    if (bf16.truth("enabled").value_or(false)) {
        config.precision = ConfigPrecision::Bf16Weights;
    } else if (fp16.truth("enabled").value_or(false)) {
        config.precision = ConfigPrecision::Fp16Weights;
    } else if (!bf16.isAuto("enabled") && !fp16.isAuto("enabled")) {
        config.precision = ConfigPrecision::Fp32;
    }
}

void readZero(const ConfigFields& root, TrainingConfig& config)
{
    const auto zero = root.object("zero_optimization");
    if (zero.isAuto("stage"))
        zero.note("zero_optimization.stage 'auto' is read as 0, DeepSpeed's default");
    config.sharding = zeroStage(zero.whole("stage", 0, 3).value_or(0));
    for (const auto* key : {"offload_optimizer", "offload_param"}) {
        const auto device = zero.has(key) ? zero.object(key).word("device").value_or("none") : "none";
        if (device != "none")
            zero.note(fmt::format("zero_optimization.{} to '{}' is left out: all states are counted on the device", key, device));
    }
    if (config.sharding != Sharding::Everything)
        return;
    if (const auto group = zero.whole("zero_hpz_partition_size", 1, kMostConfigRanks); group && *group > 1)
        zero.note("zero_optimization.zero_hpz_partition_size is left out: the second copy inside a node is not counted");
    if (const auto group = zero.whole("mics_shard_size", -1, kMostConfigRanks); group && *group > 0) {
        config.sharding = Sharding::Hybrid;
        config.shardGroup = *group;
    }
    config.persistAuto = zero.isAuto("stage3_param_persistence_threshold");
    if (!config.persistAuto)
        config.persistBelow = zero.whole("stage3_param_persistence_threshold", 0, kMostElements).value_or(kDefaultPersistence);
    if (zero.whole("stage3_model_persistence_threshold", 0, INT64_MAX / 2) == 0)
        config.persistBelow = 0;
}

void readBatch(const ConfigFields& root, TrainingConfig& config)
{
    config.microBatch = root.whole("train_micro_batch_size_per_gpu", 1, kMostBatch);
    config.accumulation = root.whole("gradient_accumulation_steps", 1, kMostBatch);
    config.globalBatch = root.whole("train_batch_size", 1, kMostGlobalBatch);
    if (config.globalBatch && config.microBatch && config.accumulation) {
        const auto each = *config.microBatch * *config.accumulation;
        if (*config.globalBatch % each != 0)
            root.refuse("train_batch_size", fmt::format("is {}, no multiple of micro-batch {} x accumulation {}; correct one of the three",
                                                        *config.globalBatch, *config.microBatch, *config.accumulation));
        else
            config.ranks = *config.globalBatch / each;
    }
}

/// GPT-NeoX keeps its own settings beside DeepSpeed's, with hyphens or underscores.
void readNeox(const ConfigFields& root, TrainingConfig& config)
{
    config.kind = "GPT-NeoX (DeepSpeed)";
    for (const auto* key : {"pipe-parallel-size", "pipe_parallel_size", "model-parallel-size", "model_parallel_size"})
        leaveOutDegree(root, key);
    for (const auto* key : {"seq-length", "seq_length"}) {
        if (const auto value = root.whole(key, 1, kMostTokens))
            config.sequence = value;
    }
    for (const auto* key : {"checkpoint-activations", "checkpoint_activations"})
        config.recomputeAll = config.recomputeAll || root.truth(key).value_or(false);
    if (root.has("num-layers") || root.has("num_layers"))
        root.note("the model itself is not read from this file: give it with --model");
}

} // namespace

TrainingConfig readDeepSpeed(const ConfigFields& root)
{
    TrainingConfig config;
    config.kind = "DeepSpeed";
    readBatch(root, config);
    readPrecision(root, config);
    readZero(root, config);
    if (const auto optimizer = root.object("optimizer"); optimizer.has("type")) {
        const auto momentum = optimizer.object("params").number("momentum").value_or(0);
        config.optimizer = optimizerRecipe(optimizer, optimizer.word("type").value_or(""), momentum);
    }
    if (root.has("activation_checkpointing"))
        root.note(
            "activation_checkpointing only sets how DeepSpeed recomputes; the model's code turns it on: add --recompute all if it does");
    if (root.has("pipe-parallel-size") || root.has("pipe_parallel_size") || root.has("num-layers") || root.has("num_layers"))
        readNeox(root, config);
    return config;
}

} // namespace loadline
