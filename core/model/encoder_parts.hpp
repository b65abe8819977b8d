// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/config_reader.hpp"
#include "core/model/model_builder.hpp"

#include <cstdint>
#include <string>
#include <string_view>

// What stands after the layers of encoders.
namespace loadline {

/// The end of the class in `architectures` ("ForMaskedLM", "Model", ...), or `fallback` without one. Fails on a class that
/// Loadline does not plan.
std::string headKind(ConfigReader& c, std::string_view fallback);

/// Number of labels: "num_labels", else the entries of "id2label", else Hugging Face's 2.
std::int64_t labelCount(ConfigReader& c);

/// A linear with tanh on the first token.
void poolFirstToken(const std::string& name, std::int64_t hidden, ModelBuilder& b);

/// A linear over one vector a sequence, and its loss.
void classifyPooled(const std::string& name, std::int64_t hidden, std::int64_t labels, ModelBuilder& b);

} // namespace loadline
