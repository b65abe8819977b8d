// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loadline {

/// What a training program's configuration shards.
enum class Sharding {
    Nothing,     ///< DDP, ZeRO stage 0, NO_SHARD
    Optimizer,   ///< ZeRO stage 1
    Gradients,   ///< ZeRO stage 2, SHARD_GRAD_OP, fully_shard without reshard_after_forward
    Everything,  ///< ZeRO stage 3, FULL_SHARD
    Hybrid,      ///< sharded inside `shardGroup` ranks, replicated across
    HybridZeRO2, ///< the same without resharding after forward
};

/// How a configuration spells the numbers that it keeps in memory.
enum class ConfigPrecision {
    Unsaid,      ///< not stated, or "auto"
    Fp32,        ///< no mixed precision
    Bf16Copies,  ///< fp32 shards, bf16 copies for compute (FSDP)
    Fp16Copies,  ///< fp32 shards, fp16 copies for compute (FSDP)
    Bf16Weights, ///< bf16 weights beside an fp32 master (DeepSpeed)
    Fp16Weights, ///< fp16 weights beside an fp32 master (DeepSpeed)
    PureBf16,    ///< everything in bf16
};

/// One layer of a configuration that decides layer by layer (Galvatron).
struct LayerConfig {
    Sharding sharding = Sharding::Nothing;
    bool recompute = false;
    friend bool operator==(const LayerConfig&, const LayerConfig&) = default;
};

/// What a DeepSpeed, Accelerate, torchtitan or Galvatron configuration says about memory and time.
/// Empty: the file does not say, or says "auto"; `notes` has a sentence for each "auto" and for all that is left out.
struct TrainingConfig {
    std::string kind; ///< "DeepSpeed", "Accelerate (FSDP)", "torchtitan", "Galvatron", "GPT-NeoX (DeepSpeed)"
    Sharding sharding = Sharding::Nothing;
    std::int64_t shardGroup = 0; ///< ranks that share one copy; 0: all of them, with Hybrid the GPUs of a node
    std::int64_t replicas = 0;   ///< copies of the whole, when the file counts those instead; 0: not stated
    ConfigPrecision precision = ConfigPrecision::Unsaid;
    std::string optimizer; ///< a recipe name; empty: not stated
    std::optional<std::int64_t> microBatch;
    std::optional<std::int64_t> accumulation;
    std::optional<std::int64_t> globalBatch;
    std::optional<std::int64_t> sequence;
    std::optional<std::int64_t> ranks; ///< how many the file is written for
    bool recomputeAll = false;
    std::int64_t recomputeEvery = 0;          ///< every so many layers; 0: see recomputeAll
    std::optional<std::int64_t> persistBelow; ///< parameters with fewer elements stay replicated (ZeRO stage 3)
    bool persistAuto = false;                 ///< the same threshold is "auto": 10 x hidden size in Hugging Face's Trainer
    bool shardedEmbedding = false;            ///< Galvatron's embed_sdp
    std::vector<LayerConfig> layers;          ///< Galvatron only
    std::vector<std::string> notes;
};

enum class ConfigSyntax { JsonText, YamlText, TomlText };

/// Reads a configuration of any of the four kinds; which one shows in its keys. Errors name `origin` and the line or
/// key. Never throws, whatever the bytes are. Thread-safe.
Result<TrainingConfig> readTrainingConfig(std::string_view text, ConfigSyntax syntax, std::string_view origin);

/// Reads a file; its suffix (.json, .yaml, .yml, .toml) says the syntax.
Result<TrainingConfig> loadTrainingConfig(const std::filesystem::path& path);

} // namespace loadline
