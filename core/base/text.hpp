// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/base/units.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace loadline {

/// "71.3 GiB", "112.0 MiB", "512 B": binary units, one decimal from KiB on.
std::string formatBytes(Bytes bytes);

/// "412 ms", "3.20 ms", "31.4 us", "2.35 s": three significant digits.
std::string formatSeconds(Seconds seconds);

/// "39.8k", "1.27M", "816": three significant digits and a decimal suffix.
std::string formatCount(double value);

/// Reads "72GiB", "72 GiB", "1.5TB", "512MiB", "4096" (bytes). GiB = 2^30, GB = 10^9; letters in any case; a
/// fraction of a byte rounds down. Errors on anything else, on negative or not finite values and above 8 EiB.
Result<Bytes> parseBytes(std::string_view text);

/// Reads "72GiB" or "90%" of `whole` (0 % to 100 %, rounded down).
Result<Bytes> parseBudget(std::string_view text, Bytes whole);

/// Splits at every `separator`; "a,,b" has three parts, "" has one empty part.
std::vector<std::string> split(std::string_view text, char separator);

/// True if `text` matches `pattern`, where '*' stands for any run of characters and '?' for one.
bool matchesPattern(std::string_view pattern, std::string_view text);

} // namespace loadline
