// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/session_desk.hpp"

#include "app/window/machine_desk.hpp"
#include "views/format/text.hpp"
#include "views/pages/sessions_page.hpp"

#include <QDateTime>
#include <QLineEdit>

namespace loadline {
namespace {

SessionLine lineOf(const SessionRow& row)
{
    SessionLine line{row.id, text(row.name), text(row.model), text(row.cluster), row.budget, row.step, row.measuredError, row.modified,
                     {},     text(row.notes)};
    for (const std::string& tag : row.tags)
        line.tags << text(tag);
    return line;
}

std::vector<StepMetric> metricsOf(const RunTrace& trace)
{
    std::vector<StepMetric> metrics;
    for (const WorkerStep& step : trace.steps)
        metrics.push_back({step.step, step.rank, step.loss, step.seconds, step.forward, step.backward, step.optimizer, step.exposed,
                           step.peak, step.reserved, step.traffic.allGather, step.traffic.reduceScatter, step.traffic.allReduce});
    return metrics;
}

} // namespace

SessionDesk::SessionDesk(const QString& file, Session* session, MachineDesk* machine, SessionsPage* page, QObject* parent)
    : QObject(parent), m_keeper(new Keeper(file, this)), m_session(session), m_machine(machine), m_page(page)
{
    m_page->setFile(file);
    joinKeeper();
    joinPage();
    connect(m_session, &Session::answered, this, [this](const PlanAnswerPtr&, bool preview) {
        if (!preview)
            save();
    });
    connect(m_session, &Session::historyChanged, this, [this] { m_untouched = m_untouched && !m_session->history().canUndo(); });
    connect(m_machine, &MachineDesk::runEnded, this, &SessionDesk::keepRun);
    list();
}

void SessionDesk::joinKeeper()
{
    connect(m_keeper, &Keeper::opened, this, [this](bool readOnly, const QStringList& notices) {
        if (readOnly)
            m_page->setReadOnly(
                tr("%1 can only be read: sessions can be opened and compared, but nothing is saved.").arg(m_keeper->file()));
        QStringList words = notices;
        if (readOnly && words.isEmpty())
            words
                << tr("The sessions in '%1' can only be read; what you change is not saved. Start with --store FILE to keep it elsewhere.")
                       .arg(m_keeper->file());
        if (!words.isEmpty())
            emit said(words.join(QLatin1Char(' ')));
    });
    connect(m_keeper, &Keeper::saved, this, [this](const SessionRow& row) {
        m_row = row;
        m_page->setCurrent(row.id);
        for (auto& [run, metrics] : std::exchange(m_waiting, {}))
            keepImported(std::move(run), metrics);
        emit state(tr("saved %1").arg(QDateTime::currentDateTime().toString(QStringLiteral("HH:mm:ss"))));
        if (m_page->isVisible())
            list();
    });
    connect(m_keeper, &Keeper::trouble, this, [this](const QString& sentence) {
        if (!sentence.isEmpty()) {
            emit state(tr("not saved"));
            emit said(tr("Not saved, and tried again every few seconds: %1").arg(sentence));
        } else {
            emit said({});
        }
    });
    connect(m_keeper, &Keeper::listed, this, [this](const std::vector<SessionRow>& rows) {
        std::vector<SessionLine> lines;
        lines.reserve(rows.size());
        for (const SessionRow& row : rows)
            lines.push_back(lineOf(row));
        m_page->setLines(std::move(lines));
    });
    connect(m_keeper, &Keeper::loaded, this, &SessionDesk::adopt);
    connect(m_keeper, &Keeper::nothingToLoad, this, &SessionDesk::nothingToOpen);
    connect(m_keeper, &Keeper::changed, this, &SessionDesk::list);
    connect(m_keeper, &Keeper::failed, this, &SessionDesk::said);
}

void SessionDesk::joinPage()
{
    connect(m_page, &SessionsPage::openAsked, m_keeper, [this](qint64 id) { m_keeper->load(id); });
    connect(m_page, &SessionsPage::duplicateAsked, m_keeper, [this](qint64 id) { m_keeper->duplicate(id); });
    connect(m_page, &SessionsPage::removeAsked, this, [this](qint64 id, const QString& name) {
        m_removed = id;
        if (id == m_row.id)
            m_row = {}; // the next change begins a new one
        m_keeper->remove(id);
        m_page->setRemoved(name);
    });
    connect(m_page, &SessionsPage::undoAsked, this, [this] {
        m_keeper->restore(m_removed);
        m_page->setRemoved({});
    });
    connect(m_page, &SessionsPage::compareAsked, this,
            [this](qint64 a, qint64 b) { emit compareAsked(QString::number(a), QString::number(b)); });
    connect(m_page, &SessionsPage::filterChanged, this, &SessionDesk::list);
    connect(m_page->model(), &SessionModel::edited, this, [this](qint64 id, int column, const QString& words) {
        if (column == SessionModel::Name)
            m_keeper->rename(id, words.trimmed());
        else if (column == SessionModel::Tags)
            m_keeper->setTags(id, words);
        else
            m_keeper->setNotes(id, words);
    });
}

void SessionDesk::openLast()
{
    m_keeper->loadNewest();
}

void SessionDesk::setSeen(bool seen)
{
    m_keeper->watch(seen);
    if (seen)
        list();
}

void SessionDesk::list()
{
    SessionFilter filter;
    filter.words = m_page->filter()->text().toStdString();
    m_keeper->list(filter);
}

void SessionDesk::save()
{
    if (m_keeper->readOnly() || (m_row.id == 0 && m_untouched))
        return;
    KeptSession kept{m_row, m_session->inputs(), m_session->history(), m_session->committed()};
    if (kept.row.id == 0)
        kept.row.name = sessionName(kept.inputs);
    m_keeper->save(kept);
}

void SessionDesk::adopt(const KeptSessionPtr& kept)
{
    m_row = kept->row;
    m_untouched = true; // so that opening alone writes nothing; the row is there, and changes are saved into it
    m_page->setCurrent(m_row.id);
    m_session->restore(kept->inputs, kept->history);
    emit opened();
}

void SessionDesk::keepImported(RunRecord run, const std::vector<StepMetric>& metrics)
{
    if (m_keeper->readOnly()) {
        emit said(tr("'%1' can only be read, so the run is shown and not kept.").arg(m_keeper->file()));
        return;
    }
    if (m_row.id == 0) {
        m_waiting.emplace_back(std::move(run), metrics);
        m_untouched = false;
        save();
        return;
    }
    run.session = m_row.id;
    m_keeper->addRun(run, metrics);
}

void SessionDesk::keepRun()
{
    const auto& comparison = m_machine->comparison();
    if (m_row.id == 0 || m_keeper->readOnly())
        return;
    RunRecord run;
    run.session = m_row.id;
    run.started = m_machine->runStarted();
    run.ranks = m_machine->runRanks();
    const RunTrace& trace = m_machine->trace();
    run.outcome = trace.result ? std::string(runOutcomeWord(trace.result->outcome)) : "failed";
    run.why = trace.result ? trace.result->why : "the run ended without a result";
    run.plan = m_machine->runPlan();
    if (trace.result)
        run.result = writeEvent(*trace.result);
    if (comparison) {
        run.predictedStep = comparison->predictedStep;
        run.predictedPeak = comparison->predictedPeak;
        run.measuredPeak = comparison->measuredPeak;
        if (trace.result && trace.result->outcome == RunOutcome::Done)
            run.measuredStep = comparison->measuredStep;
    }
    m_keeper->addRun(run, metricsOf(trace));
}

} // namespace loadline
