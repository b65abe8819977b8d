// SPDX-License-Identifier: GPL-3.0-or-later
// Runs and what each of their steps reported.
#include "core/store/documents.hpp"
#include "core/store/sql_fields.hpp"
#include "core/store/store.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace loadline {
namespace {

constexpr std::string_view kListed =
    "SELECT id, session, kind, started, ranks, outcome, why, predicted_step, measured_step, predicted_peak, "
    "measured_peak, result, plan_document FROM runs ";

RunRecord runOf(const SqlRow& row)
{
    RunRecord run;
    run.id = row.integer(0);
    run.session = row.integer(1);
    run.kind = row.text(2) == "imported" ? RunRecord::Kind::Imported : RunRecord::Kind::Verification;
    run.started = row.integer(3);
    run.ranks = row.integer(4);
    run.outcome = row.text(5);
    run.why = row.text(6);
    run.predictedStep = secondsAt(row, 7);
    run.measuredStep = secondsAt(row, 8);
    run.predictedPeak = bytesAt(row, 9);
    run.measuredPeak = bytesAt(row, 10);
    return run;
}

/// A session shows the error of its newest run that was measured.
std::optional<Error> followMeasuredError(Database& database, SessionId session)
{
    return database.run("UPDATE sessions SET measured_error = (SELECT (measured_step - predicted_step) / predicted_step FROM runs "
                        "WHERE session = ?1 AND measured_step IS NOT NULL AND predicted_step > 0 ORDER BY started DESC, id DESC LIMIT 1) "
                        "WHERE id = ?1",
                        {session});
}

std::optional<Error> noRun(RunId id, const Database& database)
{
    return notFound(fmt::format("run {} is not in '{}'; list the session's runs for their numbers", id, database.path().string()));
}

double realOrNan(const SqlRow& row, int column)
{
    return row.isNull(column) ? std::numeric_limits<double>::quiet_NaN() : row.real(column);
}

} // namespace

Result<RunId> Store::addRun(const RunRecord& run)
{
    if (auto problem = mayWrite())
        return *problem;
    auto transaction = Transaction::begin(*m_database);
    if (!transaction)
        return transaction.error();
    const auto session = m_database->integer("SELECT id FROM sessions WHERE id = ?", {run.session});
    if (!session)
        return session.error();
    if (!*session)
        return notFound(fmt::format("session {} is not in '{}'; save it before its runs", run.session, path().string()));
    const auto plan = keepDocument(*m_database, "plan", run.plan);
    if (!plan)
        return plan.error();
    const std::string_view kind = run.kind == RunRecord::Kind::Imported ? "imported" : "verification";
    if (auto problem = m_database->run(
            "INSERT INTO runs (session, kind, started, ranks, outcome, why, predicted_step, measured_step, predicted_peak, measured_peak, "
            "plan_document, result) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            {run.session, kind, run.started, run.ranks, run.outcome, run.why, valueOf(run.predictedStep), valueOf(run.measuredStep),
             valueOf(run.predictedPeak), valueOf(run.measuredPeak), valueOf(*plan), run.result}))
        return *problem;
    const auto id = m_database->lastRow();
    if (auto problem = followMeasuredError(*m_database, run.session))
        return *problem;
    if (auto problem = transaction->commit())
        return *problem;
    return id;
}

std::optional<Error> Store::updateRun(const RunRecord& run)
{
    if (auto problem = mayWrite())
        return problem;
    auto transaction = Transaction::begin(*m_database);
    if (!transaction)
        return transaction.error();
    const auto session = m_database->integer("SELECT session FROM runs WHERE id = ?", {run.id});
    if (!session)
        return session.error();
    if (!*session)
        return noRun(run.id, *m_database);
    const auto plan = keepDocument(*m_database, "plan", run.plan);
    if (!plan)
        return plan.error();
    if (auto problem =
            m_database->run("UPDATE runs SET started = ?, ranks = ?, outcome = ?, why = ?, predicted_step = ?, measured_step = ?, "
                            "predicted_peak = ?, measured_peak = ?, plan_document = ?, result = ? WHERE id = ?",
                            {run.started, run.ranks, run.outcome, run.why, valueOf(run.predictedStep), valueOf(run.measuredStep),
                             valueOf(run.predictedPeak), valueOf(run.measuredPeak), valueOf(*plan), run.result, run.id}))
        return problem;
    if (auto problem = followMeasuredError(*m_database, **session))
        return problem;
    if (auto problem = dropUnusedDocuments(*m_database))
        return problem;
    return transaction->commit();
}

