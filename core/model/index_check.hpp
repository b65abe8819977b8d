// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/model/description.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace loadline {

/// Compares a model with the index of its checkpoint (model.safetensors.index.json, pytorch_model.bin.index.json): names
/// in "weight_map", bytes in "metadata.total_size". Each difference is one sentence; none if all agree. Rotary and mask
/// buffers and tied copies are told apart from parameters. Errors: text that is no index, naming `origin`. Any bytes are safe.
Result<std::vector<std::string>> checkIndex(const Model& model, std::string_view text, std::string_view origin);

} // namespace loadline
