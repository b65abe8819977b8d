// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/exchange/request.hpp"

#include <string>
#include <string_view>

namespace loadline {

/// The question of a session as it is stored: "loadline.options/1" (docs/formats.md), without the model
/// itself. `budget` is the options' own in bytes.
std::string requestOptionsJson(const RequestOptions& options, Bytes budget);

struct SavedOptions {
    RequestOptions options;
    Bytes budget;
};
/// Unknown keys are skipped, missing ones are at their defaults. Errors: not JSON, a wrong type, a newer version. Any bytes are safe.
Result<SavedOptions> readRequestOptions(std::string_view text, std::string_view origin);

} // namespace loadline
