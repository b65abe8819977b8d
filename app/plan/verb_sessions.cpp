// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plan/stored.hpp"
#include "app/plan/table.hpp"

#include "core/base/json.hpp"
#include "core/base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>

namespace loadline {
namespace {

std::string orDash(const std::optional<std::string>& text)
{
    return text.value_or("-");
}

std::string budgetText(const SessionRow& row)
{
    return orDash(row.budget ? std::optional(formatBytes(*row.budget)) : std::nullopt);
}
std::string stepText(const SessionRow& row)
{
    return orDash(row.step ? std::optional(formatSeconds(*row.step)) : std::nullopt);
}
std::string errorText(const SessionRow& row)
{
    return orDash(row.measuredError ? std::optional(fmt::format("{:+.1f} %", *row.measuredError * 100)) : std::nullopt);
}

template <class T, class Get>
Json numberOrNull(const std::optional<T>& value, Get get)
{
    return value ? Json(get(*value)) : Json(nullptr);
}
Json json(const std::optional<Bytes>& bytes)
{
    return numberOrNull(bytes, [](Bytes value) { return value.count(); });
}
Json json(const std::optional<Seconds>& seconds)
{
    return numberOrNull(seconds, [](Seconds value) { return value.value(); });
}

Json rowJson(const SessionRow& row)
{
    return {{"id", row.id},
            {"name", row.name},
            {"model", row.model},
            {"cluster", row.cluster},
            {"budget_bytes", json(row.budget)},
            {"step_seconds", json(row.step)},
            {"measured_error", numberOrNull(row.measuredError, [](double value) { return value; })},
            {"created", dateText(row.created)},
            {"modified", dateText(row.modified)},
            {"tags", row.tags},
            {"notes", row.notes}};
}

Json runJson(const RunRecord& run)
{
    return {{"id", run.id},
            {"kind", run.kind == RunRecord::Kind::Imported ? "imported" : "verification"},
            {"started", dateText(run.started)},
            {"ranks", run.ranks},
            {"outcome", run.outcome},
            {"why", run.why},
            {"step_seconds", {{"predicted", json(run.predictedStep)}, {"measured", json(run.measuredStep)}}},
            {"peak_bytes", {{"predicted", json(run.predictedPeak)}, {"measured", json(run.measuredPeak)}}}};
}

std::string dumped(const Json& document)
{
    return document.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

Answer listAnswer(const std::vector<SessionRow>& rows, const std::string& path, bool asJson)
{
    Answer answer;
    if (asJson) {
        Json document{{"format", "loadline.sessions/1"}, {"store", path}, {"sessions", Json::array()}};
        for (const auto& row : rows)
            document["sessions"].push_back(rowJson(row));
        answer.text = dumped(document);
        return answer;
    }
    if (rows.empty()) {
        answer.text = fmt::format("No such sessions in '{}'. 'plan --save NAME' makes one.\n", path);
        return answer;
    }
    using Align = TextTable::Align;
    TextTable table({{"name", Align::Left},
                     {"id", Align::Right},
                     {"model", Align::Left},
                     {"cluster", Align::Left},
                     {"budget", Align::Right},
                     {"step", Align::Right},
                     {"measured", Align::Right},
                     {"changed", Align::Left},
                     {"tags", Align::Left}});
    for (const auto& row : rows)
        table.add({row.name, std::to_string(row.id), row.model, row.cluster, budgetText(row), stepText(row), errorText(row),
                   dateText(row.modified).substr(0, 10), fmt::format("{}", fmt::join(row.tags, " "))});
    answer.text = table.text("");
    return answer;
}

/// What an action works on.
struct Job {
    const Arguments& arguments;
    Store& store;
    std::vector<std::string> words; ///< after the action
    SessionId session = 0;          ///< of the first word, where the action has one
};

Result<Answer> list(const Job& job)
{
    const auto rows = job.store.sessions(
        {.words = job.arguments.filter, .tag = job.arguments.tag, .removed = job.arguments.removed, .most = std::nullopt});
    if (!rows)
        return rows.error();
    return listAnswer(*rows, job.store.path().string(), job.arguments.json);
}

std::string showText(const SessionRow& row, const std::vector<RunRecord>& runs)
{
    std::string text = fmt::format("session {} '{}'\n", row.id, row.name);
    const auto line = [&](std::string_view what, const std::string& value) { text += fmt::format("  {}: {}\n", what, value); };
    line("model", row.model);
    line("cluster", row.cluster);
    line("budget", budgetText(row));
    line("step", stepText(row));
    line("measured error", errorText(row));
    line("made", dateText(row.created) + " UTC");
    line("changed", dateText(row.modified) + " UTC");
    line("tags", fmt::format("{}", fmt::join(row.tags, " ")));
    if (!row.notes.empty())
        line("notes", row.notes);
    if (runs.empty())
        return text + "No runs.\n";
    using Align = TextTable::Align;
    TextTable table({{"run", Align::Right},
                     {"kind", Align::Left},
                     {"started", Align::Left},
                     {"ranks", Align::Right},
                     {"outcome", Align::Left},
                     {"predicted", Align::Right},
                     {"measured", Align::Right}});
    const auto seconds = [](const std::optional<Seconds>& value) { return value ? formatSeconds(*value) : std::string("-"); };
    for (const auto& run : runs)
        table.add({std::to_string(run.id), run.kind == RunRecord::Kind::Imported ? "imported" : "verification", dateText(run.started),
                   std::to_string(run.ranks), run.outcome.empty() ? "not ended" : run.outcome, seconds(run.predictedStep),
                   seconds(run.measuredStep)});
    return text + table.text();
}

Result<Answer> show(const Job& job)
{
    const auto session = job.store.session(job.session);
    if (!session)
        return session.error();
    const auto runs = job.store.runs(job.session);
    if (!runs)
        return runs.error();
    Answer answer;
    if (!job.arguments.output.empty()) {
        if (session->plan.empty())
            return invalidInput(fmt::format("session '{}' has no plan yet, so there is nothing to write", session->row.name));
        if (auto problem = writeOutput(job.arguments, session->plan))
            return *problem;
        answer.words.push_back(fmt::format("the plan is saved in '{}'", job.arguments.output));
    }
    if (!job.arguments.json) {
        answer.text = showText(session->row, *runs);
        return answer;
    }
    Json document{{"format", "loadline.session/1"}};
    document.update(rowJson(session->row));
    const auto part = [](const std::string& text) {
        auto parsed = Json::parse(text, nullptr, false);
        return parsed.is_discarded() ? Json(nullptr) : parsed;
    };
    document["options"] = part(session->options);
    document["plan"] = part(session->plan);
    document["runs"] = Json::array();
    for (const auto& run : *runs)
        document["runs"].push_back(runJson(run));
    answer.text = dumped(document);
    return answer;
}

/// A change that has nothing to print but that it was made.
Result<Answer> done(const std::optional<Error>& problem, const std::string& sentence, const Job& job)
{
    if (problem)
        return *problem;
    Answer answer;
    answer.text = job.arguments.json ? dumped({{"format", "loadline.sessions.change/1"}, {"done", sentence}}) : sentence + ".\n";
    return answer;
}

Result<Answer> changeTags(const Job& job, bool add)
{
    const auto session = job.store.session(job.session);
    if (!session)
        return session.error();
    auto tags = session->row.tags;
    for (std::size_t i = 1; i < job.words.size(); ++i) {
        std::erase(tags, job.words[i]);
        if (add)
            tags.push_back(job.words[i]);
    }
    const auto problem = job.store.setTags(job.session, tags, unixNow());
    return done(problem,
                fmt::format("session {} has the tags: {}", job.session, tags.empty() ? "none" : fmt::format("{}", fmt::join(tags, " "))),
                job);
}

Result<Answer> tag(const Job& job)
{
    return changeTags(job, true);
}
Result<Answer> untag(const Job& job)
{
    return changeTags(job, false);
}
Result<Answer> note(const Job& job)
{
    return done(job.store.setNotes(job.session, job.words[1], unixNow()), fmt::format("session {} has the note", job.session), job);
}
Result<Answer> rename(const Job& job)
{
    return done(job.store.renameSession(job.session, job.words[1], unixNow()),
                fmt::format("session {} is named '{}'", job.session, job.words[1]), job);
}
Result<Answer> duplicate(const Job& job)
{
    const auto copy = job.store.duplicateSession(job.session, job.words[1], unixNow());
    if (!copy)
        return copy.error();
    return done({}, fmt::format("session {} '{}' is a copy of session {}", *copy, job.words[1], job.session), job);
}
Result<Answer> remove(const Job& job)
{
    return done(job.store.removeSession(job.session, unixNow()),
                fmt::format("session {} is deleted; 'sessions restore {}' brings it back", job.session, job.session), job);
}
Result<Answer> restore(const Job& job)
{
    return done(job.store.restoreSession(job.session), fmt::format("session {} is back", job.session), job);
}
Result<Answer> backup(const Job& job)
{
    return done(job.store.backup(job.words[0]), fmt::format("the store is copied to '{}'", job.words[0]), job);
}

Result<Answer> check(const Job& job)
{
    const auto wrong = job.store.check();
    if (!wrong)
        return wrong.error();
    Answer answer;
    answer.code = wrong->empty() ? kAnswered : kNothingFits;
    const auto path = job.store.path().string();
    if (job.arguments.json) {
        answer.text = dumped({{"format", "loadline.sessions.check/1"}, {"store", path}, {"holds", wrong->empty()}, {"wrong", *wrong}});
        return answer;
    }
    answer.text = wrong->empty() ? fmt::format("'{}' is whole.\n", path) : fmt::format("'{}' is damaged:\n", path);
    for (const auto& line : *wrong)
        answer.text += "- " + line + '\n';
    return answer;
}

struct Action {
    std::string_view name;
    std::size_t least; ///< words after it
    std::size_t most;
    std::string_view operands; ///< as they are written
    bool onSession;            ///< its first word names one
    Result<Answer> (*run)(const Job&);
};
constexpr std::array kActions{
    Action{"list", 0, 0, "", false, list},
    Action{"show", 1, 1, "SESSION", true, show},
    Action{"tag", 2, 100, "SESSION TAG...", true, tag},
    Action{"untag", 2, 100, "SESSION TAG...", true, untag},
    Action{"note", 2, 2, "SESSION TEXT", true, note},
    Action{"rename", 2, 2, "SESSION NAME", true, rename},
    Action{"duplicate", 2, 2, "SESSION NAME", true, duplicate},
    Action{"delete", 1, 1, "SESSION", true, remove},
    Action{"restore", 1, 1, "SESSION", true, restore},
    Action{"check", 0, 0, "", false, check},
    Action{"backup", 1, 1, "FILE", false, backup},
};

} // namespace

Result<Answer> runSessions(const Arguments& arguments)
{
    const std::string name = arguments.files.empty() ? std::string("list") : arguments.files.front();
    const auto action = std::find_if(kActions.begin(), kActions.end(), [&](const Action& known) { return known.name == name; });
    if (action == kActions.end()) {
        return invalidInput(fmt::format("sessions cannot '{}'; say list, show, tag, untag, note, rename, duplicate, delete, restore, check "
                                        "or backup",
                                        name.substr(0, 40)));
    }
    const std::vector<std::string> words(arguments.files.begin() + (arguments.files.empty() ? 0 : 1), arguments.files.end());
    if (words.size() < action->least || words.size() > action->most)
        return invalidInput(
            fmt::format("sessions {0} is written 'sessions {0}{1}{2}'", name, action->operands.empty() ? "" : " ", action->operands));
    const auto path = storePath(arguments);
    if (!path)
        return path.error();
    std::error_code none;
    if (!std::filesystem::exists(*path, none)) { // looking makes no file
        if (name == "list")
            return listAnswer({}, *path, arguments.json);
        return notFound(fmt::format("'{}' is not there; 'plan --save NAME' makes it, --store FILE names another", *path));
    }
    std::vector<std::string> notices;
    auto store = openStore(arguments, notices);
    if (!store)
        return store.error();
    Job job{arguments, *store, words, 0};
    if (action->onSession) {
        const auto session = store->findSession(words.front());
        if (!session)
            return session.error();
        job.session = *session;
    }
    auto answer = action->run(job);
    if (answer)
        answer->words.insert(answer->words.begin(), notices.begin(), notices.end());
    return answer;
}

} // namespace loadline
