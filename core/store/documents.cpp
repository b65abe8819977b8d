// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/store/documents.hpp"

#include <bit>

namespace loadline {
namespace {

/// FNV-1a. Only narrows the search: texts are compared in full.
std::int64_t digestOf(std::string_view text)
{
    std::uint64_t digest = 14695981039346656037ULL;
    for (const char c : text)
        digest = (digest ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return std::bit_cast<std::int64_t>(digest);
}

} // namespace

Result<std::optional<std::int64_t>> keepDocument(Database& database, std::string_view kind, std::string_view text)
{
    if (text.empty())
        return std::optional<std::int64_t>();
    const auto digest = digestOf(text);
    auto found = database.integer("SELECT id FROM documents WHERE digest = ? AND kind = ? AND text = ?", {digest, kind, text});
    if (!found || *found)
        return found;
    if (auto problem = database.run("INSERT INTO documents (kind, digest, text) VALUES (?, ?, ?)", {kind, digest, text}))
        return *problem;
    return std::optional(database.lastRow());
}

Result<std::string> documentText(Database& database, std::optional<std::int64_t> row)
{
    if (!row)
        return std::string();
    const auto text = database.text("SELECT text FROM documents WHERE id = ?", {*row});
    if (!text)
        return text.error();
    return text->value_or("");
}

std::optional<Error> dropUnusedDocuments(Database& database)
{
    return database.run("DELETE FROM documents WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE model_document = documents.id) "
                        "AND NOT EXISTS (SELECT 1 FROM sessions WHERE cluster_document = documents.id) "
                        "AND NOT EXISTS (SELECT 1 FROM sessions WHERE plan_document = documents.id) "
                        "AND NOT EXISTS (SELECT 1 FROM runs WHERE plan_document = documents.id)");
}

} // namespace loadline
