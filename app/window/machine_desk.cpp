// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/machine_desk.hpp"

#include "core/base/text.hpp"
#include "core/cluster/library.hpp"
#include "core/cost/compute_time.hpp"
#include "core/plan/planner.hpp"
#include "views/charts/bar_rows.hpp"
#include "views/format/text.hpp"
#include "views/pages/links_page.hpp"
#include "views/pages/profile_page.hpp"
#include "views/pages/run_page.hpp"
#include "views/panels/work_row.hpp"

#include <QDateTime>
#include <QDir>
#include <QToolButton>

#include <algorithm>
#include <map>
#include <set>

namespace loadline {
namespace {

constexpr std::int64_t kMostRanksHere = 64;

/// Distinct operators with their estimates on the described device.
std::vector<ProfileSubject> subjectsOf(Setup setup)
{
    setup.profile.reset();
    const auto prints = footprints(*setup.model, {setup.batch, setup.sequence, setup.precision.compute, setup.attention, setup.dropout});
    std::vector<ProfileSubject> subjects;
    std::map<std::string, std::pair<std::size_t, int>> seen; ///< key -> place, how many
    for (std::size_t i = 0; i < setup.model->operators.size() && i < prints.size(); ++i) {
        const Operator& op = setup.model->operators[i];
        const std::string key = operatorKey(op);
        if (key.empty())
            continue; // described by hand: has its costs
        const auto [found, fresh] = seen.try_emplace(key, subjects.size(), 0);
        ++found->second.second;
        if (!fresh)
            continue;
        const ComputeTime time = computeTime(op, prints[i], 1, setup);
        subjects.push_back({key, text(op.name), time.forward, time.backward});
    }
    for (const auto& [key, place] : seen) {
        if (place.second > 1)
            subjects[place.first].name += QStringLiteral(" \u00d7 %1").arg(place.second);
    }
    return subjects;
}

WorkRow::Outcome outcomeOf(WorkerEnd::Kind kind)
{
    return kind == WorkerEnd::Kind::Done        ? WorkRow::Outcome::Good
           : kind == WorkerEnd::Kind::Cancelled ? WorkRow::Outcome::Neutral
                                                : WorkRow::Outcome::Bad;
}

Cluster clusterOf(const WorkerDevice& device, int ranks)
{
    // Figures that a profile and measured links replace; until then they say of themselves that they are estimates.
    constexpr double kFlopsPerThread = 2e10;
    constexpr double kMemoryBytesPerSecond = 1e10;
    Cluster cluster;
    cluster.name = "this-machine-" + std::to_string(ranks);
    cluster.device.name = device.name.empty() ? "this machine" : device.name;
    const std::int64_t most = std::max<std::int64_t>(device.free.count() > 0 ? device.free.count() : device.memory.count(), 1 << 30);
    cluster.device.memory = Bytes(most / ranks);
    cluster.device.fp32FlopsPerSecond = kFlopsPerThread * std::max(device.threads, 1) / ranks;
    cluster.device.halfFlopsPerSecond = cluster.device.fp32FlopsPerSecond;
    cluster.device.bytesPerSecond = kMemoryBytesPerSecond / ranks;
    cluster.device.flopsEfficiency = 0.5;
    cluster.device.memoryEfficiency = 0.5;
    cluster.device.source =
        "Memory as loadline-device describes this machine, shared among the ranks; speeds are rough estimates until profiled.";
    cluster.gpusPerNode = ranks;
    cluster.intra = {Seconds(50e-6), 1e9, "A rough estimate until the links are measured."};
    cluster.inter = cluster.intra;
    return cluster;
}

QString today()
{
    return QDateTime::currentDateTimeUtc().toString(Qt::ISODate).left(10);
}

} // namespace

MachineDesk::MachineDesk(Session* session, ProfilePage* profile, LinksPage* links, RunPage* run, QObject* parent)
    : QObject(parent), m_session(session), m_profilePage(profile), m_linksPage(links), m_runPage(run), m_worker(new Worker(this)),
      m_describer(new Worker(this))
{
    connect(m_worker, &Worker::eventRead, this, &MachineDesk::take);
    connect(m_worker, &Worker::ended, this, &MachineDesk::end);
    connect(m_worker, &Worker::wordsRead, m_runPage, &RunPage::addWords);
    connect(m_describer, &Worker::eventRead, this, [this](const WorkerEvent& event) {
        if (const auto* device = std::get_if<WorkerDevice>(&event))
            takeDevice(*device);
    });
    connect(m_describer, &Worker::ended, this, [this](const WorkerEnd& end) {
        if (end.kind != WorkerEnd::Kind::Done && m_task == Task::None)
            m_profilePage->work()->setSentence(end.why, WorkRow::Outcome::Bad);
    });
    for (WorkRow* row : {m_profilePage->work(), m_linksPage->work(), m_runPage->work()})
        connect(row, &WorkRow::cancelAsked, this, &MachineDesk::cancel);
    connect(m_profilePage->work(), &WorkRow::startAsked, this, &MachineDesk::startProfile);
    connect(m_linksPage->work(), &WorkRow::startAsked, this, &MachineDesk::startLinks);
    connect(m_runPage->work(), &WorkRow::startAsked, this, &MachineDesk::startRun);
    connect(m_runPage->calibrate(), &QToolButton::clicked, this, &MachineDesk::calibrate);
    connect(m_runPage->thisMachine(), &QToolButton::clicked, this, &MachineDesk::planForThisMachine);
    connect(m_profilePage->useVerb(), &QToolButton::clicked, this, &MachineDesk::use);
    showHindrances();
}

void MachineDesk::look()
{
    if (m_looked)
        return;
    m_looked = true;
    showHindrances();
    if (!Worker::program().isEmpty())
        m_describer->start(QStringLiteral("describe"), {});
}

void MachineDesk::takeDevice(const WorkerDevice& device)
{
    m_devices.push_back(device);
    QStringList kinds;
    for (const WorkerDevice& one : m_devices) {
        if (!kinds.contains(text(one.kind)))
            kinds << text(one.kind);
    }
    m_profilePage->setDevices(kinds);
    m_linksPage->setDevices(kinds);
    m_runPage->setDevices(kinds);
    if (m_task == Task::None && m_operators.empty())
        m_profilePage->setProvenance(
            tr("This machine: %1, %2, %3 threads.").arg(text(device.name), bytesText(device.memory)).arg(device.threads));
    m_runPage->thisMachine()->setEnabled(true);
}

void MachineDesk::setAnswer(const PlanAnswerPtr& answer)
{
    const bool otherModel = !m_answer || m_answer->inputs.model != answer->inputs.model;
    m_answer = answer;
    if (otherModel)
        m_profilePage->setSequence(std::min<std::int64_t>(answer->resolved.request.setup.sequence, 1 << 20));
    showSubjects();
    showHindrances();
}

void MachineDesk::setProfile(const std::shared_ptr<const Profile>& profile)
{
    if (!profile || m_task != Task::None)
        return;
    m_profilePage->setProfile(*profile);
    m_linksPage->setProfile(*profile);
}

void MachineDesk::showSubjects()
{
    Setup setup = m_answer->outcome->plan ? m_answer->outcome->plan->table.setup : m_answer->resolved.request.setup;
    m_profilePage->setSubjects(subjectsOf(std::move(setup)));
}

void MachineDesk::showHindrances()
{
    QString none;
    if (m_looked && Worker::program().isEmpty())
        none = tr("loadline-device is not installed here: planning works, measuring does not. Install it, set LOADLINE_DEVICE, or use a "
                  "stored profile.");
    m_profilePage->work()->setHindrance(none);
    m_linksPage->work()->setHindrance(none);
    if (none.isEmpty() && m_answer && !m_answer->outcome->plan)
        none = tr("Nothing fits this budget, so there is no plan to run.");
    const std::int64_t ranks = m_answer ? m_answer->resolved.request.setup.cluster.ranks() : 1;
    if (none.isEmpty() && ranks > kMostRanksHere)
        none = tr("This plan is for %1 ranks, more than one machine can start; choose a smaller cluster.").arg(ranks);
    m_runPage->work()->setHindrance(none);
}

void MachineDesk::start(Task task, const QString& verb, const std::string& request)
{
    m_task = task;
    m_header.clear();
    for (const auto& [row, mine] : {std::pair(m_profilePage->work(), Task::Profile), std::pair(m_linksPage->work(), Task::Links),
                                    std::pair(m_runPage->work(), Task::Run)}) {
        if (mine == task)
            row->setWorking(true);
        else
            row->setHindrance(tr("Something else is being measured; it would disturb."));
    }
    m_worker->start(verb, request);
}

void MachineDesk::startProfile()
{
    if (m_task != Task::None || !m_answer)
        return;
    ProfileRequest request;
    const Setup& setup = m_answer->resolved.request.setup;
    request.model = *m_answer->inputs.model;
    request.device = m_profilePage->device().toStdString();
    request.ranks = m_profilePage->ranks();
    request.precisions = {std::string(computeModeName(setup.precision.compute))};
    request.batches = m_profilePage->batches();
    request.sequences = {m_profilePage->sequence()};
    request.granularities = setup.granularities;
    request.optimizer = setup.optimizer.name;
    request.limit = Seconds(m_profilePage->seconds());
    if (request.batches.empty()) {
        m_profilePage->work()->setSentence(tr("The batches are not a list of numbers; give them like 1, 2, 4."), WorkRow::Outcome::Bad);
        return;
    }
    m_operators.clear();
    m_steps.clear();
    m_profilePage->begin();
    m_profilePage->work()->setSentence(tr("starting"), WorkRow::Outcome::None);
    start(Task::Profile, QStringLiteral("profile"), writeRequest(request));
}

void MachineDesk::startLinks()
{
    if (m_task != Task::None)
        return;
    LinksRequest request;
    request.device = m_linksPage->device().toStdString();
    request.ranks = m_linksPage->ranks();
    request.limit = Seconds(m_linksPage->seconds());
    m_links.clear();
    m_overlaps.clear();
    m_linksPage->begin();
    m_linksPage->work()->setSentence(tr("starting"), WorkRow::Outcome::None);
    start(Task::Links, QStringLiteral("links"), writeRequest(request));
}

void MachineDesk::startRun()
{
    if (m_task != Task::None || !m_answer || !m_answer->outcome->plan)
        return;
    m_ran = m_answer;
    m_trace = RunTrace();
    m_comparison.reset();
    m_resultSaid = false;
    TrainRequest request;
    m_plan = planJson(documentOf(*m_ran));
    m_started = QDateTime::currentSecsSinceEpoch();
    request.plan = m_plan;
    request.device = m_runPage->device().toStdString();
    request.steps = m_runPage->steps();
    request.seed = m_runPage->seed();
    request.data = m_runPage->data().toStdString();
    const Plan& plan = *m_ran->outcome->plan;
    m_runPage->begin(plan.table.setup.cluster.ranks(), request.steps, plan.peak - plan.table.overhead);
    m_runPage->work()->setSentence(tr("starting"), WorkRow::Outcome::None);
    start(Task::Run, QStringLiteral("train"), writeRequest(request));
}

void MachineDesk::cancel()
{
    m_worker->cancel();
}

void MachineDesk::take(const WorkerEvent& event)
{
    if (m_task == Task::Run) {
        m_trace.take(event);
        m_runPage->take(event);
        m_resultSaid = m_resultSaid || std::holds_alternative<WorkerResult>(event);
        return;
    }
    if (const auto* progress = std::get_if<WorkerProgress>(&event)) {
        WorkRow* row = m_task == Task::Links ? m_linksPage->work() : m_profilePage->work();
        const double share = progress->total > 0 ? static_cast<double>(progress->done) / static_cast<double>(progress->total) : 0;
        row->setProgress(share, tr("%1 of %2 \u00b7 %3").arg(progress->done).arg(progress->total).arg(text(progress->what)),
                         progress->left ? std::optional(progress->left->value()) : std::nullopt);
    } else if (const auto* line = std::get_if<WorkerProfileLine>(&event)) {
        takeLine(line->line);
    }
}

void MachineDesk::takeLine(const std::string& line)
{
    if (m_header.empty())
        m_header = line;
    const auto profile = readProfile(m_header == line ? m_header + "\n" : m_header + "\n" + line + "\n", "loadline-device");
    if (!profile) {
        emit failed(text(profile.error().message));
        return;
    }
    m_measuredHeader = profile->header();
    if (m_header == line)
        m_profilePage->setProvenance(text(profile->provenance()));
    for (const OperatorRow& row : profile->operators()) {
        m_operators.push_back(row);
        m_profilePage->addRow(row);
    }
    for (const LinkRow& row : profile->links()) {
        m_links.push_back(row);
        m_linksPage->addRow(row);
    }
    m_overlaps.insert(m_overlaps.end(), profile->overlaps().begin(), profile->overlaps().end());
    m_steps.insert(m_steps.end(), profile->steps().begin(), profile->steps().end());
}

void MachineDesk::end(const WorkerEnd& end)
{
    const Task task = m_task;
    m_task = Task::None;
    for (WorkRow* row : {m_profilePage->work(), m_linksPage->work(), m_runPage->work()})
        row->setWorking(false);
    showHindrances();
    if (task == Task::Run) {
        endRun(end);
        return;
    }
    WorkRow* row = task == Task::Links ? m_linksPage->work() : m_profilePage->work();
    const auto count = static_cast<qint64>(task == Task::Links ? m_links.size() : m_operators.size());
    row->setSentence(end.kind == WorkerEnd::Kind::Done ? tr("Done: %1 measurements.").arg(wholeText(count)) : end.why, outcomeOf(end.kind));
    const bool some = measured().has_value();
    m_profilePage->saveVerb()->setEnabled(some);
    m_profilePage->useVerb()->setEnabled(some);
}

void MachineDesk::endRun(const WorkerEnd& end)
{
    if (!m_resultSaid || end.kind == WorkerEnd::Kind::Cancelled)
        m_runPage->work()->setSentence(end.kind == WorkerEnd::Kind::Done ? tr("The run ended without a result.") : end.why,
                                       end.kind == WorkerEnd::Kind::Done ? WorkRow::Outcome::Bad : outcomeOf(end.kind));
    const Plan& plan = *m_ran->outcome->plan;
    if (!m_trace.steps.empty()) {
        m_comparison = std::make_shared<const RunComparison>(compareRun(plan.table, plan.choice, m_trace, verdictBounds(plan.table.setup)));
        m_runPage->setComparison(m_comparison);
    }
    emit runEnded();
}

std::int64_t MachineDesk::runRanks() const
{
    return m_ran ? m_ran->resolved.request.setup.cluster.ranks() : 0;
}

std::optional<Profile> MachineDesk::measured() const
{
    if (!m_measuredHeader || (m_operators.empty() && m_links.empty()))
        return std::nullopt;
    return Profile(*m_measuredHeader, m_operators, m_links, m_overlaps, m_steps);
}

QString MachineDesk::profileFile(const QString& name) const
{
    const QString stamp = QDateTime::currentDateTimeUtc().toString(QStringLiteral("yyyyMMdd-hhmmss-zzz"));
    return QDir(dataFolder()).filePath(QStringLiteral("profiles/%1-%2.loadline-profile.jsonl").arg(name, stamp));
}

void MachineDesk::keep(const Profile& profile, const QString& file)
{
    if (const auto written = writeWhole(file, writeProfile(profile)); !written)
        emit failed(text(written.error().message));
    else
        m_session->setProfile(file);
}

void MachineDesk::save(const QString& file)
{
    const auto profile = measured();
    if (!profile)
        return;
    if (const auto written = writeWhole(file, writeProfile(*profile)); !written)
        emit failed(text(written.error().message));
}

void MachineDesk::use()
{
    if (const auto profile = measured())
        keep(*profile, profileFile(QStringLiteral("measured")));
}

void MachineDesk::calibrate()
{
    if (!m_comparison || !m_ran)
        return;
    const Plan& plan = *m_ran->outcome->plan;
    const std::string device = m_devices.empty() ? plan.table.setup.cluster.device.name : m_devices.front().name;
    keep(calibratedProfile(plan.table.setup.profile.get(), plan.table, plan.choice, m_trace, device, today().toStdString()),
         profileFile(QStringLiteral("calibrated")));
    m_runPage->setCalibratable(false);
}

void MachineDesk::planForThisMachine()
{
    const auto cpu = std::find_if(m_devices.begin(), m_devices.end(), [](const WorkerDevice& device) { return device.kind == "cpu"; });
    if (cpu == m_devices.end())
        return;
    const Cluster cluster = clusterOf(*cpu, std::max(m_profilePage->ranks(), 2));
    const QString file = QDir(dataFolder()).filePath(QStringLiteral("clusters/%1.loadline-cluster.json").arg(text(cluster.name)));
    if (const auto written = writeWhole(file, writeCluster(cluster)); !written)
        emit failed(text(written.error().message));
    else
        m_session->setMachine(cluster, file);
}

} // namespace loadline
