// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/charts/bar_rows.hpp"

#include "views/format/text.hpp"
#include "views/palette.hpp"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>

namespace loadline {
namespace {

constexpr int kRow = 22;
constexpr int kBar = 11;
constexpr int kLeft = 12;
constexpr int kGap = 12;

} // namespace

BarRows::BarRows(QWidget* parent)
    : QWidget(parent), m_first([](const Palette& colors) { return colors.compute; }),
      m_second([](const Palette& colors) { return colors.hidden; })
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
}

void BarRows::setRows(std::vector<BarRow> rows)
{
    m_rows = std::move(rows);
    m_most = 0;
    m_nameWidth = 0;
    m_valueWidth = 0;
    const QFontMetrics names(fontOf(11.5));
    const QFontMetrics values(fontOf(11));
    for (const BarRow& row : m_rows) {
        m_most = std::max({m_most, row.first + row.second, row.mark});
        m_nameWidth = std::max(m_nameWidth, names.horizontalAdvance(row.name));
        m_valueWidth = std::max(m_valueWidth, values.horizontalAdvance(row.value));
    }
    m_looked = std::min(m_looked, static_cast<int>(m_rows.size()) - 1);
    updateGeometry();
    setMinimumHeight(minimumSizeHint().height());
    update();
}

void BarRows::setColors(Color first, Color second)
{
    m_first = std::move(first);
    m_second = std::move(second);
    update();
}

void BarRows::setEmptyWords(const QString& words)
{
    m_empty = words;
    update();
}

ChartTable BarRows::table() const
{
    ChartTable table{{tr("name"), tr("first value"), tr("second value"), tr("compared with"), tr("estimated"), tr("in words")}, {}};
    for (const BarRow& row : m_rows)
        table.rows.push_back({row.name, exactText(row.first), exactText(row.second), row.mark < 0 ? QString() : exactText(row.mark),
                              row.estimated ? tr("yes") : tr("no"), row.value});
    return table;
}

QSize BarRows::sizeHint() const
{
    return {480, minimumSizeHint().height()};
}

QSize BarRows::minimumSizeHint() const
{
    return {160, static_cast<int>(std::max<std::size_t>(m_rows.size(), 1)) * kRow + 4};
}

int BarRows::nameWidth() const
{
    return std::min(m_nameWidth, std::max(width() * 2 / 5, 60));
}

int BarRows::valueWidth() const
{
    return std::min(m_valueWidth, std::max(width() * 2 / 5, 60));
}

QRectF BarRows::barRect(std::size_t row) const
{
    const int left = kLeft + nameWidth() + kGap;
    const int right = width() - kLeft - valueWidth() - kGap;
    return QRectF(left, static_cast<int>(row) * kRow + (kRow - kBar) / 2.0, std::max(right - left, 10), kBar);
}

void BarRows::paintEvent(QPaintEvent*)
{
    const Palette& colors = currentPalette();
    QPainter painter(this);
    painter.fillRect(rect(), colors.panel);
    if (m_rows.empty()) {
        painter.setFont(fontOf(11.5));
        painter.setPen(colors.softText);
        painter.drawText(rect().adjusted(kLeft, 0, -kLeft, 0), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, m_empty);
        return;
    }
    const QColor both[2] = {m_first(colors), m_second(colors)};
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        const BarRow& row = m_rows[i];
        const QRect line(0, static_cast<int>(i) * kRow, width(), kRow);
        if (static_cast<int>(i) == m_looked)
            painter.fillRect(line, hasFocus() ? colors.chosen : colors.field);
        const QFont nameFont = fontOf(11.5);
        painter.setFont(nameFont);
        painter.setPen(colors.text);
        painter.drawText(line.adjusted(kLeft, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
                         QFontMetrics(nameFont).elidedText(row.name, Qt::ElideMiddle, nameWidth()));
        const QRectF area = barRect(i);
        painter.fillRect(area, colors.field);
        double from = area.left();
        const double perUnit = m_most > 0 ? area.width() / m_most : 0;
        for (const auto& [value, color] : {std::pair(row.first, both[0]), std::pair(row.second, both[1])}) {
            const QRectF bar(from, area.top(), value * perUnit, area.height());
            if (row.estimated) {
                painter.fillRect(bar, colors.field);
                painter.fillRect(bar, QBrush(color, Qt::BDiagPattern));
                painter.setPen(color);
                painter.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5));
            } else {
                painter.fillRect(bar, color);
            }
            from = bar.right();
        }
        if (row.mark >= 0)
            painter.fillRect(QRectF(area.left() + row.mark * perUnit - 1, area.top() - 3, 2, area.height() + 6), colors.text);
        painter.setFont(fontOf(11));
        painter.setPen(row.mood > 0 ? colors.better : row.mood < 0 ? colors.worse : colors.softText);
        painter.drawText(line.adjusted(0, 0, -kLeft, 0), Qt::AlignVCenter | Qt::AlignRight,
                         QFontMetrics(painter.font()).elidedText(row.value, Qt::ElideRight, valueWidth() + 1));
    }
}

void BarRows::look(int row)
{
    if (row == m_looked)
        return;
    m_looked = row;
    const QString words = row < 0 ? QString() : m_rows[static_cast<std::size_t>(row)].help;
    setAccessibleDescription(words);
    emit hovered(words);
    update();
}

void BarRows::mouseMoveEvent(QMouseEvent* event)
{
    const int row = static_cast<int>(event->position().y()) / kRow;
    look(row >= 0 && row < static_cast<int>(m_rows.size()) ? row : -1);
}

void BarRows::leaveEvent(QEvent*)
{
    look(-1);
}

void BarRows::focusOutEvent(QFocusEvent* event)
{
    QWidget::focusOutEvent(event);
    look(-1);
}

void BarRows::keyPressEvent(QKeyEvent* event)
{
    const int last = static_cast<int>(m_rows.size()) - 1;
    switch (event->key()) {
    case Qt::Key_Down:
        look(std::min(m_looked + 1, last));
        return;
    case Qt::Key_Up:
        look(std::min(std::max(m_looked - 1, 0), last));
        return;
    case Qt::Key_Home:
        look(std::min(0, last));
        return;
    case Qt::Key_End:
        look(last);
        return;
    default:
        QWidget::keyPressEvent(event);
    }
}

} // namespace loadline
