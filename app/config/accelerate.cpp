// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/config/readers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace loadline {
namespace {

struct StrategyWord {
    std::string_view name;
    std::int64_t number; ///< as old files write it (torch.distributed.fsdp.ShardingStrategy)
    Sharding sharding;
};
constexpr StrategyWord kStrategies[] = {
    {"FULL_SHARD", 1, Sharding::Everything}, {"SHARD_GRAD_OP", 2, Sharding::Gradients},        {"NO_SHARD", 3, Sharding::Nothing},
    {"HYBRID_SHARD", 4, Sharding::Hybrid},   {"HYBRID_SHARD_ZERO2", 5, Sharding::HybridZeRO2},
};

/// Either spelling: old files have no "fsdp_" in front.
std::string keyOf(const ConfigFields& fsdp, std::string_view name)
{
    const std::string prefixed = "fsdp_" + std::string(name);
    return fsdp.has(prefixed) ? prefixed : std::string(name);
}

Sharding readStrategy(const ConfigFields& fsdp)
{
    const auto key = keyOf(fsdp, "sharding_strategy");
    if (!fsdp.has(key)) {
        const auto reshard = keyOf(fsdp, "reshard_after_forward");
        if (fsdp.has(reshard))
            return fsdp.truth(reshard).value_or(true) ? Sharding::Everything : Sharding::Gradients;
        fsdp.note("no sharding strategy is stated: FULL_SHARD, Accelerate's default, is taken");
        return Sharding::Everything;
    }
    const auto number = fsdp.wholeOrWord(key);
    for (const auto& known : kStrategies) {
        if (number == known.name || number == std::to_string(known.number))
            return known.sharding;
    }
    fsdp.refuse(key, "is none of FULL_SHARD, SHARD_GRAD_OP, NO_SHARD, HYBRID_SHARD, HYBRID_SHARD_ZERO2 or 1 to 5; correct it");
    return Sharding::Everything;
}

void readPrecision(const ConfigFields& root, TrainingConfig& config)
{
    const auto word = root.wholeOrWord("mixed_precision");
    if (word.empty()) {
        root.note("mixed_precision is not stated: fp32 is taken, as Accelerate does");
        config.precision = ConfigPrecision::Fp32;
    } else if (word == "no" || word == "false") {
        config.precision = ConfigPrecision::Fp32;
    } else if (word == "bf16") {
        config.precision = ConfigPrecision::Bf16Copies;
    } else if (word == "fp16") {
        config.precision = ConfigPrecision::Fp16Copies;
    } else {
        root.refuse("mixed_precision", "is none of no, bf16, fp16; correct it");
    }
}

} // namespace

TrainingConfig readAccelerate(const ConfigFields& root)
{
    TrainingConfig config;
    config.kind = "Accelerate (FSDP)";
    readPrecision(root, config);
    config.ranks = root.whole("num_processes", 1, kMostConfigRanks);
    config.accumulation = root.whole("gradient_accumulation_steps", 1, kMostBatch);
    const auto kind = root.word("distributed_type").value_or("NO");
    if (kind == "DEEPSPEED") {
        config.kind = "Accelerate (DeepSpeed)";
        const auto deepspeed = root.object("deepspeed_config");
        if (deepspeed.has("deepspeed_config_file"))
            deepspeed.refuse("deepspeed_config_file", "names another file that holds the settings; price that file instead");
        config.sharding = zeroStage(deepspeed.whole("zero_stage", 0, 3).value_or(2));
        if (const auto steps = deepspeed.whole("gradient_accumulation_steps", 1, kMostBatch))
            config.accumulation = steps;
        if (config.precision == ConfigPrecision::Bf16Copies)
            config.precision = ConfigPrecision::Bf16Weights;
        if (config.precision == ConfigPrecision::Fp16Copies)
            config.precision = ConfigPrecision::Fp16Weights;
        return config;
    }
    if (kind == "MULTI_GPU" || kind == "NO") {
        config.kind = "Accelerate (DDP)";
        return config;
    }
    if (kind != "FSDP") {
        root.refuse("distributed_type", "is none of FSDP, DEEPSPEED, MULTI_GPU, NO, which are all that can be priced; choose one of them");
        return config;
    }
    const auto fsdp = root.object("fsdp_config");
    config.sharding = readStrategy(fsdp);
    if (fsdp.truth(keyOf(fsdp, "offload_params")).value_or(false))
        fsdp.note("fsdp_offload_params is left out: all states are counted on the device");
    config.recomputeAll = fsdp.truth(keyOf(fsdp, "activation_checkpointing")).value_or(false);
    fsdp.note("an Accelerate file states no batch size: --batch does");
    return config;
}

} // namespace loadline
