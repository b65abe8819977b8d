// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/store/records.hpp"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace loadline {

class Database;

/// How a store is opened.
struct StoreOptions {
    bool readOnly = false;
    int busyMilliseconds = 3000; ///< how long a call waits for another program that writes
    const char* vfs = nullptr;   ///< SQLite file layer, for tests
};

/// Everything that a person did, in one SQLite file (docs/store.md). Each call that changes something is one transaction: when it
/// returns without an error it survives a crash of the program and of the machine; when it returns one, nothing has changed and it can
/// be called again. Errors are sentences: no such session, damaged, disk full, in use, only readable. For one thread at a time; several
/// stores, also in several programs, may be open on one file.
class Store {
public:
    /// Opens the file, or makes it and its folder. Checks it, brings an older one to this version (after a copy of it beside it) and sets
    /// a damaged one aside, keeping what can be read. A newer file, or one that cannot be written, is open for reading only.
    /// `notices()` says what was done. Errors: not a store, cannot be opened at all.
    static Result<Store> open(const std::filesystem::path& path, const StoreOptions& options = {});
    Store(Store&&) noexcept;
    Store& operator=(Store&&) noexcept;
    ~Store();

    [[nodiscard]] const std::filesystem::path& path() const;
    [[nodiscard]] bool readOnly() const { return m_readOnly; }
    /// What a person should know about the opening, one sentence each.
    [[nodiscard]] const std::vector<std::string>& notices() const { return m_notices; }

    // --- sessions, newest first
    Result<std::vector<SessionRow>> sessions(const SessionFilter& filter = {});
    Result<SessionRecord> session(SessionId id);
    /// By number or by name; the error says when several have the name.
    Result<SessionId> findSession(std::string_view numberOrName);

    /// Inserts (row.id 0) or replaces. Sets id, revision and measuredError in `session`, tags are sorted. Errors: row.revision is not
    /// the stored one, because another window saved in between; row.id is gone. Then nothing is overwritten. row.modified (and, on
    /// insert, row.created) come from the caller.
    std::optional<Error> saveSession(SessionRecord& session);
    std::optional<Error> renameSession(SessionId id, std::string_view name, UnixTime now);
    std::optional<Error> setTags(SessionId id, const std::vector<std::string>& tags, UnixTime now);
    std::optional<Error> setNotes(SessionId id, std::string_view notes, UnixTime now);
    /// A copy with all but its runs.
    Result<SessionId> duplicateSession(SessionId id, std::string_view name, UnixTime now);
    /// Takes it off the list; `restoreSession` undoes that, also after a restart.
    std::optional<Error> removeSession(SessionId id, UnixTime now);
    std::optional<Error> restoreSession(SessionId id);
    /// Deletes for good what was removed before `time`. Returns how many.
    Result<std::int64_t> purge(UnixTime time);

    // --- frontiers of a session
    std::optional<Error> saveFrontier(SessionId session, const FrontierRecord& frontier);
    Result<std::vector<FrontierRecord>> frontiers(SessionId session);

    // --- profiles and link calibrations, newest first, without documents
    Result<std::int64_t> addProfile(const ProfileRecord& profile);
    Result<std::vector<ProfileRecord>> profiles();
    Result<ProfileRecord> profile(std::int64_t id);

    // --- runs, newest first, without documents
    Result<RunId> addRun(const RunRecord& run);
    /// What became known since `addRun`: everything but session and kind. The session's measured error follows its newest measured run.
    std::optional<Error> updateRun(const RunRecord& run);
    Result<std::vector<RunRecord>> runs(SessionId session);
    Result<RunRecord> run(RunId id);
    std::optional<Error> removeRun(RunId id);
    /// All rows or none; a row of the same step and rank is replaced.
    std::optional<Error> addMetrics(RunId run, std::span<const StepMetric> metrics);
    /// Calls for each row in order of step and rank; `rank` below 0: all.
    Result<std::vector<StepMetric>> metrics(RunId run, std::int64_t rank = -1);

    // --- the file
    /// True when another window or program committed since the last call (the first call: since opening). Takes microseconds.
    Result<bool> changedElsewhere();
    /// SQLite's whole check, and references between tables: one line for each thing that is wrong. Seconds for a large file.
    Result<std::vector<std::string>> check();
    /// A copy of the file as it is now; `target` must not be there.
    std::optional<Error> backup(const std::filesystem::path& target);

private:
    Store(std::unique_ptr<Database> database, bool readOnly, std::vector<std::string> notices);
    std::optional<Error> mayWrite() const;
    std::optional<Error> change(SessionId id, std::string_view sql, std::string_view text, UnixTime now);

    std::unique_ptr<Database> m_database;
    bool m_readOnly = false;
    std::vector<std::string> m_notices;
    std::int64_t m_seenVersion = 0;
};

} // namespace loadline
