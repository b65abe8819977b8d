// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/exchange/request.hpp"

#include <string>

namespace loadline {

/// The question of a session as it is stored: "loadline.options/1" (docs/formats.md), the same that the window writes. `budget` is the
/// options' own in bytes.
std::string requestOptionsJson(const RequestOptions& options, Bytes budget);

} // namespace loadline
