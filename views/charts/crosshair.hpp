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

} // namespace loadline
