// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/store/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

namespace loadline {
namespace {

/// What a failed call means for the person, as the end of a sentence that begins with the file's name.
std::string_view meaning(int code)
{
    switch (code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return "is in use by another program; try again in a moment, nothing stored is lost";
    case SQLITE_FULL:
        return "cannot grow because its disk is full; make room and try again, nothing stored is lost";
    case SQLITE_READONLY:
        return "can only be read; make it and its folder writable or use another file";
    case SQLITE_CANTOPEN:
        return "cannot be opened; check that its folder is there and may be written";
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return "may not be opened by this user; change its permissions or use another file";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return "is damaged; open it again, then it is set aside and what can be read is kept";
    case SQLITE_IOERR:
        return "cannot be read or written (input/output error); check its disk and try again, nothing stored is lost";
    case SQLITE_NOMEM:
        return "needs more memory than there is; close other programs and try again";
    case SQLITE_TOOBIG:
        return "cannot hold a text of more than 1 GB; leave some of it out";
    default:
        return {};
    }
}

Error errorOf(int code, const std::filesystem::path& path, const char* detail)
{
    const auto end = meaning(code & 0xff);
    if (!end.empty())
        return ioError(fmt::format("'{}' {}", path.string(), end));
    return ioError(fmt::format("'{}' answers '{}'; check that this Loadline wrote it", path.string(), detail));
}

/// A file: address of `path`; what has a meaning in one is written as %XX.
std::string uriOf(const std::filesystem::path& path, std::string_view query)
{
    std::string uri = "file:";
    for (const char c : path.string()) {
        if (c == '%' || c == '?' || c == '#')
            uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
        else
            uri += c;
    }
    return uri.append(query);
}

} // namespace

bool SqlRow::isNull(int column) const
{
    return sqlite3_column_type(m_statement, column) == SQLITE_NULL;
}

std::int64_t SqlRow::integer(int column) const
{
    return sqlite3_column_int64(m_statement, column);
}

double SqlRow::real(int column) const
{
    return sqlite3_column_double(m_statement, column);
}

std::string SqlRow::text(int column) const
{
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(m_statement, column));
    const int size = sqlite3_column_bytes(m_statement, column);
    return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(size));
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const
{
    sqlite3_finalize(statement);
}

void Statement::bind(int index, const SqlValue& value)
{
    auto* handle = m_handle.get();
    if (const auto* integer = std::get_if<std::int64_t>(&value))
        sqlite3_bind_int64(handle, index, *integer);
    else if (const auto* real = std::get_if<double>(&value))
        sqlite3_bind_double(handle, index, *real);                     // NaN becomes NULL
    else if (const auto* text = std::get_if<std::string_view>(&value)) // no destructor: the text is not copied
        sqlite3_bind_text64(handle, index, text->empty() ? "" : text->data(), text->size(), nullptr, SQLITE_UTF8);
    else
        sqlite3_bind_null(handle, index);
}

void Statement::bind(std::initializer_list<SqlValue> values)
{
    int index = 0;
    for (const auto& value : values)
        bind(++index, value);
}

Result<bool> Statement::step()
{
    const int code = sqlite3_step(m_handle.get());
    if (code == SQLITE_ROW)
        return true;
    if (code == SQLITE_DONE)
        return false;
    return m_database->lastError();
}

void Statement::reset()
{
    sqlite3_reset(m_handle.get());
}

void Database::Close::operator()(sqlite3* handle) const
{
    sqlite3_close_v2(handle);
}

Result<Database> Database::open(const std::filesystem::path& path, SqlAccess access, int busyMilliseconds, const char* vfs)
{
    sqlite3* handle = nullptr;
    const int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                      (access == SqlAccess::Create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY);
    const int code = sqlite3_open_v2(uriOf(path, access == SqlAccess::Immutable ? "?immutable=1" : "").c_str(), &handle, flags, vfs);
    Database database(path, handle);
    if (handle == nullptr)
        return errorOf(code, path, "out of memory");
    if (code != SQLITE_OK)
        return errorOf(code, path, sqlite3_errmsg(handle));
    sqlite3_busy_timeout(handle, busyMilliseconds);
    // A file from elsewhere must not run functions from its schema, and keeps its cells checked while it is read.
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    return database;
}

Error Database::lastError()
{
    const int code = sqlite3_errcode(m_handle.get()) & 0xff;
    m_damaged = m_damaged || code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
    m_refused = code == SQLITE_CANTOPEN || code == SQLITE_READONLY || code == SQLITE_PERM;
    return errorOf(code, m_path, sqlite3_errmsg(m_handle.get()));
}

Result<Statement> Database::prepare(std::string_view sql)
{
    sqlite3_stmt* handle = nullptr;
    if (sqlite3_prepare_v2(m_handle.get(), sql.data(), static_cast<int>(sql.size()), &handle, nullptr) != SQLITE_OK)
        return lastError();
    return Statement(*this, handle);
}

std::optional<Error> Database::each(std::string_view sql, std::initializer_list<SqlValue> values,
                                    const std::function<void(const SqlRow&)>& take)
{
    auto statement = prepare(sql);
    if (!statement)
        return statement.error();
    statement->bind(values);
    while (true) {
        const auto more = statement->step();
        if (!more)
            return more.error();
        if (!*more)
            return {};
        take(statement->row());
    }
}

std::optional<Error> Database::run(std::string_view sql, std::initializer_list<SqlValue> values)
{
    return each(sql, values, [](const SqlRow&) {});
}

std::optional<Error> Database::script(std::string_view sql)
{
    if (sqlite3_exec(m_handle.get(), std::string(sql).c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        return lastError();
    return {};
}

Result<std::optional<std::int64_t>> Database::integer(std::string_view sql, std::initializer_list<SqlValue> values)
{
    std::optional<std::int64_t> found;
    const auto take = [&](const SqlRow& row) {
        if (!found && !row.isNull(0))
            found = row.integer(0);
    };
    if (auto problem = each(sql, values, take))
        return *problem;
    return found;
}

Result<std::optional<std::string>> Database::text(std::string_view sql, std::initializer_list<SqlValue> values)
{
    std::optional<std::string> found;
    const auto take = [&](const SqlRow& row) {
        if (!found && !row.isNull(0))
            found = row.text(0);
    };
    if (auto problem = each(sql, values, take))
        return *problem;
    return found;
}

std::int64_t Database::lastRow() const
{
    return sqlite3_last_insert_rowid(m_handle.get());
}

std::int64_t Database::changedRows() const
{
    return sqlite3_changes64(m_handle.get());
}

bool Database::onlyReadable() const
{
    return sqlite3_db_readonly(m_handle.get(), "main") != 0;
}

Result<Transaction> Transaction::begin(Database& database)
{
    if (auto problem = database.run("BEGIN IMMEDIATE"))
        return *problem;
    return Transaction(database);
}

Transaction::~Transaction()
{
    // A failed statement may have rolled back already.
    if (m_database != nullptr && sqlite3_get_autocommit(m_database->handle()) == 0)
        sqlite3_exec(m_database->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

std::optional<Error> Transaction::commit()
{
    if (auto problem = m_database->run("COMMIT"))
        return problem; // the destructor rolls back
    m_database = nullptr;
    return {};
}

} // namespace loadline
