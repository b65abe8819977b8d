// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/session/answer.hpp"
#include "app/session/work_slot.hpp"

#include <QObject>

class QWidget;

namespace loadline {

/// Writes the plan on show: as a PyTorch FSDP2 bundle (a folder), a plan file, a page that stands alone, or a table. Made and written on a
/// worker.
class ExportDesk : public QObject {
    Q_OBJECT
public:
    enum class Form { Bundle, Plan, Page, Table };

    explicit ExportDesk(QWidget* window);

    /// Asks for form and place.
    void choose(const PlanAnswerPtr& answer);
    /// `place` is a new or empty folder for a bundle, else a file.
    void write(const PlanAnswerPtr& answer, Form form, const QString& place);
    [[nodiscard]] bool busy() const { return m_slot->busy(); }

signals:
    void said(const QString& words);
    void failed(const QString& sentence);

private:
    QWidget* m_window;
    WorkSlot* m_slot;
};

} // namespace loadline
