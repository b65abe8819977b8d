// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/model/description.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace loadline {

/// Reads a Hugging Face config.json or Loadline's own model format, whichever `text` is. `origin` names it in errors and
/// notes, e.g. "'config.json'". Errors: one sentence with the key. Any bytes are safe. Thread-safe.
Result<Model> readModel(std::string_view text, std::string_view origin);

/// Opens a file, or a bundled model by its name. An index of weights beside a configuration is compared with it, and what
/// differs becomes notes. Errors: as `readModel`, and a file that cannot be read.
Result<Model> loadModel(const std::string& fileOrName);

/// The text of a bundled model's document, empty for another name.
std::string_view bundledModelText(std::string_view name);

/// Names of the models that the program carries, sorted.
std::vector<std::string> bundledModels();

} // namespace loadline
