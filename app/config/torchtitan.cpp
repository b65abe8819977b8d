// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/config/readers.hpp"

#include <fmt/format.h>

namespace loadline {
namespace {

void readPrecision(const ConfigFields& training, TrainingConfig& config)
{
    // torchtitan's defaults: mixed_precision_param "bfloat16", mixed_precision_reduce "float32", dtype "float32".
    const auto stored = training.word("dtype").value_or("float32");
    const auto computed = training.word("mixed_precision_param").value_or("bfloat16");
    if (stored == "bfloat16")
        config.precision = ConfigPrecision::PureBf16;
    else if (computed == "float32")
        config.precision = ConfigPrecision::Fp32;
    else if (computed == "bfloat16")
        config.precision = ConfigPrecision::Bf16Copies;
    else if (computed == "float16")
        config.precision = ConfigPrecision::Fp16Copies;
    else
        training.refuse("mixed_precision_param", "is none of bfloat16, float16, float32; correct it");
}

void readDegrees(const ConfigFields& parallel, const ConfigFields& training, TrainingConfig& config)
{
    // Until late 2024 the degrees stood in [training], and data_parallel_degree meant the sharded one.
    std::int64_t shard = -1;
    std::int64_t replicas = 1;
    for (const ConfigFields* where : {&training, &parallel}) {
        if (const auto old = where->whole("data_parallel_degree", -1, kMostConfigRanks))
            shard = *old;
        if (const auto degree = where->whole("data_parallel_shard_degree", -1, kMostConfigRanks))
            shard = *degree;
        if (const auto degree = where->whole("data_parallel_replicate_degree", 1, kMostConfigRanks))
            replicas = *degree;
        for (const auto* key : {"tensor_parallel_degree", "pipeline_parallel_degree", "context_parallel_degree", "expert_parallel_degree"})
            leaveOutDegree(*where, key);
    }
    if (shard == 0)
        parallel.refuse("data_parallel_shard_degree", "is 0; write -1 for all ranks, or how many share one copy");
    config.replicas = replicas;
    if (shard == 1) {
        config.sharding = Sharding::Nothing;
    } else if (replicas > 1) {
        config.sharding = Sharding::Hybrid;
        config.shardGroup = shard > 0 ? shard : 0;
    } else {
        config.sharding = Sharding::Everything;
        config.shardGroup = shard > 0 ? shard : 0;
    }
    if (shard > 0)
        config.ranks = shard * replicas;
    if (parallel.word("fsdp_reshard_after_forward").value_or("default") == "never") {
        if (config.sharding == Sharding::Everything)
            config.sharding = Sharding::Gradients;
        else if (config.sharding == Sharding::Hybrid)
            config.sharding = Sharding::HybridZeRO2;
    }
}

void readCheckpointing(const ConfigFields& checkpoint, TrainingConfig& config)
{
    const auto mode = checkpoint.word("mode").value_or("selective");
    if (mode == "full") {
        config.recomputeAll = true;
    } else if (mode == "selective") {
        const auto option = checkpoint.wholeOrWord("selective_ac_option");
        if (!option.empty() && option.size() < 6 && option.find_first_not_of("0123456789") == std::string::npos && option != "0")
            config.recomputeEvery = std::stoll(option);
        else
            checkpoint.note("selective recomputation by operation is priced as none: the real peak is lower and the step longer");
    } else if (mode != "none") {
        checkpoint.refuse("mode", "is none of none, selective, full; correct it");
    }
}

} // namespace

TrainingConfig readTorchtitan(const ConfigFields& root)
{
    TrainingConfig config;
    config.kind = "torchtitan";
    const auto training = root.object("training");
    for (const auto* key : {"batch_size", "local_batch_size"}) {
        if (const auto batch = training.whole(key, 1, kMostBatch))
            config.microBatch = batch;
    }
    if (const auto global = training.whole("global_batch_size", -1, kMostGlobalBatch); global && *global > 0)
        config.globalBatch = global;
    else
        config.accumulation = 1;
    config.sequence = training.whole("seq_len", 1, kMostTokens);
    readPrecision(training, config);
    readDegrees(root.object("parallelism"), training, config);
    leaveOutDegree(root.object("experimental"), "pipeline_parallel_degree");
    readCheckpointing(root.object("activation_checkpoint"), config);
    if (const auto optimizer = root.object("optimizer"); optimizer.has("name"))
        config.optimizer = optimizerRecipe(optimizer, optimizer.word("name").value_or(""), 0);
    if (const auto model = root.object("model"); model.has("flavor"))
        model.note(fmt::format("the file is written for {} {}: the model priced is the one of --model",
                               model.word("name").value_or("a model"), model.word("flavor").value_or("")));
    return config;
}

} // namespace loadline
