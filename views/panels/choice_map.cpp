// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/format/text.hpp"
#include "views/palette.hpp"
#include "views/panels/operator_details.hpp"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace loadline {
namespace {

constexpr double kReach = 10; ///< pixels around a point that count as on it

} // namespace

ChoiceMap::ChoiceMap(QWidget* parent) : QWidget(parent)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(120, 80);
    setAccessibleName(tr("Cost under every choice"));
}

void ChoiceMap::setUnit(const PlanPicturePtr& picture, std::size_t unit)
{
    m_points.clear();
    const Plan* plan = picture ? picture->plan() : nullptr;
    if (plan && unit < plan->table.units.size()) {
        const std::int64_t ranks = plan->table.setup.cluster.ranks();
        for (const OptionCost& cost : plan->table.options(unit)) {
            m_points.push_back({double(cost.persistent().count()), cost.serial().value(),
                                tr("%1 \u00b7 %2 stay \u00b7 %3")
                                    .arg(strategyText(cost.strategy, ranks), bytesText(cost.persistent()), secondsText(cost.serial()))});
        }
        m_chosen = m_looked = plan->choice[unit];
        setAccessibleDescription(m_points[m_chosen].words);
    }
    update();
}

QRectF ChoiceMap::area() const
{
    return QRectF(rect()).adjusted(14, 10, -14, -24);
}

ChartTable ChoiceMap::table() const
{
    ChartTable table{{tr("choice"), tr("memory that stays, bytes"), tr("time, s"), tr("chosen")}, {}};
    for (std::size_t option = 0; option < m_points.size(); ++option)
        table.rows.push_back({m_points[option].words, QString::number(static_cast<qint64>(m_points[option].bytes)),
                              exactText(m_points[option].seconds), option == m_chosen ? tr("yes") : tr("no")});
    return table;
}

QPointF ChoiceMap::position(std::size_t option) const
{
    const auto [leastBytes, mostBytes] =
        std::minmax_element(m_points.begin(), m_points.end(), [](const Point& a, const Point& b) { return a.bytes < b.bytes; });
    const auto [leastTime, mostTime] =
        std::minmax_element(m_points.begin(), m_points.end(), [](const Point& a, const Point& b) { return a.seconds < b.seconds; });
    const auto share = [](double value, double least, double most) { return most > least ? (value - least) / (most - least) : 0.5; };
    const QRectF all = area();
    return {all.left() + all.width() * share(m_points[option].bytes, leastBytes->bytes, mostBytes->bytes),
            all.bottom() - all.height() * share(m_points[option].seconds, leastTime->seconds, mostTime->seconds)};
}

void ChoiceMap::paintEvent(QPaintEvent*)
{
    const Palette& colors = currentPalette();
    QPainter painter(this);
    painter.fillRect(rect(), colors.panel);
    painter.setPen(colors.line);
    const QRectF all = area().adjusted(-6, -4, 6, 4);
    painter.drawLine(all.bottomLeft(), all.bottomRight());
    painter.drawLine(all.bottomLeft(), all.topLeft());
    painter.setFont(fontOf(10.5));
    painter.setPen(colors.softText);
    painter.drawText(rect().adjusted(0, 0, 0, -2), Qt::AlignHCenter | Qt::AlignBottom, tr("bytes that stay \u2192   time \u2191"));
    painter.setRenderHint(QPainter::Antialiasing);
    for (std::size_t i = 0; i < m_points.size(); ++i) {
        const bool chosen = i == m_chosen;
        painter.setPen(QPen(chosen ? colors.budget : colors.accent, 1.5));
        painter.setBrush(chosen ? QBrush(colors.budget) : QBrush(Qt::NoBrush));
        painter.drawEllipse(position(i), chosen ? 5.0 : 3.5, chosen ? 5.0 : 3.5);
    }
    if (hasFocus() && m_looked < m_points.size()) {
        painter.setPen(QPen(colors.text, 1, Qt::DotLine));
        painter.setBrush(Qt::NoBrush);
        painter.drawEllipse(position(m_looked), 8, 8);
    }
}

void ChoiceMap::look(std::size_t option)
{
    m_looked = option;
    emit hovered(m_points[option].words);
    update();
}

void ChoiceMap::mouseMoveEvent(QMouseEvent* event)
{
    for (std::size_t i = 0; i < m_points.size(); ++i) {
        const QPointF away = position(i) - event->position();
        if (std::hypot(away.x(), away.y()) <= kReach)
            return look(i);
    }
    emit hovered({});
}

void ChoiceMap::keyPressEvent(QKeyEvent* event)
{
    const bool forward = event->key() == Qt::Key_Right || event->key() == Qt::Key_Down;
    const bool back = event->key() == Qt::Key_Left || event->key() == Qt::Key_Up;
    if (m_points.empty() || (!forward && !back))
        return QWidget::keyPressEvent(event);
    look((m_looked + (forward ? 1 : m_points.size() - 1)) % m_points.size());
}

void ChoiceMap::leaveEvent(QEvent*)
{
    emit hovered({});
}

} // namespace loadline
