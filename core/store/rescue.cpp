// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/store/opening.hpp"
#include "core/store/schema.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <system_error>

namespace loadline {
namespace {

namespace fs = std::filesystem;

fs::path withSuffix(fs::path path, std::string_view suffix)
{
    path += suffix;
    return path;
}

fs::path rescuedPath(const fs::path& path)
{
    return withSuffix(path, ".rescued");
}

/// The first name that is free: "loadline.db.damaged-1", ...
fs::path asidePath(const fs::path& path)
{
    std::error_code none;
    for (int number = 1;; ++number) {
        auto candidate = withSuffix(path, fmt::format(".damaged-{}", number));
        if (!fs::exists(candidate, none) && !fs::exists(withSuffix(candidate, "-wal"), none))
            return candidate;
    }
}

/// The file that was set aside last, whose log may still lie at the old place.
fs::path lastAside(const fs::path& path)
{
    std::error_code none;
    auto last = withSuffix(path, ".damaged-1");
    for (int number = 2;; ++number) {
        const auto candidate = withSuffix(path, fmt::format(".damaged-{}", number));
        if (!fs::exists(candidate, none))
            return last;
        last = candidate;
    }
}

std::optional<Error> move(const fs::path& from, const fs::path& to)
{
    std::error_code problem;
    if (!fs::exists(from, problem))
        return {};
    fs::rename(from, to, problem);
    if (problem)
        return ioError(fmt::format("'{}' is damaged and cannot be renamed to '{}' ({}); make its folder writable", from.string(),
                                   to.string(), problem.message()));
    return {};
}

Result<std::vector<std::string>> names(Database& database, std::string_view sql, std::string_view table = {})
{
    std::vector<std::string> found;
    auto statement = database.prepare(sql);
    if (!statement)
        return statement.error();
    if (!table.empty())
        statement->bind({table});
    while (true) {
        const auto more = statement->step();
        if (!more)
            return more.error();
        if (!*more)
            return found;
        found.push_back(statement->row().text(0));
    }
}

constexpr std::string_view kColumns = "SELECT name FROM pragma_table_info(?)";
constexpr std::string_view kKeys = "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk";

std::string joined(const std::vector<std::string>& parts, std::string_view end = {})
{
    std::string text;
    for (const auto& part : parts)
        text += fmt::format("{}\"{}\"{}", text.empty() ? "" : ", ", part, end);
    return text;
}

/// Copies rows from one end until the damage; rows that do not fit the tables are left out. Errors: of the target alone.
std::optional<Error> copyFrom(Database& source, Database& target, Statement& insert, const std::string& select)
{
    auto rows = source.prepare(select);
    if (!rows)
        return {};
    while (true) {
        const auto more = rows->step();
        if (!more || !*more)
            return {};
        insert.reset();
        auto* from = rows->row().handle();
        for (int column = 0; column < sqlite3_column_count(from); ++column)
            sqlite3_bind_value(insert.row().handle(), column + 1, sqlite3_column_value(from, column));
        const auto stored = insert.step();
        if (!stored && (sqlite3_errcode(target.handle()) & 0xff) != SQLITE_CONSTRAINT)
            return stored.error();
    }
}

/// Everything that can be read of one table: from the front, then from the back, so that one bad page costs only its own rows.
std::optional<Error> copyTable(Database& source, Database& target, const std::string& table)
{
    const auto wanted = names(target, kColumns, table);
    if (!wanted)
        return wanted.error();
    const auto keys = names(target, kKeys, table);
    if (!keys)
        return keys.error();
    auto there = names(source, kColumns, table);
    if (!there)
        return {}; // its schema cannot be read
    std::erase_if(*there, [&](const std::string& column) { return std::find(wanted->begin(), wanted->end(), column) == wanted->end(); });
    if (there->empty())
        return {};
    std::string marks;
    for (std::size_t i = 0; i < there->size(); ++i)
        marks += i == 0 ? "?" : ", ?";
    auto insert = target.prepare(fmt::format("INSERT OR IGNORE INTO \"{}\" ({}) VALUES ({})", table, joined(*there), marks));
    if (!insert)
        return insert.error();
    // NOT INDEXED: what an index says may be the very damage.
    const auto select = fmt::format("SELECT {} FROM \"{}\" NOT INDEXED ORDER BY ", joined(*there), table);
    if (auto problem = copyFrom(source, target, *insert, select + joined(*keys)))
        return problem;
    return copyFrom(source, target, *insert, select + joined(*keys, " DESC"));
}

/// Fills `target`, which is locked, from the damaged file.
std::optional<Error> copyAll(const fs::path& path, const StoreOptions& options, Database& target)
{
    const auto tables = names(target, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid");
    if (!tables)
        return tables.error();
    auto source = Database::open(path, SqlAccess::Read, options.busyMilliseconds, options.vfs);
    if (!source)
        return {}; // nothing can be read
    for (const auto& table : *tables) {
        if (auto problem = copyTable(*source, target, table))
            return problem;
    }
    return target.script(schemaMending());
}

std::string sentence(const fs::path& path, const fs::path& aside, std::int64_t sessions, std::int64_t runs)
{
    return fmt::format("'{}' was damaged: it is set aside as '{}', and {} {} and {} {} could be kept", path.string(), aside.string(),
                       sessions, sessions == 1 ? "session" : "sessions", runs, runs == 1 ? "run" : "runs");
}

} // namespace

std::optional<Error> finishRescue(const fs::path& path)
{
    std::error_code none;
    if (fs::exists(path, none) || !fs::exists(rescuedPath(path), none))
        return {};
    // The log belongs to the file that was set aside last; beside the new one it would be taken for its own.
    for (const auto* helper : {"-wal", "-shm"}) {
        if (auto problem = move(withSuffix(path, helper), withSuffix(lastAside(path), helper)))
            return problem;
    }
    return move(rescuedPath(path), path);
}

Result<std::string> rescueStore(const fs::path& path, const StoreOptions& options, std::span<const std::string_view> steps)
{
    std::int64_t sessions = 0;
    std::int64_t runs = 0;
    {
        auto target = Database::open(rescuedPath(path), SqlAccess::Create, options.busyMilliseconds, options.vfs);
        if (!target)
            return target.error();
        // Holds off a second program that found the same damage. What an interrupted rescue left is begun anew.
        auto transaction = Transaction::begin(*target);
        if (!transaction)
            return transaction.error();
        const auto left =
            names(*target, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid DESC");
        if (!left)
            return left.error();
        for (const auto& table : *left) {
            if (auto problem = target->script(fmt::format("DROP TABLE \"{}\"", table)))
                return *problem;
        }
        if (auto problem = runSchemaSteps(*target, 0, steps))
            return *problem;
        if (auto problem = copyAll(path, options, *target))
            return *problem;
        const auto keptSessions = target->integer("SELECT count(*) FROM sessions");
        const auto keptRuns = target->integer("SELECT count(*) FROM runs");
        if (!keptSessions || !keptRuns)
            return target->lastError();
        sessions = keptSessions->value_or(0);
        runs = keptRuns->value_or(0);
        if (auto problem = transaction->commit())
            return *problem;
    }
    const auto aside = asidePath(path);
    if (auto problem = move(path, aside))
        return *problem;
    for (const auto* helper : {"-wal", "-shm"}) {
        if (auto problem = move(withSuffix(path, helper), withSuffix(aside, helper)))
            return *problem;
    }
    if (auto problem = move(rescuedPath(path), path))
        return *problem;
    return sentence(path, aside, sessions, runs);
}

} // namespace loadline
