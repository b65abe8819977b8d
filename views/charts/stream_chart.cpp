// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/charts/stream_chart.hpp"

#include "views/charts/tickers.hpp"
#include "views/format/text.hpp"
#include "views/palette.hpp"

#include <algorithm>
#include <cmath>

namespace loadline {
namespace {

constexpr double kLeast = 1e-7; ///< seconds: the least time that fills the chart

QString kindText(StreamSpan::Kind kind)
{
    switch (kind) {
    case StreamSpan::Kind::ForwardGather:
        return StreamChart::tr("gather for forward");
    case StreamSpan::Kind::ForwardCompute:
        return StreamChart::tr("forward");
    case StreamSpan::Kind::BackwardGather:
        return StreamChart::tr("gather for backward");
    case StreamSpan::Kind::BackwardCompute:
        return StreamChart::tr("backward");
    case StreamSpan::Kind::Reduce:
        return StreamChart::tr("reduction");
    case StreamSpan::Kind::Step:
        return StreamChart::tr("optimizer step");
    }
    return {};
}

} // namespace

StreamChart::StreamChart(QWidget* parent) : Chart(parent), m_lanes(new SpanLanes(plot()->xAxis, plot()->yAxis))
{
    setAccessibleName(tr("Two streams of one step"));
    auto names = QSharedPointer<QCPAxisTickerText>::create();
    names->addTick(0, tr("gather"));
    names->addTick(1, tr("compute"));
    names->addTick(2, tr("reduce"));
    plot()->yAxis->setTicker(names);
    plot()->yAxis->setRangeReversed(true);
    plot()->yAxis->setRange(-0.5, static_cast<double>(kLanes) - 0.5);
    plot()->yAxis->grid()->setVisible(false);
    plot()->xAxis->setTicker(QSharedPointer<MillisecondTicker>::create());
    plot()->axisRect()->setMargins(QMargins(kChartLeft + 20, 8, kChartRight, 20));
    plot()->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
    plot()->axisRect()->setRangeDrag(Qt::Horizontal);
    plot()->axisRect()->setRangeZoom(Qt::Horizontal);
    plot()->axisRect()->setRangeZoomFactor(0.8);
    connect(plot()->xAxis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), this,
            [this](const QCPRange& range) { showTime(range.lower, range.upper); });
    m_lanes->setLabel([this](const StreamSpan& span) {
        const Plan* plan = m_picture ? m_picture->plan() : nullptr;
        return plan && span.unit < plan->table.units.size() ? text(plan->table.units[span.unit].name) : QString();
    });
    StreamChart::restyle();
}

void StreamChart::restyle()
{
    Chart::restyle();
    const Palette& colors = currentPalette();
    const auto category = [&](MemoryCategory which) { return colors.category[static_cast<std::size_t>(which)]; };
    m_lanes->setColors({category(MemoryCategory::Gathered), colors.compute, category(MemoryCategory::Gathered), colors.hidden,
                        category(MemoryCategory::Gradients), category(MemoryCategory::Optimizer)},
                       colors.exposed, colors.text);
}

void StreamChart::setPicture(const PlanPicturePtr& picture)
{
    if (!picture || !picture->plan())
        return;
    m_picture = picture;
    m_loaded = false;
    if (isVisible())
        load();
}

void StreamChart::showEvent(QShowEvent* event)
{
    Chart::showEvent(event);
    load();
}

void StreamChart::load()
{
    if (m_loaded || !m_picture)
        return;
    m_loaded = true;
    const Plan& plan = *m_picture->plan();
    m_lanes->setSpans(streamSpans(plan.table, plan.choice));
    setAccessibleDescription(tr("Step %1, of which computing waits %2 for communication")
                                 .arg(secondsText(plan.time.overlapped), secondsText(plan.time.exposed)));
    if (m_keepsRange)
        showTime(shownFrom(), shownTo());
    else
        fit();
    replotSoon();
}

void StreamChart::fit()
{
    m_keepsRange = false;
    showTime(0, std::max(m_lanes->end(), kLeast));
    m_keepsRange = false;
    replotSoon();
}

void StreamChart::showTime(double from, double to)
{
    const double most = std::max(m_lanes->end(), kLeast);
    const double width = std::clamp(to - from, std::min(kLeast, most), most);
    const double start = std::clamp(from, 0.0, most - width);
    const QSignalBlocker quiet(plot()->xAxis);
    plot()->xAxis->setRange(start, start + width);
    m_keepsRange = width < most;
}

void StreamChart::zoom(double factor)
{
    const double middle = (shownFrom() + shownTo()) / 2;
    const double half = (shownTo() - shownFrom()) / 2 / factor;
    showTime(middle - half, middle + half);
    replotSoon();
}

void StreamChart::pan(double share)
{
    const double width = shownTo() - shownFrom();
    showTime(shownFrom() + share * width, shownTo() + share * width);
    replotSoon();
}

void StreamChart::zoomTo(std::size_t unit)
{
    load();
    const StreamSpan* span = m_lanes->firstOf(unit);
    if (!span)
        return;
    const double width = std::max((span->end - span->start).value(), kLeast);
    showTime(span->start.value() - 2 * width, span->end.value() + 2 * width);
    markUnit(static_cast<int>(unit));
}

void StreamChart::markUnit(int unit)
{
    m_lanes->setMarked(unit);
    replotSoon();
}

double StreamChart::shownFrom() const
{
    return plot()->xAxis->range().lower;
}

double StreamChart::shownTo() const
{
    return plot()->xAxis->range().upper;
}

QString StreamChart::words(const StreamSpan& span) const
{
    const Plan& plan = *m_picture->plan();
    const QString name = span.kind == StreamSpan::Kind::Step || span.unit >= plan.table.units.size()
                             ? QString()
                             : text(plan.table.units[span.unit].name) + QStringLiteral(" \u00b7 ");
    return tr("%1%2 \u00b7 %3, from %4").arg(name, kindText(span.kind), secondsText(span.end - span.start), secondsText(span.start));
}

void StreamChart::hoverAt(const QPoint* point)
{
    const StreamSpan* span = nullptr;
    if (point && m_picture && m_loaded) {
        const auto lane = std::lround(plot()->yAxis->pixelToCoord(point->y()));
        if (lane >= 0 && lane < static_cast<long>(kLanes))
            span = m_lanes->at(static_cast<Lane>(lane), plot()->xAxis->pixelToCoord(point->x()));
    }
    emit unitHovered(span && span->kind != StreamSpan::Kind::Step ? static_cast<int>(span->unit) : -1);
    emit hovered(span ? words(*span) : QString());
}

ChartTable StreamChart::table() const
{
    ChartTable table{{tr("what"), tr("operator"), tr("from, s"), tr("to, s")}, {}};
    if (!m_picture)
        return table;
    const Plan& plan = *m_picture->plan();
    for (const StreamSpan& span : streamSpans(plan.table, plan.choice))
        table.rows.push_back(
            {kindText(span.kind), text(plan.table.units[span.unit].name), exactText(span.start.value()), exactText(span.end.value())});
    return table;
}

} // namespace loadline
