// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/charts/decision_strip.hpp"

#include "views/charts/chart.hpp"
#include "views/format/text.hpp"
#include "views/palette.hpp"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace loadline {
namespace {

constexpr int kCells = 20; ///< pixels
constexpr int kLegend = 20;
constexpr double kGapFrom = 4; ///< cells at least so wide have a pixel between them

} // namespace

DecisionStrip::DecisionStrip(QWidget* parent) : QWidget(parent)
{
    setMouseTracking(true);
    setFixedHeight(kCells + kLegend + 4);
    setAccessibleName(tr("Decision of each operator"));
}

QSize DecisionStrip::sizeHint() const
{
    return {400, kCells + kLegend + 4};
}

void DecisionStrip::setPicture(const PlanPicturePtr& picture)
{
    m_pale = !picture || !picture->plan();
    update();
    if (m_pale)
        return;
    m_shown = picture;
    m_decisions.clear();
    m_kinds.clear();
    const Plan& plan = *picture->plan();
    const std::int64_t ranks = plan.table.setup.cluster.ranks();
    for (std::size_t unit = 0; unit < plan.table.units.size(); ++unit) {
        const Strategy& strategy = plan.cost(unit).strategy;
        const Decision decision = decisionOf(strategy, ranks, plan.table.units[unit].parameters);
        m_decisions.push_back(decision);
        if (decision.kind == Decision::Kind::None)
            continue;
        const QString words = strategyText(strategy, ranks);
        const auto known = std::find_if(m_kinds.begin(), m_kinds.end(), [&](const Kind& kind) { return kind.words == words; });
        if (known == m_kinds.end())
            m_kinds.push_back({decision, words, 1});
        else
            ++known->count;
    }
    std::stable_sort(m_kinds.begin(), m_kinds.end(), [](const Kind& a, const Kind& b) { return a.count > b.count; });
    QStringList spoken;
    for (const Kind& kind : m_kinds)
        spoken << tr("%1 %2").arg(kind.count).arg(kind.words);
    setAccessibleDescription(spoken.join(QStringLiteral(", ")));
}

void DecisionStrip::markUnit(int unit)
{
    if (unit == m_marked)
        return;
    m_marked = unit;
    update();
}

void DecisionStrip::markUnits(std::vector<std::size_t> units)
{
    m_framed = std::move(units);
    update();
}

QRect DecisionStrip::cells() const
{
    return {kChartLeft, 2, width() - kChartLeft - kChartRight, kCells};
}

double DecisionStrip::edge(std::size_t unit) const
{
    const QRect area = cells();
    return std::round(area.left() + double(area.width()) * (double(unit) - m_from) / shownUnits());
}

double DecisionStrip::shownUnits() const
{
    return m_to > m_from ? m_to - m_from : double(m_decisions.size());
}

void DecisionStrip::setShown(double from, double to)
{
    m_from = from;
    m_to = to;
    update();
}

ChartTable DecisionStrip::table() const
{
    ChartTable table{{tr("operator"), tr("decision")}, {}};
    for (std::size_t unit = 0; unit < m_decisions.size(); ++unit) {
        const Plan& plan = *m_shown->plan();
        table.rows.push_back(
            {text(plan.table.units[unit].name), m_decisions[unit].kind == Decision::Kind::None
                                                    ? tr("no parameters")
                                                    : strategyText(plan.cost(unit).strategy, plan.table.setup.cluster.ranks())});
    }
    return table;
}

void DecisionStrip::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), currentPalette().panel);
    if (m_decisions.empty())
        return;
    painter.save();
    painter.setClipRect(cells().adjusted(-1, -2, 1, 4));
    painter.setOpacity(m_pale ? 0.28 : 1);
    paintCells(painter);
    painter.setOpacity(1);
    paintMarks(painter);
    painter.restore();
    paintLegend(painter);
}

void DecisionStrip::paintCells(QPainter& painter) const
{
    const QRect area = cells();
    const Palette& colors = currentPalette();
    const bool gaps = double(area.width()) / shownUnits() >= kGapFrom;
    for (std::size_t first = 0; first < m_decisions.size();) {
        std::size_t next = first + 1;
        // Equal neighbours are drawn as one where cells are too narrow for a gap: patterns stay readable.
        while (!gaps && next < m_decisions.size() && m_decisions[next] == m_decisions[first])
            ++next;
        const double left = edge(first);
        const double right = std::max(edge(next), left + 1);
        drawDecision(painter, QRectF(left, area.top(), right - left - (gaps ? 1 : 0), area.height()), m_decisions[first], colors);
        first = next;
    }
}

void DecisionStrip::paintMarks(QPainter& painter) const
{
    const QRect area = cells();
    const Palette& colors = currentPalette();
    for (const std::size_t unit : m_framed) {
        if (unit < m_decisions.size())
            painter.fillRect(QRectF(edge(unit), area.bottom() + 2, std::max(edge(unit + 1) - edge(unit) - 1, 1.0), 2), colors.text);
    }
    if (m_marked >= 0 && m_marked < static_cast<int>(m_decisions.size())) {
        const auto unit = static_cast<std::size_t>(m_marked);
        painter.setPen(QPen(colors.text, 1));
        painter.drawRect(QRectF(edge(unit) - 0.5, area.top() - 1.5, std::max(edge(unit + 1) - edge(unit), 2.0), area.height() + 2));
    }
}

void DecisionStrip::paintLegend(QPainter& painter) const
{
    const Palette& colors = currentPalette();
    const QRect area = cells();
    const QFont font = fontOf(10.5);
    const QFontMetrics metrics(font);
    painter.setFont(font);
    int x = area.left();
    const int y = area.bottom() + 8;
    for (std::size_t i = 0; i < m_kinds.size(); ++i) {
        const QString words = tr("%1 %2").arg(m_kinds[i].count).arg(m_kinds[i].words);
        const int width = 16 + metrics.horizontalAdvance(words);
        const QString more = tr("and %1 more kinds").arg(m_kinds.size() - i);
        const bool last = i + 1 == m_kinds.size();
        if (x + width + (last ? 0 : 16 + metrics.horizontalAdvance(more)) > area.right()) {
            painter.setPen(colors.softText);
            painter.drawText(x, y + 9, more);
            break;
        }
        drawDecision(painter, QRectF(x, y, 10, 10), m_kinds[i].decision, colors);
        painter.setPen(colors.softText);
        painter.drawText(x + 15, y + 9, words);
        x += width + 16;
    }
}

void DecisionStrip::mouseMoveEvent(QMouseEvent* event)
{
    const QRect area = cells();
    if (!m_shown || !area.contains(event->pos())) {
        leaveEvent(nullptr);
        return;
    }
    const Plan& plan = *m_shown->plan();
    const auto unit = std::min(static_cast<std::size_t>(m_from + double(event->pos().x() - area.left()) / area.width() * shownUnits()),
                               m_decisions.size() - 1);
    const QString chosen = m_decisions[unit].kind == Decision::Kind::None
                               ? tr("no parameters")
                               : strategyText(plan.cost(unit).strategy, plan.table.setup.cluster.ranks());
    emit hovered(text(plan.table.units[unit].name) + QStringLiteral(" \u00b7 ") + chosen);
    emit unitHovered(static_cast<int>(unit));
}

void DecisionStrip::leaveEvent(QEvent*)
{
    emit hovered({});
    emit unitHovered(-1);
}

} // namespace loadline
