// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace loadline::test {

/// How the n-th call fails.
enum class Fault { None, ReadError, WriteError, ShortWrite, DiskFull, SyncError, OpenError, AnyError };

/// Files in memory as SQLite's own file layer, which forget what was not synced when they crash and fail when told to. As a VFS under
/// the name `name()`; for one connection at a time.
class FaultFiles {
public:
    FaultFiles();
    ~FaultFiles();
    FaultFiles(const FaultFiles&) = delete;
    FaultFiles& operator=(const FaultFiles&) = delete;

    [[nodiscard]] const char* name() const;

    /// From now on the `nth` (from 1) call that `fault` is about fails; `lasting`: all after it too.
    void failAt(std::int64_t nth, Fault fault, bool lasting);
    void heal();
    /// The fault has happened.
    [[nodiscard]] bool failed() const { return m_failures > 0; }
    [[nodiscard]] std::int64_t calls() const { return m_calls; }

    /// The machine dies at the `nth` call from now: it and all after it fail and change nothing.
    void dieAt(std::int64_t nth);
    /// After a death: of each write that was not synced since, all, nothing, a part, or noise is there.
    void restart(std::mt19937& random);

    /// What SQLite calls; public for the table of functions.
    struct Write {
        std::int64_t offset = 0;
        std::string bytes;
        std::int64_t truncate = -1; ///< or a new size
    };
    struct File {
        std::string live;
        std::string synced;
        std::vector<Write> pending; ///< since the last sync
    };
    using FilePtr = std::shared_ptr<File>;
    enum class Call { Read, Write, Sync, Open, Other };
    /// The code that this call is to return; SQLITE_OK: go on.
    int before(Call call);
    [[nodiscard]] bool isShortWrite() const { return m_fault == Fault::ShortWrite; }
    std::map<std::string, FilePtr> files;

private:
    struct Table;
    std::unique_ptr<Table> m_table;
    Fault m_fault = Fault::None;
    std::int64_t m_at = 0;
    std::int64_t m_calls = 0;
    std::int64_t m_failures = 0;
    bool m_lasting = false;
    std::int64_t m_deathAt = 0;
    bool m_dead = false;
};

} // namespace loadline::test
