// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/charts/chart_table.hpp"

#include <QWidget>

class QCPAxis;
class QCustomPlot;
class QVariantAnimation;

namespace loadline {

/// Margins shared by all charts of one column, so that their areas lie below each other.
inline constexpr int kChartLeft = 44;
inline constexpr int kChartRight = 16;

/// A plot in the house's style: no frame, horizontal grid only, few ticks, colours that follow the palette.
class Chart : public QWidget {
    Q_OBJECT
public:
    explicit Chart(QWidget* parent = nullptr);

    /// Full replots so far. A drag of the budget line must not add one.
    [[nodiscard]] int replots() const { return m_replots; }
    [[nodiscard]] QCustomPlot* plot() const { return m_plot; }
    /// Rectangle of the data in the plot's coordinates.
    [[nodiscard]] QRect dataArea() const;
    /// What is shown, as rows.
    [[nodiscard]] virtual ChartTable table() const { return {}; }

    /// Shows the data at 60 %: a newer answer is on its way. No replot.
    void setVeiled(bool veiled);
    /// Nothing moves by itself: ranges change at once. The default, until the application allows motion.
    static void setReducedMotion(bool reduced);

signals:
    void hovered(const QString& words); ///< what is under the mouse, for the status bar; empty when it leaves

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

    /// Takes colours and fonts from the current palette; calls the base first.
    virtual void restyle();
    /// After the plot's size or ranges changed: place what lies on top of it.
    virtual void arrange() {}
    /// The mouse is over the data area at this point of the plot, or has left (null).
    virtual void hoverAt(const QPoint* point);
    /// Replots once at the end of the event, however often it is asked.
    void replotSoon();
    /// Sets an axis' upper end, within 120 ms unless motion is reduced.
    void settleUpper(QCPAxis* axis, double upper);

private:
    QCustomPlot* m_plot;
    QWidget* m_veil;
    QVariantAnimation* m_settling = nullptr;
    int m_replots = 0;
};

} // namespace loadline
