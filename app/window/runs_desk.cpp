// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/runs_desk.hpp"

#include "app/session/documents.hpp"
#include "app/window/session_desk.hpp"
#include "core/base/json.hpp"
#include "core/export/bundle.hpp"
#include "core/export/run_check.hpp"
#include "views/charts/bar_rows.hpp"
#include "views/charts/measured_memory_chart.hpp"
#include "views/format/text.hpp"
#include "views/pages/run_page.hpp"
#include "views/pages/runs_table.hpp"
#include "views/panels/work_row.hpp"

#include <QDateTime>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <utility>

namespace loadline {
namespace {

constexpr std::size_t kHead = 4096;

enum class FileKind { Other, Run, Snapshot };

FileKind kindOf(const QString& file)
{
    std::ifstream in(file.toStdString(), std::ios::binary);
    std::string head(kHead, '\0');
    in.read(head.data(), static_cast<std::streamsize>(kHead));
    head.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
    if (head.starts_with('\x80'))
        return FileKind::Snapshot;
    return head.find("\"loadline-run\"") != std::string::npos ? FileKind::Run : FileKind::Other;
}

/// What a bundle does not measure is NaN, which the store keeps as "not said".
std::vector<StepMetric> metricsOf(const RunLog& log)
{
    const Seconds notSaid(std::numeric_limits<double>::quiet_NaN());
    std::vector<StepMetric> metrics;
    metrics.reserve(log.rows.size());
    for (const RunRow& row : log.rows)
        metrics.push_back({row.step, row.rank, row.loss, row.seconds, notSaid, notSaid, notSaid, notSaid,
                           row.peakAllocated.value_or(Bytes()), row.peakReserved.value_or(Bytes()), row.allGather, row.reduceScatter,
                           row.allReduce});
    return metrics;
}

RunRecord recordOf(const RunCheck& check, const RunLog& log, const PlanDocument& document)
{
    RunRecord run;
    run.kind = RunRecord::Kind::Imported;
    run.started = QDateTime::currentSecsSinceEpoch();
    run.ranks = log.ranks;
    run.outcome = log.finished ? "done" : "failed";
    run.why = log.finished ? "" : "the lines end before the last step";
    run.predictedStep = check.predictedSeconds;
    run.measuredStep = check.seconds;
    run.predictedPeak = check.predictedAllocated;
    run.measuredPeak = check.allocated;
    run.plan = planJson(document);
    run.result = runCheckJson(check, log);
    return run;
}

WorkerStep stepOf(const StepMetric& metric)
{
    const auto known = [](Seconds value) { return value.value() == value.value() ? value : Seconds(); };
    return {static_cast<int>(metric.rank),
            metric.step,
            metric.loss,
            known(metric.seconds),
            known(metric.forward),
            known(metric.backward),
            known(metric.optimizer),
            known(metric.exposed),
            metric.peak,
            metric.reserved,
            {metric.allGather, metric.reduceScatter, metric.allReduce}};
}

std::shared_ptr<const RunComparison> compared(const Plan& plan, const std::vector<StepMetric>& metrics)
{
    RunTrace trace;
    for (const StepMetric& metric : metrics)
        trace.steps.push_back(stepOf(metric));
    return std::make_shared<const RunComparison>(compareRun(plan.table, plan.choice, trace, verdictBounds(plan.table.setup)));
}

QStringList outliersOf(const RunCheck& check)
{
    QStringList words;
    for (const RankResult& rank : check.ranks) {
        for (const std::string& outlier : rank.outliers)
            words << text(outlier);
    }
    for (const std::string& note : check.notes)
        words << text(note);
    return words;
}

RunLine lineOf(const KeptRun& kept)
{
    const RunRecord& run = kept.record;
    const RunSettings& settings = kept.settings;
    RunLine line;
    line.id = run.id;
    line.started = run.started;
    line.imported = run.kind == RunRecord::Kind::Imported;
    line.outcome = run.outcome.empty() ? RunsDesk::tr("not ended") : text(run.outcome).replace(QLatin1Char('_'), QLatin1Char(' '));
    line.ranks = run.ranks;
    line.predictedStep = run.predictedStep;
    line.measuredStep = run.measuredStep;
    line.predictedPeak = run.predictedPeak;
    line.measuredPeak = run.measuredPeak;
    line.model = text(settings.model);
    line.cluster = text(settings.cluster);
    line.budget = settings.budget;
    line.settings = RunsDesk::tr("%1 \u00d7 %2, %3 tokens, %4, %5")
                        .arg(settings.batch)
                        .arg(settings.accumulation)
                        .arg(settings.sequence)
                        .arg(text(settings.precision), text(settings.runtime));
    return line;
}

} // namespace

RunsDesk::RunsDesk(Session* session, RunPage* page, QObject* parent)
    : QObject(parent), m_session(session), m_page(page), m_slot(new WorkSlot(this))
{
}

void RunsDesk::keepWith(SessionDesk* sessions)
{
    m_sessions = sessions;
    Keeper* keeper = &sessions->keeper();
    connect(keeper, &Keeper::saved, this, [this](const SessionRow& row) {
        if (std::exchange(m_listed, row.id) != row.id) // a new session; saving alone changes no run
            list();
    });
    connect(keeper, &Keeper::loaded, this, &RunsDesk::list);
    connect(keeper, &Keeper::changed, this, &RunsDesk::list);
    connect(keeper, &Keeper::runsListed, this, [this](qint64 session, const std::vector<KeptRun>& runs) {
        if (m_sessions == nullptr || session != m_sessions->current().id)
            return; // another one was opened meanwhile
        std::vector<RunLine> lines;
        for (const KeptRun& run : runs)
            lines.push_back(lineOf(run));
        m_page->runs()->setLines(std::move(lines));
    });
    connect(keeper, &Keeper::runLoaded, this, &RunsDesk::open);
    connect(m_page->runs(), &RunsTable::openAsked, keeper, [this, keeper](qint64 id) {
        if (mayShow())
            keeper->loadRun(id);
    });
    connect(sessions, &QObject::destroyed, this, [this] { m_sessions = nullptr; });
}

void RunsDesk::list()
{
    if (m_sessions != nullptr && m_sessions->current().id != 0)
        m_sessions->keeper().listRuns(m_listed = m_sessions->current().id);
}

bool RunsDesk::mayShow()
{
    if (m_page->work()->working())
        emit failed(tr("A run is under way; do it again when it has ended."));
    return !m_page->work()->working();
}

bool RunsDesk::take(const QStringList& files)
{
    const FileKind kind = files.isEmpty() ? FileKind::Other : kindOf(files.first());
    if (kind == FileKind::Other)
        return false;
    const PlanAnswerPtr answer = m_session->committed();
    if (!answer || !answer->outcome->plan) {
        emit failed(tr("There is no plan to lay '%1' beside; open the plan that ran, then drop it again.").arg(files.first()));
        return true;
    }
    if (!mayShow())
        return true;
    m_slot->submit([this, kind, file = files.first().toStdString(),
                    document = documentOf(*answer)](const std::stop_token&, const WorkSlot::Post&) -> WorkSlot::Delivery {
        return kind == FileKind::Run ? readRun(file, document) : readSnapshot(file, document);
    });
    return true;
}

WorkSlot::Delivery RunsDesk::failure(const Error& error)
{
    return [this, sentence = text(error.message)] { emit failed(sentence); };
}

WorkSlot::Delivery RunsDesk::readRun(const std::string& file, const PlanDocument& document)
{
    const auto plan = fsdp2Plan(document);
    if (!plan)
        return failure(plan.error());
    const auto lines = readFile(file);
    if (!lines)
        return failure(lines.error());
    const auto log = readRunLog(*lines, "'" + file + "'");
    if (!log)
        return failure(log.error());
    const RunCheck check = checkRun(plan->plan, *log);
    Shown shown{recordOf(check, *log, document), metricsOf(*log), nullptr, outliersOf(check)};
    shown.comparison = compared(plan->plan, shown.metrics);
    return [this, shown = std::move(shown)] {
        show(shown);
        if (m_sessions != nullptr)
            m_sessions->keepImported(shown.record, shown.metrics);
        emit opened();
    };
}

WorkSlot::Delivery RunsDesk::readSnapshot(const std::string& file, const PlanDocument& document)
{
    const auto plan = fsdp2Plan(document);
    if (!plan)
        return failure(plan.error());
    std::ifstream in(file, std::ios::binary);
    const auto snapshot = readMemorySnapshot(in, "'" + file + "'");
    if (!snapshot)
        return failure(snapshot.error());
    return [this, snapshot = *snapshot, plan = plan->plan] {
        showSnapshot(snapshot, plan);
        emit opened();
    };
}

void RunsDesk::open(const RunRecord& record, const std::vector<StepMetric>& metrics)
{
    m_slot->submit([this, record, metrics](const std::stop_token&, const WorkSlot::Post&) -> WorkSlot::Delivery {
        const auto saved = readPlan(record.plan, "the run's plan");
        if (!saved)
            return failure(saved.error());
        Shown shown{record, metrics, nullptr, {}};
        if (record.kind == RunRecord::Kind::Imported) {
            const auto plan = fsdp2Plan(saved->document);
            if (!plan)
                return failure(plan.error());
            shown.comparison = compared(plan->plan, metrics);
        } else if (saved->document.outcome.plan) {
            shown.comparison = compared(*saved->document.outcome.plan, metrics);
        }
        return [this, shown = std::move(shown)] {
            show(shown);
            emit opened();
        };
    });
}

void RunsDesk::show(const Shown& shown)
{
    std::map<std::int64_t, WorkerStep> ranks; // the last step of each, with its highest peak
    std::map<std::int64_t, std::pair<double, int>> losses;
    for (const StepMetric& metric : shown.metrics) {
        WorkerStep step = stepOf(metric);
        if (const auto found = ranks.find(metric.rank); found != ranks.end())
            step.peak = std::max(step.peak, found->second.peak);
        ranks[metric.rank] = step;
        auto& [sum, count] = losses[metric.step];
        sum += metric.loss;
        ++count;
    }
    WorkerResult result;
    const auto outcome = runOutcomeOf(shown.record.outcome);
    result.outcome = outcome ? *outcome : RunOutcome::Failed;
    result.why = shown.record.why;
    for (const auto& [step, entry] : losses)
        result.losses.push_back(entry.first / entry.second);
    std::vector<WorkerStep> last;
    for (const auto& [rank, step] : ranks)
        last.push_back(step);
    m_page->showStored(shown.record.ranks, shown.record.predictedPeak.value_or(Bytes()), last, result);
    for (const QString& words : shown.outliers)
        m_page->addWords(words);
    m_page->setComparison(shown.comparison);
}

void RunsDesk::showSnapshot(const MemorySnapshot& snapshot, const Plan& plan)
{
    const auto fullest = std::max_element(snapshot.devices.begin(), snapshot.devices.end(),
                                          [](const DeviceMemory& a, const DeviceMemory& b) { return a.peak < b.peak; });
    std::vector<Bytes> record;
    for (const MemorySpan& span : fullest->curve) {
        if (span.least != span.most)
            record.push_back(span.least);
        record.push_back(span.most);
    }
    if (m_page->units()->rows().empty()) // no run is on the page: the plan's own step lies below the record
        m_page->memory()->setTimelines(nullptr, std::make_shared<const Timeline>(playTimeline(plan.table, plan.choice)));
    m_page->memory()->setRecord(std::move(record));
    const Bytes predicted = plan.peak - plan.table.overhead;
    QString words =
        tr("Memory snapshot, device %1: peak %2, predicted %3").arg(fullest->device).arg(bytesText(fullest->peak), bytesText(predicted));
    if (predicted > Bytes())
        words +=
            tr(" (%1)").arg(signedPercentText(static_cast<double>(fullest->peak.count()) / static_cast<double>(predicted.count()) - 1));
    m_page->work()->setSentence(words, WorkRow::Outcome::Neutral);
    for (const std::string& note : snapshot.notes)
        m_page->addWords(text(note));
}

} // namespace loadline
