// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/keeper.hpp"

#include "app/session/documents.hpp"
#include "core/base/text.hpp"
#include "core/cluster/library.hpp"
#include "core/model/format.hpp"
#include "core/model/reader.hpp"

#include <QCoreApplication>
#include <QDateTime>
#include <QEvent>
#include <QMetaObject>
#include <QTimer>

#include <algorithm>

namespace loadline {
namespace {

constexpr int kWatchEvery = 1'000; ///< milliseconds between looks for another window's changes

UnixTime now()
{
    return QDateTime::currentSecsSinceEpoch();
}

QString sentence(const Error& error)
{
    return QString::fromStdString(error.message);
}

SessionRecord recordOf(const KeptSession& session)
{
    SessionRecord record;
    record.row = session.row;
    const Inputs& inputs = session.inputs;
    record.row.model = inputs.model ? inputs.model->name : inputs.options.model;
    record.row.cluster = inputs.options.cluster;
    record.row.budget = inputs.budget;
    record.row.step.reset();
    record.row.modified = now();
    if (record.row.id == 0)
        record.row.created = record.row.modified;
    if (inputs.model)
        record.model = writeModel(*inputs.model);
    record.options = requestOptionsJson(inputs.options, inputs.budget);
    record.undo = historyJson(session.history);
    if (session.answer && session.answer->inputs == inputs) {
        const PlanDocument document = documentOf(*session.answer);
        record.row.cluster = document.setup.cluster.name;
        record.cluster = writeCluster(document.setup.cluster);
        record.plan = planJson(document);
        if (document.outcome.plan)
            record.row.step = document.outcome.plan->objective;
    }
    return record;
}

Result<KeptSessionPtr> sessionOf(const SessionRecord& record)
{
    const std::string origin = "session '" + record.row.name + "'";
    auto options = readRequestOptions(record.options, origin);
    if (!options)
        return options.error();
    auto model = record.model.empty() ? loadModel(options->options.model) : readModel(record.model, origin);
    if (!model)
        return model.error();
    auto session = std::make_shared<KeptSession>();
    session->row = record.row;
    session->inputs = {options->options, std::make_shared<const Model>(*std::move(model)), options->budget};
    if (!resolveCluster(session->inputs.options) && !record.cluster.empty()) { // its file is gone; the session has a copy
        const QString file = dataFolder() + QStringLiteral("/clusters/of-session-%1.loadline-cluster.json").arg(record.row.id);
        if (const auto written = writeWhole(file, record.cluster); !written)
            return written.error();
        session->inputs.options.cluster = file.toStdString();
    }
    if (!record.undo.empty()) {
        // A history that cannot be read is no reason to keep the session from its owner.
        if (auto history = readHistory(record.undo, origin))
            session->history = *std::move(history);
    }
    return KeptSessionPtr(std::move(session));
}

} // namespace

std::string sessionName(const Inputs& inputs)
{
    return (inputs.model ? inputs.model->name : inputs.options.model) + " on " +
           QString::fromStdString(inputs.options.cluster)
               .section(QLatin1Char('/'), -1)
               .section(QStringLiteral(".loadline-cluster"), 0, 0)
               .toStdString();
}

Keeper::Keeper(const QString& file, QObject* parent)
    : QObject(parent), m_file(file), m_retry(new QTimer(this)), m_watch(new QTimer(this)),
      m_thread([this](const std::stop_token& stop) { work(stop); })
{
    m_retry->setSingleShot(true);
    connect(m_retry, &QTimer::timeout, this, [this] {
        if (m_unsaved && !m_saving)
            save(*m_unsaved);
    });
    m_watch->setInterval(kWatchEvery);
    connect(m_watch, &QTimer::timeout, this, [this] {
        submit([this](Store* store) -> Delivery {
            const auto other = store != nullptr ? store->changedElsewhere() : Result<bool>(false);
            if (other && *other)
                return [this] { emit changed(); };
            return {};
        });
    });
    submit([this](Store* store) -> Delivery {
        if (store == nullptr)
            return [this, why = m_storeError] { emit trouble(why); };
        QStringList notices;
        for (const std::string& notice : store->notices())
            notices << QString::fromStdString(notice);
        return [this, notices, readOnly = store->readOnly()] {
            m_readOnly = readOnly;
            emit opened(readOnly, notices);
        };
    });
}

Keeper::~Keeper()
{
    m_thread.request_stop();
    m_wake.notify_all();
    m_thread.join();
    // What was still to come of the last save: a newer state than the one that was being written.
    blockSignals(true);
    QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
    while (!m_tasks.empty()) {
        const Task task = std::move(m_tasks.front());
        m_tasks.pop_front();
        if (const Delivery delivery = task(m_store ? &*m_store : nullptr))
            delivery();
    }
}

void Keeper::openStore()
{
    auto store = Store::open(m_file.toStdString());
    if (store)
        m_store.emplace(std::move(*store));
    else
        m_storeError = sentence(store.error());
}

void Keeper::submit(Task task)
{
    {
        const std::lock_guard lock(m_mutex);
        m_tasks.push_back(std::move(task));
    }
    m_wake.notify_one();
}

bool Keeper::idle() const
{
    const std::lock_guard lock(m_mutex);
    return m_tasks.empty() && !m_running && !m_saving;
}

void Keeper::work(const std::stop_token& stop)
{
    while (true) {
        Task task;
        {
            std::unique_lock lock(m_mutex);
            m_running = false;
            m_wake.wait(lock, stop, [this] { return !m_tasks.empty(); });
            if (m_tasks.empty())
                return; // what waited is done
            task = std::move(m_tasks.front());
            m_tasks.pop_front();
            m_running = true;
        }
        if (!m_store)
            openStore(); // also again, after a failure: a disk may have room by now
        post(task(m_store ? &*m_store : nullptr));
    }
}

void Keeper::post(Delivery delivery)
{
    if (delivery)
        QMetaObject::invokeMethod(this, std::move(delivery), Qt::QueuedConnection);
}

void Keeper::save(const KeptSession& session)
{
    m_unsaved = session;
    ++m_asked;
    if (m_saving)
        return; // the one under way looks at it when it is done
    m_saving = true;
    KeptSession next = session;
    if (next.row.id != 0 && next.row.id == m_current)
        next.row.revision = m_revision;
    submit([this, next = std::move(next), asked = m_asked](Store* store) { return write(store, next, asked); });
}

Keeper::Delivery Keeper::write(Store* store, const KeptSession& session, std::int64_t asked)
{
    std::optional<Error> failure;
    SessionRow row;
    if (store == nullptr) {
        failure = ioError(m_storeError.toStdString());
    } else {
        SessionRecord record = recordOf(session);
        if (record.row.id != 0) { // name, tags and notes are edited in the list, not here
            if (const auto stored = store->session(record.row.id)) {
                const std::int64_t mine = record.row.revision;
                record.row.name = stored->row.name;
                record.row.tags = stored->row.tags;
                record.row.notes = stored->row.notes;
                record.window = stored->window;
                const bool overtaken =
                    stored->row.revision != mine && stored->plan != record.plan && mine != 0 && stored->options != record.options;
                record.row.revision = stored->row.revision;
                if (overtaken && stored->row.revision > mine) { // another window changed the plan: keep both
                    record.row.id = 0;
                    record.row.created = record.row.modified;
                    record.row.name += " (from another window)";
                }
            }
        }
        failure = store->saveSession(record);
        row = record.row;
    }
    return [this, failure, row, asked] {
        m_saving = false;
        if (failure) {
            m_troubled = true;
            emit trouble(sentence(*failure));
            m_retry->start(m_retryEvery);
            return;
        }
        m_current = row.id;
        m_revision = row.revision;
        if (m_unsaved && m_asked == asked)
            m_unsaved.reset();
        if (m_troubled) {
            m_troubled = false;
            emit trouble({});
        }
        emit saved(row);
        if (m_unsaved && !m_saving) { // something newer came meanwhile
            if (m_unsaved->row.id == 0)
                m_unsaved->row.id = row.id;
            save(KeptSession(*m_unsaved));
        }
    };
}

void Keeper::list(const SessionFilter& filter)
{
    submit([this, filter](Store* store) -> Delivery {
        if (store == nullptr)
            return {};
        auto rows = store->sessions(filter);
        if (!rows)
            return [this, why = sentence(rows.error())] { emit failed(why); };
        return [this, rows = *std::move(rows)] { emit listed(rows); };
    });
}

void Keeper::load(SessionId id)
{
    submit([this, id](Store* store) -> Delivery {
        if (store == nullptr)
            return [this, why = m_storeError] { emit failed(why); };
        const auto record = store->session(id);
        const auto session = record ? sessionOf(*record) : Result<KeptSessionPtr>(record.error());
        if (!session)
            return [this, why = sentence(session.error())] { emit failed(why); };
        return [this, session = *session] {
            m_current = session->row.id;
            m_revision = session->row.revision;
            emit loaded(session);
        };
    });
}

void Keeper::loadNewest()
{
    submit([this](Store* store) -> Delivery {
        SessionFilter filter;
        filter.most = 1;
        const auto rows = store != nullptr ? store->sessions(filter) : Result<std::vector<SessionRow>>(std::vector<SessionRow>{});
        if (!rows || rows->empty())
            return [this] { emit nothingToLoad(); };
        return [this, id = rows->front().id] { load(id); };
    });
}

void Keeper::submitChange(std::function<std::optional<Error>(Store&)> change)
{
    submit([this, change = std::move(change)](Store* store) -> Delivery {
        const auto failure = store != nullptr ? change(*store) : std::optional<Error>(ioError(m_storeError.toStdString()));
        return [this, failure] {
            if (failure)
                emit failed(sentence(*failure));
            emit changed();
        };
    });
}

void Keeper::rename(SessionId id, const QString& name)
{
    submitChange([id, name = name.toStdString()](Store& store) { return store.renameSession(id, name, now()); });
}

void Keeper::setTags(SessionId id, const QString& commaSeparated)
{
    std::vector<std::string> tags;
    for (const QString& tag : commaSeparated.split(QLatin1Char(','), Qt::SkipEmptyParts)) {
        if (!tag.trimmed().isEmpty())
            tags.push_back(tag.trimmed().toStdString());
    }
    submitChange([id, tags](Store& store) { return store.setTags(id, tags, now()); });
}

void Keeper::setNotes(SessionId id, const QString& notes)
{
    submitChange([id, notes = notes.toStdString()](Store& store) { return store.setNotes(id, notes, now()); });
}

void Keeper::duplicate(SessionId id)
{
    submitChange([id](Store& store) -> std::optional<Error> {
        const auto session = store.session(id);
        if (!session)
            return session.error();
        const auto copy = store.duplicateSession(id, session->row.name + " (copy)", now());
        return copy ? std::nullopt : std::optional<Error>(copy.error());
    });
}

void Keeper::remove(SessionId id)
{
    submitChange([id](Store& store) { return store.removeSession(id, now()); });
}

void Keeper::restore(SessionId id)
{
    submitChange([id](Store& store) { return store.restoreSession(id); });
}

void Keeper::addRun(const RunRecord& run, const std::vector<StepMetric>& metrics)
{
    submitChange([run, metrics](Store& store) -> std::optional<Error> {
        const auto id = store.addRun(run);
        return id ? store.addMetrics(*id, metrics) : std::optional<Error>(id.error());
    });
}

void Keeper::listRuns(SessionId session)
{
    submit([this, session](Store* store) -> Delivery {
        if (store == nullptr)
            return {};
        auto runs = store->runs(session);
        if (!runs)
            return [this, why = sentence(runs.error())] { emit failed(why); };
        std::vector<KeptRun> kept;
        for (RunRecord& run : *runs) {
            if (kept.size() == kMostRuns)
                break;
            const auto whole = store->run(run.id); // none: another window has just deleted it
            kept.push_back({std::move(run), whole ? runSettingsOf(whole->plan) : RunSettings()});
        }
        return [this, session, kept = std::move(kept)] { emit runsListed(session, kept); };
    });
}

void Keeper::loadRun(RunId id)
{
    submit([this, id](Store* store) -> Delivery {
        if (store == nullptr)
            return [this, why = m_storeError] { emit failed(why); };
        auto run = store->run(id);
        auto metrics = run ? store->metrics(id) : Result<std::vector<StepMetric>>(run.error());
        if (!metrics)
            return [this, why = sentence(metrics.error())] { emit failed(why); };
        return [this, run = *std::move(run), metrics = *std::move(metrics)] { emit runLoaded(run, metrics); };
    });
}

void Keeper::watch(bool on)
{
    on ? m_watch->start() : m_watch->stop();
}

} // namespace loadline
