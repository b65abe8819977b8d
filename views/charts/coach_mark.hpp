// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

namespace loadline {

/// One sentence beside the thing to try, with a small arrow towards it. Never takes the mouse.
class CoachMark : public QWidget {
    Q_OBJECT
public:
    CoachMark(const QString& words, QWidget* over);

    /// Puts it above this point of its parent, the arrow's tip there.
    void pointAt(QPoint point);
    [[nodiscard]] QString words() const { return m_words; }
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString m_words;
};

} // namespace loadline
