// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/session/answer.hpp"
#include "app/session/history.hpp"
#include "app/session/run_settings.hpp"
#include "core/store/store.hpp"

#include <QObject>
#include <QStringList>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

class QTimer;

namespace loadline {

/// What a session needs to come back as it was.
struct KeptSession {
    SessionRow row;
    Inputs inputs;
    History<Inputs> history;
    PlanAnswerPtr answer; ///< when saving: what stands on the screen; may be null
};
using KeptSessionPtr = std::shared_ptr<const KeptSession>;

/// Keeps sessions in the store, on a thread of its own: every call returns at once, answers come by signals on the GUI thread. Calls are
/// done in order; of several saves that wait, only the newest is written. A save that fails (disk full, locked, only readable) is said
/// once and tried again until it succeeds; nothing is dropped.
class Keeper : public QObject {
    Q_OBJECT
public:
    explicit Keeper(const QString& file, QObject* parent = nullptr);
    ~Keeper() override; ///< finishes what waits

    /// Autosave. row.id 0: a new session, whose id comes with `saved`.
    void save(const KeptSession& session);
    void list(const SessionFilter& filter);
    void load(SessionId id);
    /// The one changed last, if there is any; comes as `loaded`.
    void loadNewest();
    void rename(SessionId id, const QString& name);
    void setTags(SessionId id, const QString& commaSeparated);
    void setNotes(SessionId id, const QString& notes);
    void duplicate(SessionId id);
    void remove(SessionId id);
    void restore(SessionId id);
    /// A run of the session that is open, once it has ended.
    void addRun(const RunRecord& run, const std::vector<StepMetric>& metrics);
    /// The runs of a session without documents, newest first, at most kMostRuns; come as `runsListed`.
    void listRuns(SessionId session);
    static constexpr std::size_t kMostRuns = 50;
    /// A run whole; comes as `runLoaded`.
    void loadRun(RunId id);
    /// Looks for changes of other windows now and then, and says so by `changed`.
    void watch(bool on);

    [[nodiscard]] QString file() const { return m_file; }
    [[nodiscard]] bool readOnly() const { return m_readOnly; }
    /// Nothing waits and nothing runs.
    [[nodiscard]] bool idle() const;
    void setRetry(int milliseconds) { m_retryEvery = milliseconds; }

signals:
    void opened(bool readOnly, const QStringList& notices);
    void saved(const loadline::SessionRow& row);
    void listed(const std::vector<loadline::SessionRow>& rows);
    void loaded(const loadline::KeptSessionPtr& session);
    void nothingToLoad();
    void runsListed(qint64 session, const std::vector<loadline::KeptRun>& runs);
    void runLoaded(const loadline::RunRecord& run, const std::vector<loadline::StepMetric>& metrics);
    void changed();                        ///< what a list shows is no longer what is stored
    void failed(const QString& sentence);  ///< a call that a person asked for
    void trouble(const QString& sentence); ///< saving does not work just now; empty: it works again

private:
    using Delivery = std::function<void()>;
    using Task = std::function<Delivery(Store*)>; ///< null: the store could not be opened

    void submit(Task task);
    void submitChange(std::function<std::optional<Error>(Store&)> change);
    void work(const std::stop_token& stop);
    void post(Delivery delivery);
    void openStore();
    Delivery write(Store* store, const KeptSession& session, std::int64_t asked);

    QString m_file;
    bool m_readOnly = false;
    bool m_troubled = false;
    int m_retryEvery = 3'000;
    std::optional<KeptSession> m_unsaved; ///< GUI thread: not written yet
    bool m_saving = false;
    std::int64_t m_asked = 0; ///< saves so far
    SessionId m_current = 0;
    std::int64_t m_revision = 0;
    QTimer* m_retry;
    QTimer* m_watch;
    std::optional<Store> m_store; ///< worker only
    QString m_storeError;         ///< worker only: why it is not open
    mutable std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::deque<Task> m_tasks;
    bool m_running = false;
    std::jthread m_thread; ///< last: ends before the rest goes
};

/// Names a new session after its model and cluster.
std::string sessionName(const Inputs& inputs);

/// "loadline.undo/1" and back. Errors name the key. Any bytes are safe.
std::string historyJson(const History<Inputs>& history);
Result<History<Inputs>> readHistory(std::string_view text, std::string_view origin);

} // namespace loadline
