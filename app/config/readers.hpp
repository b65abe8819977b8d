// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/config/config_fields.hpp"
#include "app/config/training_config.hpp"

namespace loadline {

// One reader a program. Each takes the document's root and fills what it finds; problems and notes go into the log.
TrainingConfig readDeepSpeed(const ConfigFields& root);
TrainingConfig readAccelerate(const ConfigFields& root);
TrainingConfig readTorchtitan(const ConfigFields& root);
TrainingConfig readGalvatron(const ConfigFields& root);

/// The recipe name of an optimizer as programs spell it ("AdamW", "SGD", ...). Unknown ones take "adamw" with a note.
std::string optimizerRecipe(const ConfigFields& where, const std::string& name, double momentum);

/// What ZeRO's stage 0 to 3 shards.
Sharding zeroStage(std::int64_t stage);

/// Says that a degree of tensor, pipeline, context or expert parallelism is left out; nothing if it is 1.
void leaveOutDegree(const ConfigFields& where, std::string_view key);

// Products of a batch, an accumulation and a count of ranks stay below 2^63.
inline constexpr std::int64_t kMostBatch = 1'000'000; ///< micro-batch or accumulation
inline constexpr std::int64_t kMostGlobalBatch = 1'000'000'000'000;
inline constexpr std::int64_t kMostTokens = 1LL << 31;
inline constexpr std::int64_t kMostConfigRanks = 10'000'000;

} // namespace loadline
