// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/config/training_config.hpp"
#include "core/exchange/request.hpp"

#include <string>
#include <vector>

namespace loadline {

/// A configuration in Loadline's terms: the question it is part of, and what it does with each operator.
struct PricedQuestion {
    RequestOptions options; ///< flags, completed by what the configuration says
    TrainingConfig config;
    std::vector<std::string> notes; ///< how each "auto" was resolved, and what is left out
};

/// Completes `options` by the configuration where the flags (`given`) say nothing. Errors: a batch that the ranks do not
/// divide.
Result<PricedQuestion> completeOptions(const RequestOptions& options, const std::vector<std::string>& given, TrainingConfig config);

/// Sets what no flag says: recipes of DeepSpeed's kind, shard groups, recomputed blocks. Errors: layers that the model does
/// not have, a shard group that does not divide the ranks.
std::optional<Error> completeSetup(const TrainingConfig& config, Setup& setup, std::vector<std::string>& notes);

/// The option of each unit that the configuration stands for; `pins` go on top. Errors: a choice that is not offered.
Result<Choice> configuredChoice(const TrainingConfig& config, const CostTable& table, const std::vector<Pin>& pins,
                                std::vector<std::string>& notes);

/// "dp", "zdp", "hsdp", "zero2" as a configuration. Errors: another word.
Result<TrainingConfig> uniformConfig(const std::string& word);

} // namespace loadline
