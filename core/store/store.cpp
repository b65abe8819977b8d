// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/store/store.hpp"

#include "core/store/opening.hpp"
#include "core/store/schema.hpp"

#include <fmt/format.h>

#include <system_error>

namespace loadline {

Store::Store(std::unique_ptr<Database> database, bool readOnly, std::vector<std::string> notices)
    : m_database(std::move(database)), m_readOnly(readOnly), m_notices(std::move(notices))
{
}

Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::filesystem::path& path, const StoreOptions& options)
{
    auto opened = openStoreFile(path, options, schemaSteps());
    if (!opened)
        return opened.error();
    Store store(std::make_unique<Database>(std::move(opened->database)), opened->readOnly, std::move(opened->notices));
    if (const auto seen = store.changedElsewhere(); !seen)
        return seen.error();
    return store;
}

const std::filesystem::path& Store::path() const
{
    return m_database->path();
}

std::optional<Error> Store::mayWrite() const
{
    if (!m_readOnly)
        return {};
    return unsupported(fmt::format("'{}' is open for reading only; use another file to keep changes", path().string()));
}

Result<bool> Store::changedElsewhere()
{
    const auto version = m_database->integer("PRAGMA data_version");
    if (!version)
        return version.error();
    const bool changed = version->value_or(0) != m_seenVersion;
    m_seenVersion = version->value_or(0);
    return changed;
}

Result<std::vector<std::string>> Store::check()
{
    std::vector<std::string> wrong;
    const auto line = [&](const SqlRow& row) {
        if (auto text = row.text(0); text != "ok")
            wrong.push_back(std::move(text));
    };
    if (auto problem = m_database->each("PRAGMA integrity_check(20)", {}, line)) {
        if (!m_database->damaged())
            return *problem;
        wrong.push_back(problem->message);
    }
    const auto dangling = [&](const SqlRow& row) {
        wrong.push_back(
            fmt::format("row {} of table {} belongs to a row of {} that is not there", row.integer(1), row.text(0), row.text(2)));
    };
    if (auto problem = m_database->each("PRAGMA foreign_key_check", {}, dangling)) {
        if (!m_database->damaged())
            return *problem;
        wrong.push_back(problem->message);
    }
    return wrong;
}

std::optional<Error> Store::backup(const std::filesystem::path& target)
{
    return copyDatabase(*m_database, target, nullptr);
}

// --- frontiers ----------------------------------------------------------------------------------------------------

std::optional<Error> Store::saveFrontier(SessionId session, const FrontierRecord& frontier)
{
    if (auto problem = mayWrite())
        return problem;
    const auto there = m_database->integer("SELECT id FROM sessions WHERE id = ?", {session});
    if (!there)
        return there.error();
    if (!*there)
        return notFound(fmt::format("session {} is not in '{}'; it was deleted for good", session, path().string()));
    return m_database->run("INSERT INTO frontiers (session, label, document) VALUES (?, ?, ?) "
                           "ON CONFLICT (session, label) DO UPDATE SET document = excluded.document",
                           {session, frontier.label, frontier.document});
}

Result<std::vector<FrontierRecord>> Store::frontiers(SessionId session)
{
    std::vector<FrontierRecord> found;
    const auto take = [&](const SqlRow& row) { found.push_back({row.text(0), row.text(1)}); };
    if (auto problem = m_database->each("SELECT label, document FROM frontiers WHERE session = ? ORDER BY label", {session}, take))
        return *problem;
    return found;
}

// --- profiles -----------------------------------------------------------------------------------------------------

namespace {

ProfileRecord profileOf(const SqlRow& row)
{
    ProfileRecord profile;
    profile.id = row.integer(0);
    profile.kind = row.text(1) == "links" ? ProfileRecord::Kind::Links : ProfileRecord::Kind::Times;
    profile.device = row.text(2);
    profile.driver = row.text(3);
    profile.versions = row.text(4);
    profile.measured = row.integer(5);
    return profile;
}

} // namespace

Result<std::int64_t> Store::addProfile(const ProfileRecord& profile)
{
    if (auto problem = mayWrite())
        return *problem;
    const std::string_view kind = profile.kind == ProfileRecord::Kind::Links ? "links" : "times";
    if (auto problem =
            m_database->run("INSERT INTO profiles (kind, device, driver, versions, measured, document) VALUES (?, ?, ?, ?, ?, ?)",
                            {kind, profile.device, profile.driver, profile.versions, profile.measured, profile.document}))
        return *problem;
    return m_database->lastRow();
}

Result<std::vector<ProfileRecord>> Store::profiles()
{
    std::vector<ProfileRecord> found;
    const auto take = [&](const SqlRow& row) { found.push_back(profileOf(row)); };
    if (auto problem =
            m_database->each("SELECT id, kind, device, driver, versions, measured FROM profiles ORDER BY measured DESC, id DESC", {}, take))
        return *problem;
    return found;
}

Result<ProfileRecord> Store::profile(std::int64_t id)
{
    std::optional<ProfileRecord> found;
    const auto take = [&](const SqlRow& row) {
        found = profileOf(row);
        found->document = row.text(6);
    };
    if (auto problem =
            m_database->each("SELECT id, kind, device, driver, versions, measured, document FROM profiles WHERE id = ?", {id}, take))
        return *problem;
    if (!found)
        return notFound(fmt::format("profile {} is not in '{}'; list the profiles for their numbers", id, path().string()));
    return *found;
}

} // namespace loadline
