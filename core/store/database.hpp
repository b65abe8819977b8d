// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

struct sqlite3;
struct sqlite3_stmt;

namespace loadline {

/// What SQL is given: nothing (NULL), a number or a text. Texts must live until the statement has run.
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string_view>;

/// The row that a statement stands on.
class SqlRow {
public:
    explicit SqlRow(sqlite3_stmt* statement) : m_statement(statement) {}
    [[nodiscard]] bool isNull(int column) const;
    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] double real(int column) const;
    [[nodiscard]] std::string text(int column) const;
    [[nodiscard]] sqlite3_stmt* handle() const { return m_statement; }

private:
    sqlite3_stmt* m_statement;
};

class Database;

/// A prepared statement; finalized with its object. It must not outlive its database.
class Statement {
public:
    /// Binds in order. Texts are not copied.
    void bind(std::initializer_list<SqlValue> values);
    /// Binds one, from 1 on.
    void bind(int index, const SqlValue& value);
    /// True: it stands on a row.
    Result<bool> step();
    /// Ready to run again.
    void reset();
    [[nodiscard]] SqlRow row() const { return SqlRow(m_handle.get()); }

private:
    friend class Database;
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    Statement(Database& database, sqlite3_stmt* handle) : m_database(&database), m_handle(handle) {}
    Database* m_database;
    std::unique_ptr<sqlite3_stmt, Finalize> m_handle;
};

/// How a file is opened.
enum class SqlAccess {
    Create,    ///< read and write; made if it is not there
    Read,      ///< read
    Immutable, ///< read without locks, where SQLite cannot make its helper files
};

/// One connection to an SQLite file: a thin owner. For one thread. Errors are sentences on the file.
class Database {
public:
    /// `vfs`: name of another file layer, for tests. Waits `busyMilliseconds` for other programs.
    static Result<Database> open(const std::filesystem::path& path, SqlAccess access, int busyMilliseconds, const char* vfs = nullptr);

    Result<Statement> prepare(std::string_view sql);
    /// Runs one statement to its end.
    std::optional<Error> run(std::string_view sql, std::initializer_list<SqlValue> values = {});
    /// Runs a text of several statements.
    std::optional<Error> script(std::string_view sql);
    /// Calls `take` for each row.
    std::optional<Error> each(std::string_view sql, std::initializer_list<SqlValue> values, const std::function<void(const SqlRow&)>& take);
    /// First column of the first row; empty if there is no row.
    Result<std::optional<std::int64_t>> integer(std::string_view sql, std::initializer_list<SqlValue> values = {});
    Result<std::optional<std::string>> text(std::string_view sql, std::initializer_list<SqlValue> values = {});

    [[nodiscard]] std::int64_t lastRow() const;
    [[nodiscard]] std::int64_t changedRows() const;
    [[nodiscard]] bool onlyReadable() const;
    [[nodiscard]] sqlite3* handle() const { return m_handle.get(); }
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

    /// The sentence for the last failed call.
    Error lastError();
    /// A call failed because what stands in the file is not right, as opposed to the disk or another program.
    [[nodiscard]] bool damaged() const { return m_damaged; }
    /// The last failed call could not open or write the file or its helpers.
    [[nodiscard]] bool refusedAccess() const { return m_refused; }

private:
    struct Close {
        void operator()(sqlite3* handle) const;
    };
    Database(std::filesystem::path path, sqlite3* handle) : m_path(std::move(path)), m_handle(handle) {}
    std::filesystem::path m_path;
    std::unique_ptr<sqlite3, Close> m_handle;
    bool m_damaged = false;
    bool m_refused = false;
};

/// All or nothing; rolled back unless committed. Takes the writing lock at once, so that it waits at its begin and never fails
/// half way because another program writes.
class Transaction {
public:
    static Result<Transaction> begin(Database& database);
    Transaction(Transaction&& other) noexcept : m_database(std::exchange(other.m_database, nullptr)) {}
    Transaction& operator=(Transaction&&) = delete;
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();
    std::optional<Error> commit();

private:
    explicit Transaction(Database& database) : m_database(&database) {}
    Database* m_database;
};

} // namespace loadline
