// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.hpp"
#include "core/base/result.hpp"
#include "core/model/description.hpp"

#include <string>
#include <string_view>

namespace loadline {

/// Loadline's own model format, see docs/model-format.md.
inline constexpr std::string_view kModelFormat = "loadline.model/1";

/// The document as JSON: what `inspect --json` prints, before it adds saved bytes. `writeModel` is its text.
Json modelJson(const Model& model);

/// One operator a line. `readModel` reads it back equal.
std::string writeModel(const Model& model);
/// Text of a document that `modelJson` made and somebody extended.
std::string modelText(const Json& document);

/// Reads a parsed document whose "format" is "loadline.model/...". Keys that the format does not know are left alone.
/// Errors: one sentence with `origin` and key, also for a newer version.
Result<Model> readModelDocument(const Json& document, std::string_view origin);

} // namespace loadline
