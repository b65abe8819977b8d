// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/config/training_config.hpp"
#include "core/base/json.hpp"

#include <nlohmann/json.hpp>

#include <string_view>

namespace loadline {

/// Any of the three syntaxes as one kind of document, so that a reader knows only keys. Refuses duplicate keys, more
/// than 64 levels and more than 100,000 values (a YAML alias can stand for millions).
Result<Json> parseConfigDocument(std::string_view text, ConfigSyntax syntax, std::string_view origin);

Result<Json> parseYaml(std::string_view text, std::string_view origin);
Result<Json> parseToml(std::string_view text, std::string_view origin);

inline constexpr int kMostConfigDepth = 64;
inline constexpr int kMostConfigValues = 100'000;

} // namespace loadline
