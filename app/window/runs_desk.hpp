// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/session/session.hpp"
#include "app/session/work_slot.hpp"
#include "core/exchange/verdict.hpp"
#include "core/export/memory_snapshot.hpp"
#include "core/store/records.hpp"

#include <QObject>
#include <QStringList>

#include <memory>
#include <vector>

namespace loadline {

class RunPage;
class SessionDesk;

/// Results from elsewhere on the run page: JSON lines of an exported bundle and memory snapshots of PyTorch; and the list of the
/// session's runs, each of which can be shown again.
class RunsDesk : public QObject {
    Q_OBJECT
public:
    RunsDesk(Session* session, RunPage* page, QObject* parent);

    /// Runs are kept with this desk's session and listed from its store.
    void keepWith(SessionDesk* sessions);
    /// False, and nothing is done, if the first file is neither a run nor a snapshot (by its content).
    bool take(const QStringList& files);
    [[nodiscard]] bool busy() const { return m_slot->busy(); }

signals:
    void failed(const QString& sentence);
    void opened(); ///< a run or snapshot is on the page

private:
    /// A run as the page shows it.
    struct Shown {
        RunRecord record;
        std::vector<StepMetric> metrics;
        std::shared_ptr<const RunComparison> comparison;
        QStringList outliers;
    };
    void list();
    void open(const RunRecord& record, const std::vector<StepMetric>& metrics);
    void show(const Shown& shown);
    void showSnapshot(const MemorySnapshot& snapshot, const Plan& plan);
    [[nodiscard]] bool mayShow();
    WorkSlot::Delivery readRun(const std::string& file, const PlanDocument& document);
    WorkSlot::Delivery readSnapshot(const std::string& file, const PlanDocument& document);
    WorkSlot::Delivery failure(const Error& error);

    Session* m_session;
    RunPage* m_page;
    WorkSlot* m_slot;
    SessionDesk* m_sessions = nullptr;
    SessionId m_listed = 0;
};

} // namespace loadline
