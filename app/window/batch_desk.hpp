// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/session/session.hpp"
#include "core/plan/batch_surface.hpp"

#include <QObject>

namespace loadline {

class BatchPage;

/// The batch surface of the present question, computed on a worker while its page is seen; a chosen cell becomes the batch and accumulation
/// of the session in one undo step.
class BatchDesk : public QObject {
    Q_OBJECT
public:
    BatchDesk(Session* session, BatchPage* page, QObject* parent);

    void setAnswer(const PlanAnswerPtr& answer);
    void setSeen(bool seen);
    [[nodiscard]] bool busy() const { return m_slot->busy(); }
    void stop();

signals:
    void failed(const QString& sentence);

private:
    void start();
    void cancel();
    void choose(qint64 batch, qint64 accumulation);
    void take(const std::shared_ptr<const BatchSurface>& surface);

    Session* m_session;
    BatchPage* m_page;
    WorkSlot* m_slot;
    PlanAnswerPtr m_answer;
    Inputs m_asked; ///< what the surface on the page, or on its way, belongs to
    bool m_has = false;
    bool m_seen = false;
};

} // namespace loadline
