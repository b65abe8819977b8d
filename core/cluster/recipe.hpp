// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace loadline {

/// The number format in which forward and backward run.
enum class ComputeMode { Fp32, Bf16, Fp16, AutocastBf16 };

/// Bytes per parameter by term, optimizer state apart. A visible, editable table.
struct PrecisionRecipe {
    std::string name; ///< "fp32", "bf16", "bf16-mixed", "autocast-bf16", "fp16-mixed"
    ComputeMode compute = ComputeMode::Fp32;
    double weight = 4;   ///< stored parameter that is sharded or replicated
    double master = 0;   ///< a second, fp32 copy beside it (DeepSpeed's fp16)
    double gathered = 4; ///< compute copy made by a gather; also of a replicated parameter if it differs from `weight`
    double gradient = 4; ///< kept until the optimizer step
    double reduced = 4;  ///< on the wire when gradients are reduced
    std::string source;
    friend bool operator==(const PrecisionRecipe&, const PrecisionRecipe&) = default;
};

/// Optimizer state in bytes per trainable parameter.
struct OptimizerRecipe {
    std::string name;                ///< "adamw", "adam8bit", "sgd", "sgd-momentum", "lion", "adafactor"
    double state = 8;                ///< all state tensors together, for fp32 parameters
    bool stateFollowsWeight = false; ///< true: state tensors have the parameter's type, so `state` scales with weight / 4
    double stepTransient = 0;        ///< alive only in the step, in units of the local parameter's own bytes (foreach AdamW: 1)
    bool factored = false;           ///< Adafactor: rows + columns instead of a full second moment
    std::string source;
    friend bool operator==(const OptimizerRecipe&, const OptimizerRecipe&) = default;
};

/// Optimizer state in bytes per trainable parameter under `precision`: `state`, scaled where it follows the type of the
/// parameter that the optimizer sees (the master copy where there is one). A factored second moment is not in it.
double stateBytes(const PrecisionRecipe& precision, const OptimizerRecipe& optimizer);

const std::vector<PrecisionRecipe>& bundledPrecisions();
const std::vector<OptimizerRecipe>& bundledOptimizers();

/// A bundled recipe by name, else the file of that path (docs/clusters.md). Errors name the name, or the file and key.
Result<PrecisionRecipe> loadPrecision(const std::string& nameOrFile);
Result<OptimizerRecipe> loadOptimizer(const std::string& nameOrFile);

/// `loadline.precision/1` and `loadline.optimizer/1`; `origin` is named in errors.
Result<PrecisionRecipe> readPrecision(std::string_view text, std::string_view origin);
Result<OptimizerRecipe> readOptimizer(std::string_view text, std::string_view origin);
std::string writePrecision(const PrecisionRecipe& recipe);
std::string writeOptimizer(const OptimizerRecipe& recipe);

std::string_view computeModeName(ComputeMode mode); ///< "fp32", "bf16", "fp16", "autocast-bf16"

} // namespace loadline
