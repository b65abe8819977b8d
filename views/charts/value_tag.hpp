// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

namespace loadline {

/// A value that was clicked in a chart, beside the place where it stands, until it is forgotten. A click on it forgets it too.
class ValueTag : public QWidget {
    Q_OBJECT
public:
    explicit ValueTag(QWidget* chart);

    /// Parts of `words` between dots become lines. Stays within `area` of the chart.
    void showAt(QPoint point, const QString& words, const QRect& area);
    void forget();
    [[nodiscard]] QString words() const { return m_words; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    QString m_words;
    QStringList m_lines;
};

/// The line around a chart that has the keyboard. Not in pictures.
class FocusRing : public QWidget {
public:
    explicit FocusRing(QWidget* chart);

protected:
    void paintEvent(QPaintEvent* event) override;
};

} // namespace loadline
