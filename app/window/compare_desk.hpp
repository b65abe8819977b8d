// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/session/answer.hpp"
#include "app/session/work_slot.hpp"
#include "core/exchange/plan_document.hpp"

#include <QObject>
#include <QString>
#include <QStringList>

namespace loadline {

class ComparePage;

/// Decides which two plans the compare page shows: two that were asked for by name, else the pinned plan (or the one before the last
/// change) against the plan as it is.
class CompareDesk : public QObject {
    Q_OBJECT
public:
    CompareDesk(ComparePage* page, QObject* parent);

    /// The newest committed plan.
    void setAnswer(const PlanAnswerPtr& answer);
    /// Null: the plan before the last change.
    void setPinned(const PlanAnswerPtr& pinned);
    /// Two plan files or saved sessions (by name or number in the store at `storePath`); read on a worker.
    void openPair(const QString& a, const QString& b, const QString& storePath);
    /// Two files that are plans, by their content.
    [[nodiscard]] static bool takes(const QStringList& files);
    /// Brings the page up to date; for when it is seen.
    void refresh();

    [[nodiscard]] bool busy() const { return m_slot->busy(); }

signals:
    void failed(const QString& sentence);
    void opened(); ///< both plans of `openPair` are on the page

private:
    /// Both stairs, worked out on the worker.
    void askTradeOffs(const PlanDocument& a, const PlanDocument& b);
    void show(const PlanDocument& a, const QString& nameA, const PlanDocument& b, const QString& nameB);

    ComparePage* m_page;
    WorkSlot* m_slot;
    PlanAnswerPtr m_answer;
    PlanAnswerPtr m_before; ///< the one before it
    PlanAnswerPtr m_pinned;
    bool m_asked = false; ///< two plans were asked for by name
    bool m_stale = true;
};

} // namespace loadline
