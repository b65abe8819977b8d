// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/store/opening.hpp"

#include "core/store/schema.hpp"

#include <fmt/format.h>

#include <sqlite3.h>

#include <system_error>

namespace loadline {
namespace {

namespace fs = std::filesystem;

/// How a file presents itself.
struct Header {
    std::int64_t application = 0;
    std::int64_t version = 0;
    bool empty = false; ///< no tables
};

/// One statement, so that all three are of the same moment: another program may be making the file just now.
Result<Header> readHeader(Database& database)
{
    Header header;
    const auto problem =
        database.each("SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),"
                      " count(*) FROM sqlite_schema",
                      {}, [&](const SqlRow& row) {
                          header.application = row.integer(0);
                          header.version = row.integer(1);
                          header.empty = row.integer(2) == 0;
                      });
    if (problem)
        return *problem;
    return header;
}

/// What an attempt to open came to; `damaged` says that the content is at fault.
struct Attempt {
    std::optional<OpenedStore> opened;
    std::optional<Error> error;
    bool damaged = false;
    bool refused = false;
};

Attempt failed(Database& database, Error error)
{
    return {std::nullopt, std::move(error), database.damaged(), database.refusedAccess()};
}

/// Structure of every page, type of every cell, and whether indexes agree with their tables: less than that lets files through that fail
/// later. A second for a million metrics (tests/bench/store_bench.cpp), milliseconds for sessions alone.
std::optional<Error> integrityCheck(Database& database, bool& damaged)
{
    const auto verdict = database.text("PRAGMA integrity_check(1)");
    if (!verdict)
        return verdict.error();
    damaged = verdict->value_or("") != "ok";
    if (damaged)
        return ioError(fmt::format("'{}' is damaged ({})", database.path().string(), verdict->value_or("no answer")));
    return {};
}

/// SQLite's busy handler does not wait for this change, since two that wait for each other would wait for ever: so here it is tried again.
std::optional<Error> switchToLog(Database& database, int patienceMilliseconds)
{
    constexpr int kPause = 5;
    for (int waited = 0;; waited += kPause) {
        const auto mode = database.text("PRAGMA journal_mode = WAL");
        if (mode)
            return {};
        if ((sqlite3_errcode(database.handle()) & 0xff) != SQLITE_BUSY || waited >= patienceMilliseconds)
            return mode.error();
        sqlite3_sleep(kPause);
    }
}

/// Write-ahead log, so that readers and a writer do not wait for each other; every commit is on the disk before it returns.
std::optional<Error> setPragmas(Database& database, int patienceMilliseconds)
{
    if (auto problem = switchToLog(database, patienceMilliseconds))
        return problem;
    return database.script("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 1000;");
}

std::optional<Error> migrate(OpenedStore& store, const Header& header, const StoreOptions& options, std::span<const std::string_view> steps)
{
    auto& database = store.database;
    if (header.version > 0) {
        auto copy = database.path();
        copy += fmt::format(".before-{}", steps.size());
        std::error_code none;
        if (!fs::exists(copy, none)) {
            if (auto problem = copyDatabase(database, copy, options.vfs))
                return problem;
        }
        store.notices.push_back(fmt::format("'{}' was brought from version {} to {}; as it was before, it is kept in '{}'",
                                            database.path().string(), header.version, steps.size(), copy.string()));
    }
    auto transaction = Transaction::begin(database);
    if (!transaction)
        return transaction.error();
    // Another program may have done it while this one waited.
    const auto now = readHeader(database);
    if (!now)
        return now.error();
    if (now->version < static_cast<std::int64_t>(steps.size())) {
        if (auto problem = runSchemaSteps(database, now->version, steps))
            return problem;
    }
    return transaction->commit();
}

/// Opens to write; everything but the decision what to do with a damaged file.
Attempt openToWrite(const fs::path& path, const StoreOptions& options, std::span<const std::string_view> steps)
{
    auto database = Database::open(path, SqlAccess::Create, options.busyMilliseconds, options.vfs);
    if (!database)
        return {std::nullopt, database.error(), false, true};
    OpenedStore store{std::move(*database), false, {}};
    const auto header = readHeader(store.database);
    if (!header)
        return failed(store.database, header.error());
    if (!header->empty && header->application != kStoreApplication) {
        return {std::nullopt, invalidInput(fmt::format("'{}' is a database of another program; name another file", path.string())), false,
                false};
    }
    if (store.database.onlyReadable() || header->version > static_cast<std::int64_t>(steps.size()))
        return {std::nullopt, std::nullopt, false, true};
    if (auto problem = setPragmas(store.database, options.busyMilliseconds))
        return failed(store.database, *problem);
    bool damaged = false;
    if (auto problem = integrityCheck(store.database, damaged)) {
        auto attempt = failed(store.database, *problem);
        attempt.damaged = attempt.damaged || damaged;
        return attempt;
    }
    if (header->version < static_cast<std::int64_t>(steps.size())) {
        if (auto problem = migrate(store, *header, options, steps))
            return failed(store.database, *problem);
    }
    return {std::move(store), std::nullopt, false, false};
}

/// Opens without changing anything, not even the helper files if they cannot be made.
Attempt openToRead(const fs::path& path, const StoreOptions& options, SqlAccess access, std::span<const std::string_view> steps)
{
    auto database = Database::open(path, access, options.busyMilliseconds, options.vfs);
    if (!database)
        return {std::nullopt, database.error(), false, true};
    OpenedStore store{std::move(*database), true, {}};
    const auto header = readHeader(store.database);
    if (!header)
        return failed(store.database, header.error());
    const auto newest = static_cast<std::int64_t>(steps.size());
    if (header->application != kStoreApplication)
        return {std::nullopt, invalidInput(fmt::format("'{}' is not a store of Loadline; name another file", path.string())), false, false};
    if (header->version < newest) {
        return {std::nullopt,
                ioError(fmt::format("'{}' is of an older version and cannot be brought to this one because it cannot be written; copy it "
                                    "to a folder that can",
                                    path.string())),
                false, false};
    }
    if (header->version > newest) {
        store.notices.push_back(fmt::format("'{}' was written by a newer Loadline (version {} of the file, this program knows {}); it is "
                                            "open for reading only",
                                            path.string(), header->version, newest));
    } else if (!options.readOnly) {
        store.notices.push_back(fmt::format("'{}' cannot be written, so it is open for reading only; make it and its folder writable to "
                                            "keep changes",
                                            path.string()));
    }
    bool damaged = false;
    if (auto problem = integrityCheck(store.database, damaged))
        return failed(store.database, *problem);
    return {std::move(store), std::nullopt, false, false};
}

Result<OpenedStore> openForReading(const fs::path& path, const StoreOptions& options, std::span<const std::string_view> steps)
{
    auto attempt = openToRead(path, options, SqlAccess::Read, steps);
    if (!attempt.opened && attempt.refused) // the helper files of the write-ahead log cannot be made: read the main file alone
        attempt = openToRead(path, options, SqlAccess::Immutable, steps);
    if (!attempt.opened)
        return *attempt.error;
    return std::move(*attempt.opened);
}

/// A file that is no database at all is set aside only if it could have been a store: texts that somebody named by mistake stay.
bool looksBinary(Database& database)
{
    sqlite3_file* file = nullptr;
    if (sqlite3_file_control(database.handle(), "main", SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(&file)) != SQLITE_OK ||
        file->pMethods == nullptr)
        return false;
    std::string start(100, '\0');
    sqlite3_int64 size = 0;
    if (file->pMethods->xFileSize(file, &size) != SQLITE_OK || size < 512)
        return false;
    if (file->pMethods->xRead(file, start.data(), static_cast<int>(start.size()), 0) != SQLITE_OK)
        return false;
    return start.find('\0') != std::string::npos;
}

bool mayBeStore(const fs::path& path, const StoreOptions& options)
{
    auto database = Database::open(path, SqlAccess::Read, options.busyMilliseconds, options.vfs);
    return database && looksBinary(*database);
}

} // namespace

std::optional<Error> runSchemaSteps(Database& database, std::int64_t version, std::span<const std::string_view> steps)
{
    for (auto next = static_cast<std::size_t>(version); next < steps.size(); ++next) {
        if (auto problem = database.script(steps[next]))
            return problem;
    }
    return database.script(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};", kStoreApplication, steps.size()));
}

std::optional<Error> copyDatabase(Database& database, const fs::path& target, const char* vfs)
{
    std::error_code problem;
    if (fs::exists(target, problem))
        return invalidInput(fmt::format("'{}' is there already; name another file", target.string()));
    auto partial = target;
    partial += ".partial";
    fs::remove(partial, problem);
    {
        auto copy = Database::open(partial, SqlAccess::Create, 0, vfs);
        if (!copy)
            return copy.error();
        auto* backup = sqlite3_backup_init(copy->handle(), "main", database.handle(), "main");
        if (backup == nullptr)
            return copy->lastError();
        const int code = sqlite3_backup_step(backup, -1);
        if (sqlite3_backup_finish(backup); code != SQLITE_DONE)
            return ioError(fmt::format("'{}' cannot be copied to '{}' ({}); make room there or free the file, and try again",
                                       database.path().string(), target.string(), sqlite3_errstr(code)));
        if (auto failure = copy->script("PRAGMA journal_mode = DELETE")) // one file, without helpers
            return failure;
    }
    fs::rename(partial, target, problem);
    if (problem)
        return ioError(fmt::format("'{}' cannot be written ({}); choose another folder", target.string(), problem.message()));
    return {};
}

Result<OpenedStore> openStoreFile(const fs::path& path, const StoreOptions& options, std::span<const std::string_view> steps)
{
    std::error_code none;
    if (fs::is_directory(path, none))
        return invalidInput(fmt::format("'{}' is a folder; name a file", path.string()));
    if (options.readOnly)
        return openForReading(path, options, steps);
    if (path.has_parent_path())
        fs::create_directories(path.parent_path(), none); // what is wrong with it, opening says
    if (auto problem = finishRescue(path))
        return *problem;
    auto attempt = openToWrite(path, options, steps);
    if (attempt.opened)
        return std::move(*attempt.opened);
    if (attempt.damaged) {
        if (!mayBeStore(path, options))
            return invalidInput(fmt::format("'{}' is not a store of Loadline; name another file", path.string()));
        auto sentence = rescueStore(path, options, steps);
        if (!sentence)
            return sentence.error();
        auto again = openToWrite(path, options, steps);
        if (!again.opened)
            return again.error.value_or(ioError(fmt::format("'{}' cannot be written; check its disk", path.string())));
        again.opened->notices.push_back(*sentence);
        return std::move(*again.opened);
    }
    if (attempt.refused && (options.vfs != nullptr || fs::exists(path, none))) {
        auto reading = openForReading(path, options, steps);
        if (reading || !attempt.error)
            return reading;
    }
    return *attempt.error;
}

} // namespace loadline
