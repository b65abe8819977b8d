// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/store/database.hpp"

namespace loadline {

/// Models, clusters and plans are long and seldom differ between sessions: the same text of a kind is stored once. Returns its row;
/// empty for an empty text. Only within a transaction.
Result<std::optional<std::int64_t>> keepDocument(Database& database, std::string_view kind, std::string_view text);

/// Empty for no row.
Result<std::string> documentText(Database& database, std::optional<std::int64_t> row);

/// Deletes texts that no session and no run names any more. Only within a transaction.
std::optional<Error> dropUnusedDocuments(Database& database);

} // namespace loadline
