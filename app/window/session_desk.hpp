// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/session/keeper.hpp"
#include "app/session/session.hpp"

#include <QObject>

#include <utility>
#include <vector>

class QTimer;

namespace loadline {

class MachineDesk;
class SessionsPage;

/// Joins the open session and the list of sessions to the store: saves every committed change by itself, and its runs.
class SessionDesk : public QObject {
    Q_OBJECT
public:
    SessionDesk(const QString& file, Session* session, MachineDesk* machine, SessionsPage* page, QObject* parent);

    void openLast();
    /// The list is on screen: it follows what other windows change.
    void setSeen(bool seen);

    /// Keeps a run from elsewhere with the open session, which is saved first if nothing of it is kept yet.
    void keepImported(RunRecord run, const std::vector<StepMetric>& metrics);

    [[nodiscard]] Keeper& keeper() { return *m_keeper; }
    [[nodiscard]] const SessionRow& current() const { return m_row; }

signals:
    void said(const QString& sentence); ///< for the message bar; empty: what was said is over
    void state(const QString& words);   ///< for the status bar
    void opened();
    void nothingToOpen();
    void compareAsked(const QString& a, const QString& b);

private:
    void joinPage();
    void joinKeeper();
    void save();
    void list();
    void adopt(const KeptSessionPtr& kept);
    void keepRun();

    Keeper* m_keeper;
    Session* m_session;
    MachineDesk* m_machine;
    SessionsPage* m_page;
    SessionRow m_row;                                                     ///< of the open session; id 0: nothing of it is kept yet
    std::vector<std::pair<RunRecord, std::vector<StepMetric>>> m_waiting; ///< runs, until the session has a number
    SessionId m_removed = 0;
    bool m_untouched = true; ///< as it was opened: not worth a session of its own
};

} // namespace loadline
