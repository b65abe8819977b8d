// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/charts/value_tag.hpp"

#include "views/charts/chart_table.hpp"
#include "views/palette.hpp"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>

namespace loadline {
namespace {

constexpr int kPad = 6;
constexpr int kAway = 8; ///< pixels from the place that was clicked

} // namespace

ValueTag::ValueTag(QWidget* chart) : QWidget(chart)
{
    setCursor(Qt::ArrowCursor);
    hide();
}

void ValueTag::showAt(QPoint point, const QString& words, const QRect& area)
{
    m_words = words;
    m_lines = words.split(QStringLiteral(" \u00b7 "));
    const QFontMetrics metrics(fontOf(10.5));
    int width = 0;
    for (const QString& line : m_lines)
        width = std::max(width, metrics.horizontalAdvance(line));
    const QSize size(std::min(width + 2 * kPad, area.width()), static_cast<int>(m_lines.size()) * metrics.height() + 2 * kPad - 4);
    int left = point.x() + kAway;
    if (left + size.width() > area.right())
        left = point.x() - kAway - size.width();
    int top = point.y() - size.height() / 2;
    top = std::clamp(top, area.top(), std::max(area.top(), area.bottom() - size.height()));
    setGeometry(QRect(QPoint(std::max(left, area.left()), top), size));
    setAccessibleName(words);
    raise();
    show();
    update();
}

void ValueTag::forget()
{
    m_words.clear();
    hide();
}

void ValueTag::paintEvent(QPaintEvent*)
{
    const Palette& colors = currentPalette();
    QPainter painter(this);
    painter.setPen(colors.softText);
    painter.setBrush(colors.panel);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
    const QFont font = fontOf(10.5);
    const QFontMetrics metrics(font);
    painter.setFont(font);
    painter.setPen(colors.text);
    int y = kPad - 2;
    for (const QString& line : m_lines) {
        painter.drawText(QRect(kPad, y, width() - 2 * kPad, metrics.height()), Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(line, Qt::ElideMiddle, width() - 2 * kPad));
        y += metrics.height();
    }
}

void ValueTag::mousePressEvent(QMouseEvent* event)
{
    event->accept();
    forget();
}

FocusRing::FocusRing(QWidget* chart) : QWidget(chart)
{
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setProperty(kScreenOnly, true);
    hide();
}

void FocusRing::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setPen(QPen(currentPalette().accent, 2));
    painter.drawRect(rect().adjusted(1, 1, -1, -1));
}

} // namespace loadline
