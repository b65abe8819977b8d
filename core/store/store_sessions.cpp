// SPDX-License-Identifier: GPL-3.0-or-later
// Sessions: what a person had open, with all that is needed to go on.
#include "core/store/documents.hpp"
#include "core/store/sql_fields.hpp"
#include "core/store/store.hpp"

#include "core/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

namespace loadline {
namespace {

constexpr std::string_view kRowColumns =
    "id, name, model, cluster, budget, step, measured_error, created, modified, removed, notes, revision";

SessionRow rowOf(const SqlRow& row)
{
    SessionRow session;
    session.id = row.integer(0);
    session.name = row.text(1);
    session.model = row.text(2);
    session.cluster = row.text(3);
    session.budget = bytesAt(row, 4);
    session.step = secondsAt(row, 5);
    if (!row.isNull(6))
        session.measuredError = row.real(6);
    session.created = row.integer(7);
    session.modified = row.integer(8);
    session.removed = integerAt(row, 9);
    session.notes = row.text(10);
    session.revision = row.integer(11);
    return session;
}

Error noSession(SessionId id, const Database& database)
{
    return notFound(fmt::format("session {} is not in '{}'; list the sessions for their numbers", id, database.path().string()));
}

/// A LIKE pattern for "contains `word`", with '!' before what LIKE would read as a wildcard.
std::string contains(std::string_view word)
{
    std::string pattern = "%";
    for (const char c : word) {
        if (c == '%' || c == '_' || c == '!')
            pattern += '!';
        pattern += c;
    }
    return pattern + '%';
}

std::vector<std::string> wordsOf(std::string_view text)
{
    auto words = split(text, ' ');
    std::erase_if(words, [](const std::string& word) { return word.empty(); });
    return words;
}

std::optional<Error> writeTags(Database& database, SessionId id, std::vector<std::string>& tags)
{
    std::sort(tags.begin(), tags.end());
    tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
    if (auto problem = database.run("DELETE FROM tags WHERE session = ?", {id}))
        return problem;
    for (const auto& tag : tags) {
        if (auto problem = database.run("INSERT INTO tags (session, tag) VALUES (?, ?)", {id, tag}))
            return problem;
    }
    return {};
}

/// Rows of the tables that a session's documents are stored in.
struct DocumentRows {
    std::optional<std::int64_t> model;
    std::optional<std::int64_t> cluster;
    std::optional<std::int64_t> plan;
};

Result<DocumentRows> keepDocuments(Database& database, const SessionRecord& session)
{
    const auto model = keepDocument(database, "model", session.model);
    if (!model)
        return model.error();
    const auto cluster = keepDocument(database, "cluster", session.cluster);
    if (!cluster)
        return cluster.error();
    const auto plan = keepDocument(database, "plan", session.plan);
    if (!plan)
        return plan.error();
    return DocumentRows{*model, *cluster, *plan};
}

/// The stored revision is the one that the caller has seen.
std::optional<Error> checkRevision(Database& database, const SessionRow& row)
{
    const auto stored = database.integer("SELECT revision FROM sessions WHERE id = ?", {row.id});
    if (!stored)
        return stored.error();
    if (!*stored)
        return noSession(row.id, database);
    if (**stored != row.revision) {
        return invalidInput(fmt::format("session '{}' was changed by another window or program since it was opened here; open it again, or "
                                        "save this one under another name",
                                        row.name));
    }
    return {};
}

std::optional<Error> insertSession(Database& database, SessionRow& row, const SessionRecord& session, const DocumentRows& documents)
{
    if (auto problem =
            database.run("INSERT INTO sessions (name, model, cluster, budget, step, created, modified, notes, revision, "
                         "model_document, cluster_document, plan_document, profile) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?)",
                         {row.name, row.model, row.cluster, valueOf(row.budget), valueOf(row.step), row.created, row.modified, row.notes,
                          valueOf(documents.model), valueOf(documents.cluster), valueOf(documents.plan), valueOf(session.profile)}))
        return problem;
    row.id = database.lastRow();
    row.revision = 1;
    row.measuredError.reset();
    row.removed.reset();
    return {};
}

std::optional<Error> updateSession(Database& database, SessionRow& row, const SessionRecord& session, const DocumentRows& documents)
{
    if (auto problem = checkRevision(database, row))
        return problem;
    if (auto problem =
            database.run("UPDATE sessions SET name = ?, model = ?, cluster = ?, budget = ?, step = ?, modified = ?, notes = ?, "
                         "revision = revision + 1, model_document = ?, cluster_document = ?, plan_document = ?, profile = ? "
                         "WHERE id = ?",
                         {row.name, row.model, row.cluster, valueOf(row.budget), valueOf(row.step), row.modified, row.notes,
                          valueOf(documents.model), valueOf(documents.cluster), valueOf(documents.plan), valueOf(session.profile), row.id}))
        return problem;
    ++row.revision;
    return database.each("SELECT measured_error FROM sessions WHERE id = ?", {row.id}, [&](const SqlRow& stored) {
        row.measuredError = stored.isNull(0) ? std::nullopt : std::optional(stored.real(0));
    });
}

} // namespace

Result<std::vector<SessionRow>> Store::sessions(const SessionFilter& filter)
{
    std::string sql = fmt::format("SELECT {} FROM sessions WHERE removed IS {}NULL", kRowColumns, filter.removed ? "NOT " : "");
    if (!filter.tag.empty())
        sql += " AND EXISTS (SELECT 1 FROM tags WHERE session = id AND tag = ?)";
    const auto words = wordsOf(filter.words);
    for (std::size_t i = 0; i < words.size(); ++i)
        sql += " AND (name || char(10) || model || char(10) || cluster || char(10) || notes || char(10) || "
               "coalesce((SELECT group_concat(tag, char(10)) FROM tags WHERE session = id), '')) LIKE ? ESCAPE '!'";
    sql += " ORDER BY modified DESC, id DESC";
    if (filter.most)
        sql += fmt::format(" LIMIT {}", std::max<std::int64_t>(*filter.most, 0));
    auto statement = m_database->prepare(sql);
    if (!statement)
        return statement.error();
    std::vector<std::string> patterns;
    patterns.reserve(words.size());
    int index = 0;
    if (!filter.tag.empty())
        statement->bind(++index, std::string_view(filter.tag));
    for (const auto& word : words) {
        patterns.push_back(contains(word));
        statement->bind(++index, std::string_view(patterns.back()));
    }
    std::vector<SessionRow> rows;
    std::unordered_map<SessionId, std::size_t> places;
    while (true) {
        const auto more = statement->step();
        if (!more)
            return more.error();
        if (!*more)
            break;
        rows.push_back(rowOf(statement->row()));
        places.emplace(rows.back().id, rows.size() - 1);
    }
    const auto tag = [&](const SqlRow& row) {
        if (const auto place = places.find(row.integer(0)); place != places.end())
            rows[place->second].tags.push_back(row.text(1));
    };
    if (auto problem = m_database->each("SELECT session, tag FROM tags ORDER BY session, tag", {}, tag))
        return *problem;
    return rows;
}

Result<SessionRecord> Store::session(SessionId id)
{
    std::optional<SessionRecord> found;
    DocumentRows documents;
    const auto take = [&](const SqlRow& row) {
        found.emplace();
        found->row = rowOf(row);
        documents = {integerAt(row, 12), integerAt(row, 13), integerAt(row, 14)};
        found->profile = integerAt(row, 15);
        found->options = row.text(16);
        found->undo = row.text(17);
        found->window = row.text(18);
    };
    const auto sql = fmt::format("SELECT {}, model_document, cluster_document, plan_document, profile, options, undo, window "
                                 "FROM sessions JOIN session_texts ON session = id WHERE id = ?",
                                 kRowColumns);
    if (auto problem = m_database->each(sql, {id}, take))
        return *problem;
    if (!found)
        return noSession(id, *m_database);
    const auto tag = [&](const SqlRow& row) { found->row.tags.push_back(row.text(0)); };
    if (auto problem = m_database->each("SELECT tag FROM tags WHERE session = ? ORDER BY tag", {id}, tag))
        return *problem;
    const std::pair<std::optional<std::int64_t>, std::string*> texts[] = {
        {documents.model, &found->model}, {documents.cluster, &found->cluster}, {documents.plan, &found->plan}};
    for (const auto& [row, text] : texts) {
        auto read = documentText(*m_database, row);
        if (!read)
            return read.error();
        *text = std::move(read).value();
    }
    return *found;
}

Result<SessionId> Store::findSession(std::string_view numberOrName)
{
    std::vector<SessionId> found;
    const auto take = [&](const SqlRow& row) { found.push_back(row.integer(0)); };
    if (auto problem = m_database->each("SELECT id FROM sessions WHERE name = ? AND removed IS NULL ORDER BY id", {numberOrName}, take))
        return *problem;
    if (found.size() > 1) {
        return invalidInput(fmt::format("{} sessions are named '{}' (the first two have the numbers {} and {}); give the number",
                                        found.size(), numberOrName, found[0], found[1]));
    }
    if (found.size() == 1)
        return found.front();
    SessionId id = 0;
    const auto [end, problem] = std::from_chars(numberOrName.data(), numberOrName.data() + numberOrName.size(), id);
    if (problem == std::errc() && end == numberOrName.data() + numberOrName.size()) {
        const auto there = m_database->integer("SELECT id FROM sessions WHERE id = ?", {id});
        if (!there)
            return there.error();
        if (*there)
            return id;
    }
    return notFound(fmt::format("no session '{}' in '{}'; list the sessions for their names", numberOrName, path().string()));
}

std::optional<Error> Store::saveSession(SessionRecord& session)
{
    if (auto problem = mayWrite())
        return problem;
    auto transaction = Transaction::begin(*m_database);
    if (!transaction)
        return transaction.error();
    const auto documents = keepDocuments(*m_database, session);
    if (!documents)
        return documents.error();
    auto row = session.row; // taken over only when everything is committed
    auto stored = row.id == 0 ? insertSession(*m_database, row, session, *documents) : updateSession(*m_database, row, session, *documents);
    if (stored)
        return stored;
    if (auto problem =
            m_database->run("INSERT INTO session_texts (session, options, undo, window) VALUES (?, ?, ?, ?) ON CONFLICT (session) "
                            "DO UPDATE SET options = excluded.options, undo = excluded.undo, window = excluded.window",
                            {row.id, session.options, session.undo, session.window}))
        return problem;
    if (auto problem = writeTags(*m_database, row.id, row.tags))
        return problem;
    if (auto problem = dropUnusedDocuments(*m_database))
        return problem;
    if (auto problem = transaction->commit())
        return problem;
    session.row = std::move(row);
    return {};
}

std::optional<Error> Store::change(SessionId id, std::string_view sql, std::string_view text, UnixTime now)
{
    if (auto problem = mayWrite())
        return problem;
    if (auto problem = m_database->run(sql, {text, now, id}))
        return problem;
    if (m_database->changedRows() == 0)
        return noSession(id, *m_database);
    return {};
}

std::optional<Error> Store::renameSession(SessionId id, std::string_view name, UnixTime now)
{
    return change(id, "UPDATE sessions SET name = ?, modified = ?, revision = revision + 1 WHERE id = ?", name, now);
}

std::optional<Error> Store::setNotes(SessionId id, std::string_view notes, UnixTime now)
{
    return change(id, "UPDATE sessions SET notes = ?, modified = ?, revision = revision + 1 WHERE id = ?", notes, now);
}

std::optional<Error> Store::setTags(SessionId id, const std::vector<std::string>& tags, UnixTime now)
{
    if (auto problem = mayWrite())
        return problem;
    auto transaction = Transaction::begin(*m_database);
    if (!transaction)
        return transaction.error();
    if (auto problem = m_database->run("UPDATE sessions SET modified = ?, revision = revision + 1 WHERE id = ?", {now, id}))
        return problem;
    if (m_database->changedRows() == 0)
        return noSession(id, *m_database);
    auto sorted = tags;
    if (auto problem = writeTags(*m_database, id, sorted))
        return problem;
    return transaction->commit();
}

Result<SessionId> Store::duplicateSession(SessionId id, std::string_view name, UnixTime now)
{
    if (auto problem = mayWrite())
        return *problem;
    auto transaction = Transaction::begin(*m_database);
    if (!transaction)
        return transaction.error();
    if (auto problem =
            m_database->run("INSERT INTO sessions (name, model, cluster, budget, step, created, modified, notes, revision, "
                            "model_document, cluster_document, plan_document, profile) SELECT ?1, model, cluster, budget, step, ?2, "
                            "?2, notes, 1, model_document, cluster_document, plan_document, profile FROM sessions WHERE id = ?3",
                            {name, now, id}))
        return *problem;
    if (m_database->changedRows() == 0)
        return noSession(id, *m_database);
    const auto copy = m_database->lastRow();
    for (const auto* sql : {"INSERT INTO session_texts SELECT ?1, options, undo, window FROM session_texts WHERE session = ?2",
                            "INSERT INTO tags SELECT ?1, tag FROM tags WHERE session = ?2",
                            "INSERT INTO frontiers SELECT ?1, label, document FROM frontiers WHERE session = ?2"}) {
        if (auto problem = m_database->run(sql, {copy, id}))
            return *problem;
    }
    if (auto problem = transaction->commit())
        return *problem;
    return copy;
}

std::optional<Error> Store::removeSession(SessionId id, UnixTime now)
{
    if (auto problem = mayWrite())
        return problem;
    if (auto problem = m_database->run("UPDATE sessions SET removed = ? WHERE id = ? AND removed IS NULL", {now, id}))
        return problem;
    if (m_database->changedRows() == 0)
        return noSession(id, *m_database);
    return {};
}

std::optional<Error> Store::restoreSession(SessionId id)
{
    if (auto problem = mayWrite())
        return problem;
    if (auto problem = m_database->run("UPDATE sessions SET removed = NULL WHERE id = ?", {id}))
        return problem;
    if (m_database->changedRows() == 0)
        return noSession(id, *m_database);
    return {};
}

Result<std::int64_t> Store::purge(UnixTime time)
{
    if (auto problem = mayWrite())
        return *problem;
    auto transaction = Transaction::begin(*m_database);
    if (!transaction)
        return transaction.error();
    if (auto problem = m_database->run("DELETE FROM sessions WHERE removed < ?", {time}))
        return *problem;
    const auto gone = m_database->changedRows();
    if (auto problem = dropUnusedDocuments(*m_database))
        return *problem;
    if (auto problem = transaction->commit())
        return *problem;
    return gone;
}

} // namespace loadline
