// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/model/description.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace loadline {

/// Low-rank adapters (Hu et al. 2021) as PEFT puts them in: y = W x + B A x with W frozen.
struct LoraSettings {
    std::int64_t rank = 0;
    std::vector<std::string> targets; ///< last parts of module names, e.g. "q_proj", "self_attn.q_proj"; "all-linear": all but the head
};

/// Reads "rank=16,targets=q_proj:v_proj". Errors: one sentence.
Result<LoraSettings> parseLora(std::string_view text);

/// Freezes the model and puts two trainable linears behind every target, named as PEFT names the modules (without its
/// leading "base_model.model."). Errors: a target that matches no linear.
Result<Model> applyLora(Model model, const LoraSettings& settings);
Result<Model> applyLora(Model model, std::string_view text);

/// Freezes every parameter whose name, or whose operator's name, matches `pattern` ('*' and '?'). Returns how many
/// parameters (tensors) are frozen by it. Errors: none matches.
Result<int> freeze(Model& model, std::string_view pattern);

} // namespace loadline
