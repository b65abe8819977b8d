// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/charts/measured_memory_chart.hpp"

#include "views/charts/memory_chart.hpp"
#include "views/charts/stacked_columns.hpp"
#include "views/charts/tickers.hpp"
#include "views/format/text.hpp"
#include "views/palette.hpp"

#include <algorithm>

namespace loadline {
namespace {

constexpr std::array kStack{MemoryCategory::Overhead,  MemoryCategory::Parameters,  MemoryCategory::Optimizer,
                            MemoryCategory::Gradients, MemoryCategory::Activations, MemoryCategory::Gathered};

double peakOf(const std::shared_ptr<const Timeline>& timeline)
{
    return timeline ? static_cast<double>(timeline->peak.count()) : 0;
}

bool drawable(const std::shared_ptr<const Timeline>& timeline)
{
    return timeline && !timeline->events.empty();
}

} // namespace

MeasuredMemoryChart::MeasuredMemoryChart(QWidget* parent)
    : Chart(parent), m_columns(new StackedColumns(plot()->xAxis, plot()->yAxis)), m_line(plot()->addGraph())
{
    setAccessibleName(tr("Measured and predicted memory over one step"));
    plot()->axisRect()->setMargins(QMargins(58, 8, kChartRight, 20));
    plot()->yAxis->setTicker(QSharedPointer<SizeTicker>::create());
    plot()->yAxis->ticker()->setTickCount(4);
    plot()->yAxis->setTickLabels(false);
    plot()->xAxis->setTickLabels(false);
    plot()->yAxis->grid()->setVisible(false);
    MeasuredMemoryChart::restyle();
}

void MeasuredMemoryChart::restyle()
{
    Chart::restyle();
    const Palette& colors = currentPalette();
    std::vector<QColor> stack;
    for (const MemoryCategory category : kStack)
        stack.push_back(colors.category[static_cast<std::size_t>(category)]);
    m_columns->setColors(std::move(stack));
    m_columns->setGround(colors.panel);
    m_line->setPen(QPen(colors.accent, 1.5));
    if (drawable(m_measured) || drawable(m_predicted))
        setTimelines(m_measured, m_predicted); // the outline holds its colour
}

void MeasuredMemoryChart::setTimelines(const std::shared_ptr<const Timeline>& measured, const std::shared_ptr<const Timeline>& predicted)
{
    m_measured = measured;
    m_predicted = predicted;
    const bool real = drawable(measured);
    const auto& shown = real ? measured : predicted;
    m_line->setVisible(drawable(shown));
    plot()->yAxis->setTickLabels(drawable(shown));
    plot()->yAxis->grid()->setVisible(drawable(shown));
    plot()->xAxis->setTickLabels(drawable(shown));
    m_columns->setVisible(drawable(shown));
    replotSoon();
    if (!drawable(shown))
        return;
    std::vector<double> values;
    values.reserve(shown->events.size() * kStack.size());
    for (const TimelineEvent& event : shown->events) {
        for (const MemoryCategory category : kStack)
            values.push_back(static_cast<double>(event.bytes[static_cast<std::size_t>(category)].count()));
    }
    std::vector<double> edges = timelineEdges(*shown);
    const double width = edges.back();
    setHome(0, width);
    auto names = QSharedPointer<QCPAxisTickerText>::create();
    for (const Phase phase : {Phase::Forward, Phase::Backward, Phase::Step}) {
        const auto is = [phase](const TimelineEvent& event) { return event.phase == phase; };
        const auto& events = shown->events;
        const auto first = std::find_if(events.begin(), events.end(), is) - events.begin();
        const auto last = events.rend() - std::find_if(events.rbegin(), events.rend(), is);
        if (first < last)
            names->addTick((edges[static_cast<std::size_t>(first)] + edges[static_cast<std::size_t>(last)]) / 2, phaseText(phase));
    }
    plot()->xAxis->setTicker(names);
    m_columns->setData(std::move(edges), std::move(values), kStack.size());
    m_columns->setStrength(real ? 1 : 0.28);
    if (drawable(predicted)) {
        std::vector<double> ghostEdges = timelineEdges(*predicted);
        for (double& edge : ghostEdges)
            edge *= width / std::max(timelineEdges(*predicted).back(), 1e-9);
        std::vector<double> totals;
        for (const TimelineEvent& event : predicted->events)
            totals.push_back(static_cast<double>(event.total().count()));
        m_columns->setGhost(std::move(ghostEdges), std::move(totals), currentPalette().text);
    } else {
        m_columns->setGhost({}, {}, {});
    }
    showRecord(width);
    const auto most = std::max_element(m_record.begin(), m_record.end());
    const double recorded = most == m_record.end() ? 0 : static_cast<double>(most->count());
    m_top = std::max({peakOf(measured), peakOf(predicted), recorded}) * 1.08;
    plot()->yAxis->setRange(0, std::max(m_top, 1.0));
    emit unitChanged(unit());
}

void MeasuredMemoryChart::setRecord(std::vector<Bytes> record)
{
    m_record = std::move(record);
    setTimelines(m_measured, m_predicted);
}

void MeasuredMemoryChart::showRecord(double width)
{
    QVector<double> keys;
    QVector<double> values;
    const double count = std::max(static_cast<double>(m_record.size()) - 1, 1.0);
    for (std::size_t i = 0; i < m_record.size(); ++i) {
        keys << width * static_cast<double>(i) / count;
        values << static_cast<double>(m_record[i].count());
    }
    m_line->setData(keys, values, true);
}

QString MeasuredMemoryChart::unit() const
{
    return QLatin1String(SizeTicker::unitOf(m_top).name);
}

void MeasuredMemoryChart::hoverAt(const QPoint* point)
{
    const int column = point && drawable(m_measured) ? m_columns->columnAt(plot()->xAxis->pixelToCoord(point->x())) : -1;
    if (column < 0) {
        emit hovered({});
        return;
    }
    const auto index = static_cast<std::size_t>(column);
    const TimelineEvent& event = m_measured->events[index];
    QString words = tr("%1 of unit %2 \u00b7 measured %3").arg(phaseText(event.phase)).arg(event.unit).arg(bytesText(event.total()));
    if (m_predicted && m_predicted->events.size() == m_measured->events.size())
        words += tr(" \u00b7 predicted %1").arg(bytesText(m_predicted->events[index].total()));
    emit hovered(words);
}

ChartTable MeasuredMemoryChart::table() const
{
    ChartTable table{{tr("source"), tr("event"), tr("phase"), tr("unit"), tr("bytes")}, {}};
    for (const auto& [name, timeline] : {std::pair(tr("measured"), m_measured), std::pair(tr("predicted"), m_predicted)}) {
        for (std::size_t i = 0; timeline && i < timeline->events.size(); ++i) {
            const TimelineEvent& event = timeline->events[i];
            table.rows.push_back(
                {name, QString::number(i), phaseText(event.phase), QString::number(event.unit), QString::number(event.total().count())});
        }
    }
    for (std::size_t i = 0; i < m_record.size(); ++i)
        table.rows.push_back({tr("recorded"), QString::number(i), {}, {}, QString::number(m_record[i].count())});
    return table;
}

} // namespace loadline
