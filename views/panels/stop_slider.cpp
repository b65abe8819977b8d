// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/stop_slider.hpp"

#include "views/palette.hpp"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace loadline {
namespace {

constexpr int kSide = 28; ///< pixels left and right of the outer stops
constexpr int kLine = 18; ///< height of the track

} // namespace

StopSlider::StopSlider(std::vector<int> stops, QWidget* parent) : QWidget(parent), m_stops(std::move(stops))
{
    setFixedHeight(52);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Split granularity"));
    setCursor(Qt::PointingHandCursor);
    describe();
}

void StopSlider::setValue(int value)
{
    const auto found = std::find(m_stops.begin(), m_stops.end(), value);
    if (found == m_stops.end())
        return;
    m_index = static_cast<std::size_t>(found - m_stops.begin());
    describe();
    update();
}

void StopSlider::describe()
{
    setAccessibleDescription(tr("at most %n slice(s) per operator", nullptr, value()));
}

QSize StopSlider::sizeHint() const
{
    return {220, 52};
}

double StopSlider::position(std::size_t index) const
{
    return kSide + (width() - 2.0 * kSide) * static_cast<double>(index) / static_cast<double>(m_stops.size() - 1);
}

QPoint StopSlider::stopPosition(int value) const
{
    const auto found = std::find(m_stops.begin(), m_stops.end(), value);
    return {static_cast<int>(position(static_cast<std::size_t>(found - m_stops.begin()))), kLine};
}

std::size_t StopSlider::nearest(double x) const
{
    const double share = (x - kSide) / (width() - 2.0 * kSide) * static_cast<double>(m_stops.size() - 1);
    return static_cast<std::size_t>(std::clamp(std::round(share), 0.0, static_cast<double>(m_stops.size() - 1)));
}

void StopSlider::paintEvent(QPaintEvent*)
{
    const Palette& colors = currentPalette();
    QPainter painter(this);
    painter.fillRect(rect(), colors.panel);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(colors.line, 4, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(QPointF(position(0), kLine), QPointF(position(m_stops.size() - 1), kLine));
    for (std::size_t i = 0; i < m_stops.size(); ++i) {
        const bool chosen = i == m_index;
        painter.setPen(chosen && hasFocus() ? QPen(colors.text, 1.5) : QPen(Qt::NoPen));
        painter.setBrush(chosen ? colors.accent : colors.softText);
        const double radius = chosen ? 8.5 : 4;
        painter.drawEllipse(QPointF(position(i), kLine), radius, radius);
        painter.setPen(chosen ? colors.text : colors.softText);
        painter.setFont(fontOf(11, chosen));
        painter.drawText(QRectF(position(i) - 24, kLine + 12, 48, 16), Qt::AlignCenter, QString::number(m_stops[i]));
    }
}

void StopSlider::moveTo(std::size_t index)
{
    if (index == m_index)
        return;
    m_index = index;
    describe();
    update();
    emit valueChosen(value());
}

void StopSlider::mousePressEvent(QMouseEvent* event)
{
    moveTo(nearest(event->position().x()));
}

void StopSlider::mouseMoveEvent(QMouseEvent* event)
{
    if (event->buttons().testFlag(Qt::LeftButton))
        moveTo(nearest(event->position().x()));
}

void StopSlider::keyPressEvent(QKeyEvent* event)
{
    const std::size_t last = m_stops.size() - 1;
    switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Down:
        return moveTo(m_index > 0 ? m_index - 1 : 0);
    case Qt::Key_Right:
    case Qt::Key_Up:
        return moveTo(std::min(m_index + 1, last));
    case Qt::Key_Home:
        return moveTo(0);
    case Qt::Key_End:
        return moveTo(last);
    default:
        QWidget::keyPressEvent(event);
    }
}

} // namespace loadline
