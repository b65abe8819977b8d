// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/charts/crosshair.hpp"

#include "views/palette.hpp"

#include <QPainter>

namespace loadline {

Crosshair::Crosshair(QWidget* chart) : QWidget(chart)
{
    setAttribute(Qt::WA_TransparentForMouseEvents);
    hide();
}

void Crosshair::showAt(int x, int top, int height)
{
    if (x < 0) {
        hide();
        return;
    }
    setGeometry(x, top, 1, height);
    show();
}

Veil::Veil(QWidget* chart) : QWidget(chart)
{
    setAttribute(Qt::WA_TransparentForMouseEvents);
    hide();
}

void Veil::paintEvent(QPaintEvent*)
{
    QColor color = currentPalette().panel;
    color.setAlphaF(0.4F);
    QPainter(this).fillRect(rect(), color);
}

void Crosshair::paintEvent(QPaintEvent*)
{
    QPainter(this).fillRect(rect(), currentPalette().text);
}

} // namespace loadline
