// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace loadline {

/// In the header of every store: "LOAD". Tells it from the files of other programs.
inline constexpr std::int64_t kStoreApplication = 0x4c4f4144;

/// The n-th text brings a store from schema version n to n + 1; the first makes a new one. A text that was released is never
/// changed: what comes after it is another text.
std::span<const std::string_view> schemaSteps();

/// Rows that a damaged file left without what they belong to: run after its rows were copied.
std::string_view schemaMending();

} // namespace loadline
