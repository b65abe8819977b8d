// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/charts/line_chart.hpp"

#include "views/charts/tickers.hpp"
#include "views/format/text.hpp"
#include "views/palette.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace loadline {
namespace {

bool isLog(LineChart::Scale scale)
{
    return scale == LineChart::Scale::LogBytes || scale == LineChart::Scale::LogSeconds;
}

void setUp(QCPAxis& axis, LineChart::Scale scale)
{
    switch (scale) {
    case LineChart::Scale::LogBytes:
        axis.setTicker(QSharedPointer<LogBytesTicker>::create());
        break;
    case LineChart::Scale::LogSeconds:
        axis.setTicker(QSharedPointer<LogSecondsTicker>::create());
        break;
    case LineChart::Scale::Share:
        axis.setTicker(QSharedPointer<ShareTicker>::create());
        break;
    default:
        break;
    }
    axis.ticker()->setTickCount(4);
    axis.setScaleType(isLog(scale) ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    if (!isLog(scale)) {
        axis.setNumberFormat(QStringLiteral("gb"));
        axis.setNumberPrecision(4);
    }
}

/// A range with some air around, never empty.
QCPRange airy(double low, double high, LineChart::Scale scale, bool vertical)
{
    if (isLog(scale)) {
        const double factor = vertical ? 1.5 : 1.2;
        return {low / factor, high * factor};
    }
    if (scale == LineChart::Scale::Count)
        return {low, std::max(high, low + 1)};
    const double span = high > low ? high - low : std::max(std::abs(high), 1e-3);
    return {low - span * 0.08, high + span * 0.08};
}

} // namespace

LineChart::LineChart(Scale x, Scale y, const QString& name, QWidget* parent) : Chart(parent), m_x(x), m_y(y)
{
    setAccessibleName(name);
    plot()->axisRect()->setMargins(QMargins(58, 8, 24, 22));
    setUp(*plot()->xAxis, x);
    setUp(*plot()->yAxis, y);
    fit();
    LineChart::restyle();
}

void LineChart::setColumns(const QString& x, const QString& y)
{
    m_xName = x;
    m_yName = y;
}

void LineChart::setXEnd(double end)
{
    m_xEnd = end;
    fit();
    replotSoon();
}

void LineChart::setSeries(std::vector<LineSeries> series)
{
    m_series = std::move(series);
    while (plot()->graphCount() > static_cast<int>(m_series.size()))
        plot()->removeGraph(plot()->graphCount() - 1);
    while (plot()->graphCount() < static_cast<int>(m_series.size()))
        plot()->addGraph();
    for (int i = 0; i < plot()->graphCount(); ++i) {
        const LineSeries& line = m_series[static_cast<std::size_t>(i)];
        QVector<double> keys;
        QVector<double> values;
        for (const auto& [x, y] : line.points) {
            keys << x;
            values << y;
        }
        plot()->graph(i)->setData(keys, values, true);
    }
    fit();
    restyle();
    replotSoon();
}

void LineChart::fit()
{
    constexpr double kFar = std::numeric_limits<double>::max();
    double left = kFar;
    double right = -kFar;
    double low = kFar;
    double high = -kFar;
    for (const LineSeries& line : m_series) {
        for (const auto& [x, y] : line.points) {
            if (!std::isfinite(x) || !std::isfinite(y))
                continue;
            left = std::min(left, x);
            right = std::max(right, x);
            low = std::min(low, y);
            high = std::max(high, y);
        }
    }
    const bool empty = left > right;
    plot()->xAxis->setTickLabels(!empty);
    plot()->yAxis->setTickLabels(!empty);
    plot()->yAxis->grid()->setVisible(!empty);
    if (empty)
        return;
    const QCPRange whole = airy(left, std::max(right, m_xEnd), m_x, false);
    setHome(whole.lower, whole.upper);
    plot()->yAxis->setRange(airy(low, high, m_y, true));
}

void LineChart::restyle()
{
    Chart::restyle();
    const Palette& colors = currentPalette();
    for (int i = 0; i < plot()->graphCount() && i < static_cast<int>(m_series.size()); ++i) {
        const LineSeries& line = m_series[static_cast<std::size_t>(i)];
        const QColor color = line.color ? line.color(colors) : colors.accent;
        QCPGraph& graph = *plot()->graph(i);
        const bool dots = line.style == LineSeries::Style::Dots;
        graph.setLineStyle(dots ? QCPGraph::lsNone : QCPGraph::lsLine);
        graph.setScatterStyle(dots ? QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(color, 1.4), QBrush(colors.panel), 6)
                                   : QCPScatterStyle());
        graph.setPen(QPen(color, 1.4, line.style == LineSeries::Style::Dashed ? Qt::DashLine : Qt::SolidLine));
        graph.setAntialiased(true);
    }
}

QString LineChart::words(Scale scale, double value)
{
    switch (scale) {
    case Scale::LogBytes:
        return bytesText(Bytes(static_cast<std::int64_t>(value)));
    case Scale::LogSeconds:
        return secondsText(Seconds(value));
    case Scale::Share:
        return signedPercentText(value);
    case Scale::Count:
        return wholeText(static_cast<std::int64_t>(value));
    case Scale::Plain:
        break;
    }
    return QString::number(value, 'g', 5);
}

void LineChart::hoverAt(const QPoint* point)
{
    if (point == nullptr) {
        emit hovered({});
        return;
    }
    constexpr double kReach = 24; // pixels
    double best = kReach * kReach;
    QString found;
    for (const LineSeries& line : m_series) {
        for (const auto& [x, y] : line.points) {
            const double dx = plot()->xAxis->coordToPixel(x) - point->x();
            const double dy = plot()->yAxis->coordToPixel(y) - point->y();
            const double distance = dx * dx + dy * dy;
            if (distance < best) {
                best = distance;
                found = tr("%1 \u00b7 %2 \u00b7 %3").arg(line.name, words(m_x, x), words(m_y, y));
            }
        }
    }
    emit hovered(found);
}

ChartTable LineChart::table() const
{
    ChartTable table{{tr("line"), m_xName, m_yName}, {}};
    for (const LineSeries& line : m_series) {
        for (const auto& [x, y] : line.points)
            table.rows.push_back({line.name, exactText(x), exactText(y)});
    }
    return table;
}

} // namespace loadline
