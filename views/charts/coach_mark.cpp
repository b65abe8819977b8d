// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/charts/coach_mark.hpp"

#include "views/palette.hpp"

#include <QPainter>

namespace loadline {
namespace {

constexpr int kPadding = 10;
constexpr int kHeight = 28;
constexpr int kArrow = 7;
constexpr int kArrowAt = 28; ///< pixels from the right edge

} // namespace

CoachMark::CoachMark(const QString& words, QWidget* over) : QWidget(over), m_words(words)
{
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAccessibleName(words);
    resize(sizeHint());
}

QSize CoachMark::sizeHint() const
{
    return {QFontMetrics(fontOf(12, true)).horizontalAdvance(m_words) + 2 * kPadding, kHeight + kArrow};
}

void CoachMark::pointAt(QPoint point)
{
    resize(sizeHint());
    const bool above = point.y() - height() > 0;
    setProperty("above", above);
    move(point.x() - width() + kArrowAt, above ? point.y() - height() : point.y());
    update();
}

void CoachMark::paintEvent(QPaintEvent*)
{
    const Palette& colors = currentPalette();
    const bool above = property("above").toBool();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colors.text);
    const QRectF box(0, above ? 0 : kArrow, width(), kHeight);
    painter.drawRoundedRect(box, 5, 5);
    const double x = width() - kArrowAt;
    const double foot = above ? kHeight : kArrow;
    const double tip = above ? kHeight + kArrow : 0;
    painter.drawPolygon(QPolygonF{{x - kArrow, foot}, {x + kArrow, foot}, {x, tip}});
    painter.setPen(colors.panel);
    painter.setFont(fontOf(12, true));
    painter.drawText(box, Qt::AlignCenter, m_words);
}

} // namespace loadline
