// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

namespace loadline {

/// A one-pixel upright line over a chart. A child widget, so that moving it repaints from the chart's buffer only.
class Crosshair : public QWidget {
public:
    explicit Crosshair(QWidget* chart);

    /// Shows it at `x` from `top` over `height` pixels; a negative x hides it.
    void showAt(int x, int top, int height);

protected:
    void paintEvent(QPaintEvent*) override;
};

/// A veil over a chart's data while a newer answer is being searched: what shows through is the last plan at 60 %. A child widget, so that
/// it costs no replot.
class Veil : public QWidget {
public:
    explicit Veil(QWidget* chart);

protected:
    void paintEvent(QPaintEvent*) override;
};

} // namespace loadline
