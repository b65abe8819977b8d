// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/charts/chart_table.hpp"

#include <QWidget>

#include <optional>

class QCPAxis;
class QCustomPlot;
class QMouseEvent;
class QVariantAnimation;

namespace loadline {

class ValueTag;

/// Margins shared by all charts of one column, so that their areas lie below each other.
inline constexpr int kChartLeft = 44;
inline constexpr int kChartRight = 16;

/// A plot in the house's style: no frame, horizontal grid only, few ticks, colours that follow the palette. The wheel zooms at the pointer,
/// dragging moves what is shown, F shows all of it again, a click pins the value under the pointer until the next click or Esc. With the
/// keyboard: + and - zoom, left and right move.
class Chart : public QWidget, public TableSource {
    Q_OBJECT
public:
    explicit Chart(QWidget* parent = nullptr);

    /// Full replots so far. A drag of the budget line must not add one.
    [[nodiscard]] int replots() const { return m_replots; }
    [[nodiscard]] QCustomPlot* plot() const { return m_plot; }
    /// Rectangle of the data in the plot's coordinates.
    [[nodiscard]] QRect dataArea() const;
    /// What is shown, as rows.
    [[nodiscard]] ChartTable table() const override { return {}; }

    /// All that there is, along x.
    virtual void showAll();
    [[nodiscard]] bool zoomed() const { return m_zoomed; }
    /// A factor below 1 shows less, with what lies at this pixel of the plot staying where it is.
    void zoomAt(int x, double factor);
    /// Words of the value that was clicked; empty if none is pinned.
    [[nodiscard]] QString pinnedWords() const;

    /// Shows the data at 60 %: a newer answer is on its way. No replot.
    void setVeiled(bool veiled);
    [[nodiscard]] bool veiled() const;
    /// Nothing moves by itself: ranges change at once. The default, until the application allows motion.
    static void setReducedMotion(bool reduced);

signals:
    void hovered(const QString& words); ///< what is under the mouse, for the status bar; empty when it leaves
    /// The part of the x axis that is shown, in its own coordinates.
    void shownChanged(double from, double to);

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

    /// Takes colours and fonts from the current palette; calls the base first.
    virtual void restyle();
    /// After the plot's size or ranges changed: place what lies on top of it.
    virtual void arrange() {}
    /// The mouse is over the data area at this point of the plot, or has left (null).
    virtual void hoverAt(const QPoint* point);
    /// All that the x axis has to show. A part that a person has zoomed to keeps its share of it.
    void setHome(double lower, double upper);
    /// Replots once at the end of the event, however often it is asked.
    void replotSoon();
    /// Sets an axis' upper end, within 120 ms unless motion is reduced.
    void settleUpper(QCPAxis* axis, double upper);
    /// Ends such a movement at its end.
    void finishSettling();

private:
    void showPart(double lower, double upper);
    bool mouse(QMouseEvent* event);
    void moveTo(QPoint point);
    void pinAt(QPoint point);
    [[nodiscard]] bool zoomable() const { return m_homeUpper > m_homeLower; }

    QCustomPlot* m_plot;
    QWidget* m_veil;
    QWidget* m_ring;
    ValueTag* m_tag;
    QString m_words; ///< under the mouse
    double m_homeLower = 0;
    double m_homeUpper = 0; ///< not above the lower: the subclass zooms by itself, or there is nothing to zoom
    bool m_zoomed = false;
    std::optional<QPoint> m_pressed;
    double m_pressedLower = 0; ///< what was shown then
    double m_pressedUpper = 0;
    bool m_moving = false;
    QVariantAnimation* m_settling = nullptr;
    int m_replots = 0;
};

} // namespace loadline
