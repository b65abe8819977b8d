// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/charts/memory_chart.hpp"

#include "views/charts/budget_handle.hpp"
#include "views/charts/coach_mark.hpp"
#include "views/charts/stacked_columns.hpp"
#include "views/charts/tickers.hpp"
#include "views/format/text.hpp"
#include "views/models/unit_names.hpp"
#include "views/palette.hpp"

#include <algorithm>
#include <utility>

namespace loadline {
namespace {

/// Overhead at the foot, then what stays, then what comes and goes: the order of stacking.
constexpr std::array kStack{MemoryCategory::Overhead,  MemoryCategory::Parameters,  MemoryCategory::Optimizer,
                            MemoryCategory::Gradients, MemoryCategory::Activations, MemoryCategory::Gathered};
constexpr double kStepShare = 0.06; ///< of the width, for the optimizer step

/// First events of backward and of the step.
struct Borders {
    std::size_t backward = 0;
    std::size_t step = 0;
};

Borders bordersOf(const Timeline& timeline)
{
    const auto first = [&](auto&& is) {
        const auto found = std::find_if(timeline.events.begin(), timeline.events.end(), is);
        return static_cast<std::size_t>(found - timeline.events.begin());
    };
    return {first([](const TimelineEvent& e) { return e.phase != Phase::Forward; }),
            first([](const TimelineEvent& e) { return e.phase == Phase::Step; })};
}

} // namespace

std::vector<double> timelineEdges(const Timeline& timeline)
{
    const double plain = static_cast<double>(
        std::count_if(timeline.events.begin(), timeline.events.end(), [](const TimelineEvent& e) { return e.phase != Phase::Step; }));
    const double steps = static_cast<double>(timeline.events.size()) - plain;
    const double stepWidth = steps > 0 ? std::max(1.0, plain * kStepShare / steps) : 1.0;
    std::vector<double> edges{0};
    edges.reserve(timeline.events.size() + 1);
    for (const TimelineEvent& event : timeline.events)
        edges.push_back(edges.back() + (event.phase == Phase::Step ? stepWidth : 1.0));
    return edges;
}

MemoryChart::MemoryChart(QWidget* parent)
    : Chart(parent), m_columns(new StackedColumns(plot()->xAxis, plot()->yAxis)), m_handle(new BudgetHandle(Qt::Horizontal, plot()))
{
    setAccessibleName(tr("Memory over one step"));
    plot()->yAxis->setTicker(QSharedPointer<GibTicker>::create());
    plot()->yAxis->setRange(0, double(std::int64_t{8} << 30)); // until there is a plan
    plot()->xAxis->setTicker(QSharedPointer<QCPAxisTickerText>::create());
    connect(m_handle, &BudgetHandle::grabbed, this, &MemoryChart::finishSettling); // no axis moves under a hand
    makeItems();
    MemoryChart::restyle();
    fillItems();
}

void MemoryChart::makeItems()
{
    m_ceiling = new QCPItemRect(plot());
    m_ceilingLine = new QCPItemLine(plot());
    m_ceilingText = new QCPItemText(plot());
    m_peakText = new QCPItemText(plot());
    m_peakDot = new QCPItemTracer(plot());
    for (QCPItemLine*& border : m_borders) {
        border = new QCPItemLine(plot());
        border->start->setTypeY(QCPItemPosition::ptAxisRectRatio);
        border->end->setTypeY(QCPItemPosition::ptAxisRectRatio);
    }
    for (QCPItemPosition* position :
         {m_ceiling->topLeft, m_ceiling->bottomRight, m_ceilingLine->start, m_ceilingLine->end, m_ceilingText->position})
        position->setTypeX(QCPItemPosition::ptAxisRectRatio);
    m_ceilingText->setPositionAlignment(Qt::AlignLeft | Qt::AlignBottom);
    m_ceilingText->setPadding(QMargins(4, 0, 4, 1));
    m_peakText->setPadding(QMargins(3, 0, 3, 0));
    m_peakDot->setStyle(QCPItemTracer::tsCircle);
    m_peakDot->setSize(8);
}

void MemoryChart::restyle()
{
    Chart::restyle();
    if (!m_peakDot)
        return;
    const Palette& colors = currentPalette();
    std::vector<QColor> stack;
    for (const MemoryCategory category : kStack)
        stack.push_back(colors.category[static_cast<std::size_t>(category)]);
    m_columns->setColors(std::move(stack));
    QColor hatch = colors.worse;
    hatch.setAlphaF(0.35F);
    m_ceiling->setPen(Qt::NoPen);
    m_ceiling->setBrush(QBrush(hatch, Qt::BDiagPattern));
    m_ceilingLine->setPen(QPen(colors.worse, 1));
    m_ceilingText->setColor(colors.worse);
    m_ceilingText->setFont(fontOf(10.5));
    QPen border(colors.softText, 1, Qt::CustomDashLine, Qt::FlatCap);
    border.setDashPattern({1.5, 3});
    for (QCPItemLine* line : m_borders)
        line->setPen(border);
    QColor veil = colors.panel;
    veil.setAlphaF(0.78F);
    m_ceilingText->setBrush(veil);
    m_peakText->setBrush(veil);
    m_peakText->setColor(colors.text);
    m_peakText->setFont(fontOf(11));
    m_peakDot->setPen(QPen(colors.text, 1.5));
    m_peakDot->setBrush(colors.panel);
    fillGhost();
}

void MemoryChart::setPicture(const PlanPicturePtr& picture)
{
    m_picture = picture;
    if (picture && picture->plan())
        m_shown = picture;
    fillColumns();
    fillItems();
    replotSoon();
}

void MemoryChart::setGhost(const PlanPicturePtr& ghost)
{
    if (ghost == m_ghost)
        return;
    m_ghost = ghost;
    fillGhost();
    replotSoon();
}

void MemoryChart::setCoached(bool coached)
{
    if (coached == this->coached())
        return;
    delete std::exchange(m_coach, nullptr);
    if (!coached)
        return;
    m_coach = new CoachMark(tr("Drag me: everything re-plans"), plot());
    m_coach->show();
    connect(m_handle, &BudgetHandle::grabbed, m_coach, [this] { setCoached(false); });
    connect(m_handle, &BudgetHandle::stepped, m_coach, [this] { setCoached(false); });
    arrange();
}

void MemoryChart::setTop(Bytes top)
{
    if (top == m_top)
        return;
    m_top = top;
    settleUpper(plot()->yAxis, static_cast<double>(top.count()));
    fillItems();
    arrange();
    replotSoon();
}

Bytes MemoryChart::maximum() const
{
    return Bytes(static_cast<std::int64_t>(m_columns->maximum()));
}

QString MemoryChart::peakText() const
{
    return m_peakText->visible() ? m_peakText->text() : QString();
}

void MemoryChart::fillColumns()
{
    const bool current = m_picture && m_picture->plan();
    m_columns->setStrength(current ? 1 : 0.28);
    if (!m_shown)
        return;
    const Timeline& timeline = *m_shown->timeline;
    std::vector<double> values;
    values.reserve(timeline.events.size() * kStack.size());
    for (const TimelineEvent& event : timeline.events) {
        for (const MemoryCategory category : kStack)
            values.push_back(static_cast<double>(event.bytes[static_cast<std::size_t>(category)].count()));
    }
    std::vector<double> edges = timelineEdges(timeline);
    setHome(0, edges.back());
    const Borders borders = bordersOf(timeline);
    const std::array<double, 4> at{0, edges[borders.backward], edges[borders.step], edges.back()};
    auto names = QSharedPointer<QCPAxisTickerText>::create();
    names->addTick((at[0] + at[1]) / 2, phaseText(Phase::Forward));
    names->addTick((at[1] + at[2]) / 2, phaseText(Phase::Backward));
    names->addTick((at[2] + at[3]) / 2, phaseText(Phase::Step));
    plot()->xAxis->setTicker(names);
    for (std::size_t i = 0; i < m_borders.size(); ++i) {
        m_borders[i]->start->setCoords(at[i + 1], 0);
        m_borders[i]->end->setCoords(at[i + 1], 1);
    }
    m_columns->setData(std::move(edges), std::move(values), kStack.size());
    fillGhost(); // its width follows the shown plan's
}

void MemoryChart::fillGhost()
{
    std::vector<double> edges;
    std::vector<double> totals;
    if (m_ghost && m_ghost->plan() && m_shown && m_ghost != m_shown) {
        edges = timelineEdges(*m_ghost->timeline);
        // Another model or recomputation has another number of events; the step stays one step wide.
        const double scale = timelineEdges(*m_shown->timeline).back() / edges.back();
        for (double& edge : edges)
            edge *= scale;
        for (const TimelineEvent& event : m_ghost->timeline->events)
            totals.push_back(static_cast<double>(event.total().count()));
    }
    m_columns->setGhost(std::move(edges), std::move(totals), currentPalette().text);
}

void MemoryChart::fillItems()
{
    const bool current = m_picture && m_picture->plan();
    const double device = m_picture ? static_cast<double>(m_picture->device.count()) : 0;
    const double top = static_cast<double>(m_top.count());
    const bool ceiling = device > 0 && device < top;
    m_ceiling->setVisible(ceiling);
    m_ceilingLine->setVisible(ceiling);
    m_ceilingText->setVisible(device > 0);
    m_ceiling->topLeft->setCoords(0, top);
    m_ceiling->bottomRight->setCoords(1, device);
    m_ceilingLine->start->setCoords(0, device);
    m_ceilingLine->end->setCoords(1, device);
    if (m_picture) {
        const QString size = gibText(m_picture->device);
        m_ceilingText->setText(ceiling ? tr("device %1").arg(size) : tr("device %1, above \u2191").arg(size));
        m_ceilingText->position->setCoords(0, ceiling ? device : top);
        m_ceilingText->setPositionAlignment(Qt::AlignLeft | (ceiling ? Qt::AlignBottom : Qt::AlignTop));
    }
    m_peakText->setVisible(current);
    m_peakDot->setVisible(current);
    for (QCPItemLine* border : m_borders)
        border->setVisible(m_shown != nullptr);
    if (current)
        placePeak();
}

void MemoryChart::placePeak()
{
    const Timeline& timeline = *m_picture->timeline;
    const TimelineEvent& event = timeline.events[timeline.peakEvent];
    const std::vector<double> edges = timelineEdges(timeline);
    const double key = (edges[timeline.peakEvent] + edges[timeline.peakEvent + 1]) / 2;
    const double value = static_cast<double>(timeline.peak.count());
    const QString where = event.phase == Phase::Step ? tr("the optimizer step") : shortUnitName(m_picture->plan()->table.units[event.unit]);
    m_peakText->setText(tr("peak %1 at %2").arg(gibText(timeline.peak), where));
    m_peakDot->position->setCoords(key, value);
    // Beside the peak the area is lower, so there is room; beyond two thirds of the width the room is on the left.
    const bool left = key > edges.back() * 0.66;
    m_peakText->setPositionAlignment((left ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignTop);
    m_peakText->setPadding(left ? QMargins(3, 1, 10, 0) : QMargins(10, 1, 3, 0));
    m_peakText->position->setCoords(key, value);
}

void MemoryChart::arrange()
{
    const QRect area = dataArea();
    if (m_top <= Bytes() || area.height() <= 0)
        return;
    ByteScale scale;
    scale.area = area;
    scale.origin = area.bottom() + 1;
    scale.pixelsPerByte = -double(area.height()) / plot()->yAxis->range().upper; // may still be settling
    m_handle->setScale(scale);
    m_handle->raise();
    if (m_coach != nullptr) {
        m_coach->pointAt(QPoint(m_handle->geometry().right() - 30, m_handle->geometry().top()));
        m_coach->raise();
    }
}

void MemoryChart::hoverAt(const QPoint* point)
{
    if (!m_shown || !point) {
        emit hovered({});
        emit unitHovered(-1);
        return;
    }
    const int column = m_columns->columnAt(plot()->xAxis->pixelToCoord(point->x()));
    if (column < 0)
        return;
    const TimelineEvent& event = m_shown->timeline->events[static_cast<std::size_t>(column)];
    const Unit& unit = m_shown->plan()->table.units[event.unit];
    QStringList parts{event.phase == Phase::Step ? phaseText(event.phase) : phaseText(event.phase) + QLatin1Char(' ') + text(unit.name),
                      tr("%1 in all").arg(bytesText(event.total()))};
    for (const MemoryCategory category : kStack) {
        const Bytes bytes = event.bytes[static_cast<std::size_t>(category)];
        if (bytes > Bytes())
            parts << categoryText(category) + QLatin1Char(' ') + bytesText(bytes);
    }
    emit hovered(parts.join(QStringLiteral(" \u00b7 ")));
    emit unitHovered(event.phase == Phase::Step ? -1 : static_cast<int>(event.unit));
}

ChartTable MemoryChart::table() const
{
    ChartTable table{{tr("phase"), tr("operator")}, {}};
    for (std::size_t i = 0; i < kMemoryCategories; ++i)
        table.columns << tr("%1, bytes").arg(categoryText(static_cast<MemoryCategory>(i)));
    table.columns << tr("total, bytes");
    if (!m_shown || !m_shown->timeline)
        return table;
    for (const TimelineEvent& event : m_shown->timeline->events) {
        QStringList row{phaseText(event.phase), text(m_shown->plan()->table.units[event.unit].name)};
        for (const Bytes bytes : event.bytes)
            row << QString::number(bytes.count());
        row << QString::number(event.total().count());
        table.rows.push_back(std::move(row));
    }
    return table;
}

} // namespace loadline
