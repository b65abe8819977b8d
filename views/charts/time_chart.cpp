// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/charts/time_chart.hpp"

#include "views/charts/crosshair.hpp"
#include "views/charts/stacked_columns.hpp"
#include "views/charts/tickers.hpp"
#include "views/format/text.hpp"
#include "views/palette.hpp"

#include <algorithm>
#include <numeric>

namespace loadline {
namespace {

constexpr double kHeadroom = 1.08;

/// Compute, hidden and exposed communication of one unit over the whole step.
std::array<double, 3> partsOf(const Plan& plan, std::size_t unit)
{
    const OptionCost& cost = plan.cost(unit);
    const double exposed = unit < plan.time.exposedByUnit.size() ? plan.time.exposedByUnit[unit].value() : 0;
    // Exposed time can exceed the unit's own communication by the waiting that a slower neighbour causes.
    return {cost.compute().value(), std::max(cost.communication().value() - exposed, 0.0), std::max(exposed, 0.0)};
}

} // namespace

TimeChart::TimeChart(QWidget* parent)
    : Chart(parent), m_columns(new StackedColumns(plot()->xAxis, plot()->yAxis)), m_crosshair(new Crosshair(plot()))
{
    setAccessibleName(tr("Time per operator"));
    m_columns->setGap(1);
    plot()->axisRect()->setMargins(QMargins(kChartLeft, 8, kChartRight, 8));
    plot()->yAxis->setTicker(QSharedPointer<MillisecondTicker>::create());
    plot()->xAxis->setTickLabels(false);
    TimeChart::restyle();
}

void TimeChart::restyle()
{
    Chart::restyle();
    const Palette& colors = currentPalette();
    m_columns->setColors({colors.compute, colors.hidden, colors.exposed});
    m_columns->setGround(colors.panel);
    fillGhost();
}

void TimeChart::setGhost(const PlanPicturePtr& ghost)
{
    if (ghost == m_ghost)
        return;
    m_ghost = ghost;
    fillGhost();
    if (!m_held)
        fitAxis();
    replotSoon();
}

void TimeChart::fillGhost()
{
    const Plan* plan = m_ghost ? m_ghost->plan() : nullptr;
    if (!plan || !m_shown || plan->table.units.size() != m_shown->plan()->table.units.size()) {
        m_ghostMost = 0;
        m_columns->setGhost({}, {}, currentPalette().text);
        return;
    }
    std::vector<double> edges(plan->table.units.size() + 1);
    std::iota(edges.begin(), edges.end(), 0.0);
    std::vector<double> totals;
    for (std::size_t unit = 0; unit < plan->table.units.size(); ++unit) {
        const auto parts = partsOf(*plan, unit);
        totals.push_back(parts[0] + parts[1] + parts[2]);
    }
    m_ghostMost = totals.empty() ? 0 : *std::max_element(totals.begin(), totals.end());
    m_columns->setGhost(std::move(edges), std::move(totals), currentPalette().text);
}

void TimeChart::setPicture(const PlanPicturePtr& picture)
{
    const bool current = picture && picture->plan();
    m_columns->setStrength(current ? 1 : 0.28);
    if (current) {
        m_shown = picture;
        const Plan& plan = *picture->plan();
        const std::size_t units = plan.table.units.size();
        std::vector<double> edges(units + 1);
        std::iota(edges.begin(), edges.end(), 0.0);
        std::vector<double> values;
        values.reserve(units * 3);
        for (std::size_t unit = 0; unit < units; ++unit) {
            const auto parts = partsOf(plan, unit);
            values.insert(values.end(), parts.begin(), parts.end());
        }
        setHome(0, static_cast<double>(units));
        std::vector<bool> estimated;
        for (const Unit& unit : plan.table.units)
            estimated.push_back(unit.estimated);
        m_columns->setData(std::move(edges), std::move(values), 3);
        m_columns->setHatched(std::move(estimated), 0);
        fillGhost();
        if (!m_held)
            fitAxis();
    }
    replotSoon();
}

void TimeChart::holdAxis(bool hold)
{
    m_held = hold;
    if (!hold && m_shown) {
        settleUpper(plot()->yAxis, axisTopFor());
        replotSoon();
    }
}

double TimeChart::axisTopFor() const
{
    return std::max(std::max(m_columns->maximum(), m_ghostMost) * kHeadroom, 1e-9);
}

void TimeChart::fitAxis()
{
    plot()->yAxis->setRange(0, axisTopFor());
}

std::array<double, 3> TimeChart::seconds(std::size_t unit) const
{
    return m_shown ? partsOf(*m_shown->plan(), unit) : std::array<double, 3>{};
}

double TimeChart::axisTop() const
{
    return plot()->yAxis->range().upper;
}

ChartTable TimeChart::table() const
{
    ChartTable table{{tr("operator"), tr("compute, s"), tr("hidden communication, s"), tr("exposed communication, s")}, {}};
    for (std::size_t unit = 0; m_shown && unit < m_shown->plan()->table.units.size(); ++unit) {
        const auto parts = seconds(unit);
        table.rows.push_back(
            {text(m_shown->plan()->table.units[unit].name), exactText(parts[0]), exactText(parts[1]), exactText(parts[2])});
    }
    return table;
}

void TimeChart::arrange()
{
    markUnit(m_marked);
}

void TimeChart::markUnit(int unit)
{
    m_marked = unit;
    const QRect area = dataArea();
    const int x = unit < 0 ? -1 : static_cast<int>(plot()->xAxis->coordToPixel(unit + 0.5));
    m_crosshair->showAt(x < area.left() || x > area.right() ? -1 : x, area.top(), area.height());
}

void TimeChart::hoverAt(const QPoint* point)
{
    const int unit = point && m_shown ? m_columns->columnAt(plot()->xAxis->pixelToCoord(point->x())) : -1;
    emit unitHovered(unit);
    if (unit < 0) {
        emit hovered({});
        return;
    }
    const Plan& plan = *m_shown->plan();
    const auto index = static_cast<std::size_t>(unit);
    const auto [compute, hidden, exposed] = partsOf(plan, index);
    emit hovered(tr("%1 \u00b7 compute %2 \u00b7 hidden communication %3 \u00b7 exposed communication %4")
                     .arg(text(plan.table.units[index].name), secondsText(Seconds(compute)), secondsText(Seconds(hidden)),
                          secondsText(Seconds(exposed))));
}

} // namespace loadline
