// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/units.hpp"

#include <QWidget>

#include <optional>
#include <vector>

class QLineEdit;

namespace loadline {

/// Where bytes lie on a chart: pixel = origin + bytes * pixelsPerByte, inside `area` of the chart's widget.
struct ByteScale {
    QRect area;
    double origin = 0;
    double pixelsPerByte = 0;

    [[nodiscard]] double pixel(Bytes bytes) const { return origin + double(bytes.count()) * pixelsPerByte; }
    [[nodiscard]] double bytes(double pixel) const { return (pixel - origin) / pixelsPerByte; }
    friend bool operator==(const ByteScale&, const ByteScale&) = default;
};

/// The budget line with its tag: a small child widget on top of a chart, so that moving it repaints a few pixels from the
/// chart's buffer and never replots the chart (0.01 ms against 1 to 60 ms, docs/window.md).
/// Horizontal on the memory chart, vertical on the trade-off; both show one value, which the owner sets.
class BudgetHandle : public QWidget {
    Q_OBJECT
public:
    BudgetHandle(Qt::Orientation line, QWidget* chart);

    void setScale(const ByteScale& scale);
    void setBudget(Bytes budget);
    /// Least feasible budget and memory of the device: where Home and End go, and where the line rests softly.
    void setLimits(Bytes least, Bytes device);
    /// Budgets at which the plan really changes, ascending: the line rests softly at those that stand apart from their neighbours.
    void setDetents(std::vector<Bytes> detents);
    /// Not empty: nothing fits; the line takes the error pattern and the tag says this.
    void setProblem(const QString& problem);
    /// Vertical line only: height of the dot on the curve in pixels of the chart, negative for none.
    void setDot(double pixel);

    [[nodiscard]] Bytes budget() const { return m_budget; }
    [[nodiscard]] bool dragging() const { return m_dragging; }
    [[nodiscard]] QString tagText() const;
    [[nodiscard]] QRect tagRect() const; ///< in this widget
    /// Middle of the line in the chart's coordinates: where a mouse would press.
    [[nodiscard]] QPoint grip() const;

signals:
    void grabbed();
    void moved(loadline::Bytes budget);                  ///< with every mouse move
    void released(loadline::Bytes budget);               ///< one undo step
    void cancelled(loadline::Bytes budget);              ///< Esc: back to the value before the drag
    void stepped(loadline::Bytes budget, bool repeated); ///< by key, wheel or typing

protected:
    void paintEvent(QPaintEvent*) override;
    void mousePressEvent(QMouseEvent*) override;
    void mouseMoveEvent(QMouseEvent*) override;
    void mouseReleaseEvent(QMouseEvent*) override;
    void mouseDoubleClickEvent(QMouseEvent*) override;
    void keyPressEvent(QKeyEvent*) override;
    void wheelEvent(QWheelEvent*) override;
    void enterEvent(QEnterEvent*) override;
    void leaveEvent(QEvent*) override;

private:
    void place();
    void paintLine(QPainter& painter) const;
    void paintTag(QPainter& painter) const;
    void paintDot(QPainter& painter) const;
    [[nodiscard]] bool horizontal() const { return m_line == Qt::Horizontal; }
    [[nodiscard]] double along(const QPointF& global) const;
    [[nodiscard]] Bytes rounded(double bytes, bool fine) const;
    [[nodiscard]] std::optional<Bytes> detentAt(double bytes) const;
    [[nodiscard]] Bytes rested(double bytes, Qt::KeyboardModifiers modifiers) const;
    [[nodiscard]] Bytes stepFrom(Bytes budget, int hundredths) const;
    void openEditor();
    void acceptEditor();

    Qt::Orientation m_line;
    ByteScale m_scale;
    Bytes m_budget;
    Bytes m_least;
    Bytes m_device;
    std::vector<Bytes> m_detents;
    QString m_problem;
    double m_dot = -1;
    bool m_dragging = false;
    bool m_hovered = false;
    bool m_fine = false;
    double m_anchorPixel = 0; ///< of the mouse, where the drag (or its fine part) began
    double m_anchorBytes = 0;
    Bytes m_before;
    QLineEdit* m_editor = nullptr;
};

} // namespace loadline
