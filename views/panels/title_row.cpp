// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/title_row.hpp"

#include "views/palette.hpp"

#include <QPainter>

namespace loadline {
namespace {

constexpr int kHeight = 30;
constexpr int kSwatch = 9;

} // namespace

TitleRow::TitleRow(const QString& title, const QString& unit, QWidget* parent) : QWidget(parent), m_title(title), m_unit(unit)
{
    setFixedHeight(kHeight);
    setAccessibleName(title);
}

void TitleRow::setTitle(const QString& title)
{
    m_title = title;
    setAccessibleName(title);
    update();
}

void TitleRow::setUnit(const QString& unit)
{
    m_unit = unit;
    update();
}

void TitleRow::setNote(const QString& note)
{
    m_note = note;
    update();
}

void TitleRow::setLegend(std::vector<Item> items)
{
    m_items = std::move(items);
    update();
}

void TitleRow::setIndent(int pixels)
{
    m_indent = pixels;
    update();
}

QSize TitleRow::sizeHint() const
{
    return {240, kHeight};
}

QSize TitleRow::minimumSizeHint() const
{
    return {80, kHeight};
}

void TitleRow::paintEvent(QPaintEvent*)
{
    const Palette& colors = currentPalette();
    QPainter painter(this);
    painter.fillRect(rect(), colors.panel);
    const int baseline = 20;
    const auto put = [&](int x, const QString& words, const QFont& font, const QColor& color) {
        painter.setFont(font);
        painter.setPen(color);
        painter.drawText(x, baseline, words);
        return x + QFontMetrics(font).horizontalAdvance(words);
    };
    int x = put(m_indent, m_title, fontOf(12.5, true), colors.text);
    const QFont small = fontOf(11);
    const QFontMetrics metrics(small);
    int end = width() - 16;
    if (!m_note.isEmpty()) {
        end -= metrics.horizontalAdvance(m_note);
        put(end, m_note, small, colors.softText);
        end -= 12;
    }
    if (!m_unit.isEmpty() && x + 8 + metrics.horizontalAdvance(m_unit) <= end)
        x = put(x + 8, m_unit, small, colors.softText);
    x += 24;
    int need = 0;
    for (const Item& item : m_items)
        need += kSwatch + 6 + metrics.horizontalAdvance(item.words) + 16;
    if (m_items.empty() || x + need - 16 > end)
        return; // no room: colours are also named in tool tips and tables
    x = end - need + 16;
    for (const Item& item : m_items) {
        painter.fillRect(QRect(x, baseline - kSwatch, kSwatch, kSwatch), item.color(colors));
        x = put(x + kSwatch + 6, item.words, small, colors.softText) + 16;
    }
}

} // namespace loadline