Result<std::vector<RunRecord>> Store::runs(SessionId session)
{
    std::vector<RunRecord> found;
    const auto take = [&](const SqlRow& row) { found.push_back(runOf(row)); };
    if (auto problem = m_database->each(std::string(kListed) + "WHERE session = ? ORDER BY started DESC, id DESC", {session}, take))
        return *problem;
    return found;
}

Result<RunRecord> Store::run(RunId id)
{
    std::optional<RunRecord> found;
    std::optional<std::int64_t> plan;
    const auto take = [&](const SqlRow& row) {
        found = runOf(row);
        found->result = row.text(11);
        if (!row.isNull(12))
            plan = row.integer(12);
    };
    if (auto problem = m_database->each(std::string(kListed) + "WHERE id = ?", {id}, take))
        return *problem;
    if (!found)
        return *noRun(id, *m_database);
    auto text = documentText(*m_database, plan);
    if (!text)
        return text.error();
    found->plan = std::move(text).value();
    return *found;
}

std::optional<Error> Store::removeRun(RunId id)
{
    if (auto problem = mayWrite())
        return problem;
    auto transaction = Transaction::begin(*m_database);
    if (!transaction)
        return transaction.error();
    const auto session = m_database->integer("SELECT session FROM runs WHERE id = ?", {id});
    if (!session)
        return session.error();
    if (!*session)
        return noRun(id, *m_database);
    if (auto problem = m_database->run("DELETE FROM runs WHERE id = ?", {id}))
        return problem;
    if (auto problem = followMeasuredError(*m_database, **session))
        return problem;
    if (auto problem = dropUnusedDocuments(*m_database))
        return problem;
    return transaction->commit();
}

std::optional<Error> Store::addMetrics(RunId run, std::span<const StepMetric> metrics)
{
    if (auto problem = mayWrite())
        return problem;
    auto transaction = Transaction::begin(*m_database);
    if (!transaction)
        return transaction.error();
    const auto there = m_database->integer("SELECT id FROM runs WHERE id = ?", {run});
    if (!there)
        return there.error();
    if (!*there)
        return noRun(run, *m_database);
    {
        auto insert = m_database->prepare("INSERT OR REPLACE INTO step_metrics VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        if (!insert)
            return insert.error();
        for (const auto& m : metrics) {
            insert->bind({run, m.step, m.rank, m.loss, m.seconds.value(), m.forward.value(), m.backward.value(), m.optimizer.value(),
                          m.exposed.value(), m.peak.count(), m.reserved.count(), m.allGather.count(), m.reduceScatter.count(),
                          m.allReduce.count()});
            if (const auto stored = insert->step(); !stored)
                return stored.error();
            insert->reset();
        }
    }
    return transaction->commit();
}

Result<std::vector<StepMetric>> Store::metrics(RunId run, std::int64_t rank)
{
    std::vector<StepMetric> found;
    const auto take = [&](const SqlRow& row) {
        const auto seconds = [&](int column) { return Seconds(realOrNan(row, column)); };
        const auto bytes = [&](int column) { return Bytes(row.integer(column)); };
        found.push_back({row.integer(0), row.integer(1), realOrNan(row, 2), seconds(3), seconds(4), seconds(5), seconds(6), seconds(7),
                         bytes(8), bytes(9), bytes(10), bytes(11), bytes(12)});
    };
    if (auto problem = m_database->each("SELECT step, rank, loss, seconds, forward, backward, optimizer, exposed, peak, reserved, "
                                        "all_gather, reduce_scatter, all_reduce FROM step_metrics "
                                        "WHERE run = ?1 AND (?2 < 0 OR rank = ?2) ORDER BY step, rank",
                                        {run, rank}, take))
        return *problem;
    return found;
}

} // namespace loadline
