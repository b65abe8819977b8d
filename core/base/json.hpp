// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace loadline {

using Json = nlohmann::ordered_json;

/// How `parseJson` treats what is not standard JSON but stands in real files.
enum class JsonDialect {
    Strict, ///< RFC 8259
    Python, ///< also the bare words NaN, Infinity and -Infinity (as json.dump writes them); they read as null
};

/// Parses a whole document. Refuses duplicate keys, nesting deeper than 64, invalid UTF-8 and numbers that do not
/// fit; the error names `origin` and the line.
Result<Json> parseJson(std::string_view text, std::string_view origin, JsonDialect dialect = JsonDialect::Strict);

/// Reads a file of at most `most` bytes. The error names the file.
Result<std::string> readFile(const std::filesystem::path& path, std::int64_t most = 256LL << 20);

/// Writes beside `path` and renames, so that a failure leaves the old file whole.
Result<bool> writeFile(const std::filesystem::path& path, std::string_view text);

} // namespace loadline
