// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plan/stored.hpp"

#include "core/cluster/library.hpp"
#include "core/exchange/options_json.hpp"
#include "core/model/format.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace loadline {
namespace {

std::string environment(const char* name)
{
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

} // namespace

Result<std::string> storePath(const Arguments& arguments)
{
    if (!arguments.store.empty())
        return arguments.store;
    if (auto file = environment("LOADLINE_STORE"); !file.empty())
        return file;
    if (const auto data = environment("XDG_DATA_HOME"); !data.empty())
        return data + "/loadline/loadline.db";
    if (const auto home = environment("HOME"); !home.empty())
        return home + "/.local/share/loadline/loadline.db";
    return invalidInput("neither HOME nor XDG_DATA_HOME is set, so there is no place for sessions; give --store FILE");
}

Result<Store> openStore(const Arguments& arguments, std::vector<std::string>& words)
{
    const auto path = storePath(arguments);
    if (!path)
        return path.error();
    auto store = Store::open(*path);
    if (store)
        words.insert(words.end(), store->notices().begin(), store->notices().end());
    return store;
}

Result<SavedPlan> loadPlanOrSession(const std::string& fileOrSession, const Arguments& arguments, std::vector<std::string>& words,
                                    SessionId* found)
{
    std::error_code none;
    if (std::filesystem::exists(fileOrSession, none))
        return loadPlan(fileOrSession);
    const auto path = storePath(arguments);
    if (!path)
        return path.error();
    const auto nowhere = [&] { return notFound(fmt::format("'{}' is neither a file nor a session in '{}'", fileOrSession, *path)); };
    if (!std::filesystem::exists(*path, none))
        return nowhere();
    auto store = openStore(arguments, words);
    if (!store)
        return store.error();
    const auto id = store->findSession(fileOrSession);
    if (!id)
        return id.error().code == ErrorCode::NotFound ? nowhere() : id.error();
    const auto session = store->session(*id);
    if (!session)
        return session.error();
    if (session->plan.empty())
        return invalidInput(fmt::format("session '{}' has no plan yet; plan it first", fileOrSession));
    if (found != nullptr)
        *found = *id;
    return readPlan(session->plan, fmt::format("session '{}'", fileOrSession));
}

Result<std::string> saveAsSession(const Arguments& arguments, const PlanDocument& document, std::vector<std::string>& words)
{
    auto store = openStore(arguments, words);
    if (!store)
        return store.error();
    SessionRecord session;
    const auto known = store->findSession(arguments.save);
    if (!known && known.error().code != ErrorCode::NotFound)
        return known.error();
    if (known) {
        auto stored = store->session(*known);
        if (!stored)
            return stored.error();
        session = std::move(stored).value();
    } else {
        session.row.name = arguments.save;
        session.row.created = unixNow();
    }
    session.row.model = document.provenance.model;
    session.row.cluster = document.provenance.cluster;
    session.row.budget = document.outcome.budget;
    session.row.step = document.outcome.plan ? std::optional(document.outcome.plan->objective) : std::nullopt;
    session.row.modified = unixNow();
    session.options = requestOptionsJson(arguments.request, document.outcome.budget);
    session.model = writeModel(*document.setup.model);
    session.cluster = writeCluster(document.setup.cluster);
    session.plan = planJson(document);
    if (auto problem = store->saveSession(session))
        return *problem;
    return fmt::format("session {} '{}' is {} in '{}'", session.row.id, session.row.name, known ? "changed" : "saved",
                       store->path().string());
}

Result<std::string> saveImportedRun(const Arguments& arguments, RunRecord run, const std::vector<StepMetric>& metrics)
{
    std::vector<std::string> words; // the session was read a moment ago: what the opening had to say is said
    auto store = openStore(arguments, words);
    if (!store)
        return store.error();
    const auto outcome = std::exchange(run.outcome, {}); // a run without an outcome has not all its metrics yet
    const auto id = store->addRun(run);
    if (!id)
        return id.error();
    if (auto problem = store->addMetrics(*id, metrics))
        return *problem;
    run.id = *id;
    run.outcome = outcome;
    if (auto problem = store->updateRun(run))
        return *problem;
    return fmt::format("run {} is kept with session {} in '{}'", *id, run.session, store->path().string());
}

UnixTime unixNow()
{
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string dateText(UnixTime time)
{
    namespace chrono = std::chrono;
    const chrono::sys_seconds point{chrono::seconds(time)};
    const auto day = chrono::floor<chrono::days>(point);
    const chrono::year_month_day date(day);
    const auto minutes = chrono::duration_cast<chrono::minutes>(point - day).count();
    return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                       static_cast<unsigned>(date.day()), minutes / 60, minutes % 60);
}

} // namespace loadline
