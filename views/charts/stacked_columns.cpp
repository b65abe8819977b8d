// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/charts/stacked_columns.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace loadline {
namespace {

constexpr int kHatchFrom = 4; ///< pixels: in narrower columns hatching cannot be told from another colour

} // namespace

StackedColumns::StackedColumns(QCPAxis* keyAxis, QCPAxis* valueAxis) : QCPAbstractPlottable(keyAxis, valueAxis)
{
    setSelectable(QCP::stNone);
    setAntialiased(false);
}

void StackedColumns::setData(std::vector<double> edges, std::vector<double> values, std::size_t series)
{
    m_edges = std::move(edges);
    m_values = std::move(values);
    m_series = series;
}

void StackedColumns::setColors(std::vector<QColor> colors)
{
    m_colors = std::move(colors);
}

void StackedColumns::setGhost(std::vector<double> edges, std::vector<double> totals, const QColor& color)
{
    m_ghostEdges = std::move(edges);
    m_ghostTotals = std::move(totals);
    m_ghostColor = color;
}

double StackedColumns::total(std::size_t column) const
{
    const auto first = m_values.begin() + static_cast<std::ptrdiff_t>(column * m_series);
    return std::accumulate(first, first + static_cast<std::ptrdiff_t>(m_series), 0.0);
}

double StackedColumns::maximum() const
{
    double most = 0;
    for (std::size_t column = 0; column < columns(); ++column)
        most = std::max(most, total(column));
    return most;
}

int StackedColumns::columnAt(double key) const
{
    if (m_edges.size() < 2 || key < m_edges.front() || key >= m_edges.back())
        return -1;
    return static_cast<int>(std::upper_bound(m_edges.begin(), m_edges.end(), key) - m_edges.begin()) - 1;
}

double StackedColumns::selectTest(const QPointF&, bool, QVariant*) const
{
    return -1;
}

QCPRange StackedColumns::getKeyRange(bool& foundRange, QCP::SignDomain) const
{
    foundRange = columns() > 0;
    return foundRange ? QCPRange(m_edges.front(), m_edges.back()) : QCPRange();
}

QCPRange StackedColumns::getValueRange(bool& foundRange, QCP::SignDomain, const QCPRange&) const
{
    foundRange = columns() > 0;
    return {0, maximum()};
}

void StackedColumns::draw(QCPPainter* painter)
{
    painter->setRenderHint(QPainter::Antialiasing, false);
    painter->setPen(Qt::NoPen);
    const auto pixel = [this](double key) { return static_cast<int>(std::lround(mKeyAxis->coordToPixel(key))); };
    for (std::size_t column = 0; column < columns();) {
        const int left = pixel(m_edges[column]);
        std::size_t tallest = column;
        std::size_t next = column + 1;
        // All columns that end within this pixel are one: the tallest stands for them.
        while (next < columns() && pixel(m_edges[next]) <= left) {
            if (total(next) > total(tallest))
                tallest = next;
            ++next;
        }
        const int right = std::max(pixel(m_edges[next]), left + 1);
        drawColumn(*painter, tallest, left, right - (right - left >= 4 ? m_gap : 0));
        column = next;
    }
    drawGhost(*painter);
}

void StackedColumns::drawColumn(QCPPainter& painter, std::size_t column, int left, int right) const
{
    double sum = 0;
    double bottom = std::round(mValueAxis->coordToPixel(0));
    for (std::size_t s = 0; s < m_series; ++s) {
        const double value = m_values[column * m_series + s];
        if (value <= 0)
            continue;
        sum += value;
        const double top = std::round(mValueAxis->coordToPixel(sum));
        if (top < bottom) {
            QColor color = m_colors[s];
            color.setAlphaF(static_cast<float>(m_strength));
            painter.fillRect(QRectF(left, top, right - left, bottom - top), color);
            if (s == m_hatchedSeries && column < m_hatched.size() && m_hatched[column] && right - left >= kHatchFrom)
                painter.fillRect(QRectF(left, top, right - left, bottom - top), QBrush(m_ground, Qt::BDiagPattern));
            bottom = top;
        }
    }
    if (static_cast<int>(column) == m_marked) {
        const double foot = std::round(mValueAxis->coordToPixel(0));
        painter.fillRect(QRectF(left, bottom - 4, std::max(right - left, 2), 3), m_ghostColor);
        painter.fillRect(QRectF(left, foot, std::max(right - left, 2), 3), m_ghostColor);
    }
}

void StackedColumns::setHatched(std::vector<bool> columns, std::size_t series)
{
    m_hatched = std::move(columns);
    m_hatchedSeries = series;
}

void StackedColumns::drawGhost(QCPPainter& painter) const
{
    if (m_ghostTotals.empty())
        return;
    QPen pen(m_ghostColor, 1, Qt::CustomDashLine, Qt::FlatCap);
    pen.setDashPattern({1.5, 2.5});
    painter.setPen(pen);
    QPolygonF outline;
    for (std::size_t i = 0; i < m_ghostTotals.size(); ++i) {
        const double x = std::round(mKeyAxis->coordToPixel(m_ghostEdges[i]));
        const double y = std::round(mValueAxis->coordToPixel(m_ghostTotals[i])) + 0.5;
        // One point a pixel, the highest: a dotted line through every step would be a blot.
        if (!outline.isEmpty() && x - outline.last().x() < 2) {
            outline.last().setY(std::min(outline.last().y(), y));
            continue;
        }
        outline.append(QPointF(x, y));
    }
    if (!outline.isEmpty())
        outline.append(QPointF(mKeyAxis->coordToPixel(m_ghostEdges.back()), outline.last().y()));
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.drawPolyline(outline);
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void StackedColumns::drawLegendIcon(QCPPainter* painter, const QRectF& rect) const
{
    painter->fillRect(rect, m_colors.empty() ? QColor() : m_colors.front());
}

} // namespace loadline
