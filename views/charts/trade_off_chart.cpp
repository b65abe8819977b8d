// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/charts/trade_off_chart.hpp"

#include "views/charts/budget_handle.hpp"
#include "views/charts/tickers.hpp"
#include "views/format/text.hpp"
#include "views/palette.hpp"

#include <algorithm>
#include <array>

namespace loadline {
namespace {

constexpr double kMargin = 0.06; ///< of the range, around what is shown
constexpr std::size_t kMostLabels = 8;

double bytesOf(Bytes bytes)
{
    return static_cast<double>(bytes.count());
}

void stairOf(const TradeOffPicture& picture, QVector<double>& keys, QVector<double>& values)
{
    for (const TradeOffPoint& point : picture.stair) {
        keys << bytesOf(point.peak);
        values << point.time.value();
    }
    if (!keys.isEmpty()) { // the last step goes on for ever
        keys << std::max(keys.last() * 2, bytesOf(picture.device) * 2);
        values << values.last();
    }
}

} // namespace

TradeOffChart::TradeOffChart(QWidget* parent)
    : Chart(parent), m_stair(plot()->addGraph()), m_ghost(plot()->addGraph()), m_points(plot()->addGraph()),
      m_ceiling(new QCPItemRect(plot())), m_handle(new BudgetHandle(Qt::Vertical, plot()))
{
    setAccessibleName(tr("Trade-off of step time and budget"));
    plot()->axisRect()->setMargins(QMargins(48, 8, 14, 20));
    plot()->xAxis->setTicker(QSharedPointer<GibTicker>::create());
    plot()->xAxis->ticker()->setTickCount(4);
    plot()->yAxis->setTicker(QSharedPointer<MillisecondTicker>::create());
    plot()->yAxis->ticker()->setTickCount(4);
    m_stair->setLineStyle(QCPGraph::lsStepLeft);
    m_stair->setAntialiased(false);
    m_ghost->setLineStyle(QCPGraph::lsStepLeft);
    m_ghost->setAntialiased(false);
    m_points->setLineStyle(QCPGraph::lsNone);
    m_ceiling->topLeft->setTypeY(QCPItemPosition::ptAxisRectRatio);
    m_ceiling->bottomRight->setTypeY(QCPItemPosition::ptAxisRectRatio);
    m_ceiling->setVisible(false);
    for (std::size_t i = 0; i < kMostLabels; ++i) {
        m_labels.push_back(new QCPItemText(plot()));
        m_labels.back()->position->setType(QCPItemPosition::ptAbsolute);
        m_labels.back()->setPositionAlignment(Qt::AlignLeft | Qt::AlignTop);
        m_labels.back()->setVisible(false);
    }
    TradeOffChart::restyle();
}

void TradeOffChart::restyle()
{
    Chart::restyle();
    const Palette& colors = currentPalette();
    QColor stair = colors.accent;
    if (!m_picture)
        stair.setAlphaF(0.4F);
    m_stair->setPen(QPen(stair, 2));
    m_ghost->setPen(QPen(colors.text, 1.2, Qt::DotLine));
    m_points->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDiamond, QPen(colors.softText, 1.2), QBrush(colors.panel), 8));
    QColor hatch = colors.worse;
    hatch.setAlphaF(0.35F);
    m_ceiling->setPen(Qt::NoPen);
    m_ceiling->setBrush(QBrush(hatch, Qt::BDiagPattern));
    for (QCPItemText* label : m_labels) {
        label->setFont(fontOf(10.5));
        label->setColor(colors.softText);
    }
}

void TradeOffChart::setPicture(const std::shared_ptr<const TradeOffPicture>& picture)
{
    m_picture = picture;
    if (picture) {
        fillStair();
        fitAxes();
        fillBaselines();
        arrange();
    }
    restyle();
    replotSoon();
}

void TradeOffChart::setGhost(const std::shared_ptr<const TradeOffPicture>& ghost)
{
    m_ghostPicture = ghost;
    QVector<double> keys;
    QVector<double> values;
    if (ghost)
        stairOf(*ghost, keys, values);
    m_ghost->setData(keys, values, true);
    if (m_picture)
        fitAxes();
    replotSoon();
}

void TradeOffChart::setBudget(Bytes budget)
{
    m_handle->setBudget(budget);
    placeDot();
}

void TradeOffChart::setCurrent(const PlanPicturePtr& picture)
{
    m_current = picture;
    placeDot();
}

std::optional<Seconds> TradeOffChart::timeAt(Bytes budget) const
{
    if (!m_picture)
        return std::nullopt;
    const auto& stair = m_picture->stair;
    const auto after =
        std::upper_bound(stair.begin(), stair.end(), budget, [](Bytes bytes, const TradeOffPoint& point) { return bytes < point.peak; });
    return after == stair.begin() ? std::nullopt : std::optional(std::prev(after)->time);
}

void TradeOffChart::fillStair()
{
    QVector<double> keys;
    QVector<double> values;
    stairOf(*m_picture, keys, values);
    m_stair->setData(keys, values, true);
}

void TradeOffChart::fitAxes()
{
    const auto& stair = m_picture->stair;
    const double device = bytesOf(m_picture->device);
    if (stair.empty()) {
        plot()->xAxis->setRange(0, std::max(device, 1.0));
        plot()->yAxis->setRange(0, 1);
        return;
    }
    const bool outlined = m_ghostPicture && !m_ghostPicture->stair.empty();
    const auto& other = outlined ? m_ghostPicture->stair : stair;
    const double left = bytesOf(std::min(stair.front().peak, other.front().peak));
    // Beyond the device nothing can be had; beyond the last step nothing changes.
    const double right = std::max(std::min(bytesOf(std::max(stair.back().peak, other.back().peak)), device), left);
    const double width = std::max(right - left, right * 0.1);
    const bool reachesDevice = right >= device * 0.98;
    const double end = right + width * (reachesDevice ? 0.08 : 0.25);
    setHome(std::max(left - width * kMargin, 0.0), end);
    double low = stair.back().time.value();
    double high = stair.front().time.value();
    const auto last = timeAt(Bytes(static_cast<std::int64_t>(right)));
    if (last)
        low = last->value();
    if (outlined) {
        low = std::min(low, other.back().time.value());
        high = std::max(high, other.front().time.value());
    }
    for (const Baseline& baseline : m_picture->baselines) {
        // A baseline a little above the stair is worth the room; one far above would flatten it.
        if (baseline.available && baseline.objective.value() < high + (high - low) * 0.35 && bytesOf(baseline.peak) < right + width * 0.2)
            high = std::max(high, baseline.objective.value());
    }
    const double height = std::max(high - low, high * 0.02);
    plot()->yAxis->setRange(std::max(low - height * 0.18, 0.0), high + height * 0.12);
    m_ceiling->setVisible(reachesDevice);
    m_ceiling->topLeft->setCoords(device, 0);
    m_ceiling->bottomRight->setCoords(end, 1);
}

void TradeOffChart::fillBaselines()
{
    QStringList beyond;
    m_marks.clear();
    for (const Baseline& baseline : m_picture->baselines) {
        if (!baseline.available)
            continue;
        const Mark mark{bytesOf(baseline.peak), baseline.objective.value(), text(baseline.name), {}};
        if (!plot()->xAxis->range().contains(mark.key) || !plot()->yAxis->range().contains(mark.value) || m_marks.size() == kMostLabels) {
            beyond << tr("%1 %2, %3").arg(mark.name, bytesText(baseline.peak), secondsText(baseline.objective));
            continue;
        }
        const auto same =
            std::find_if(m_marks.begin(), m_marks.end(), [&](const Mark& m) { return m.key == mark.key && m.value == mark.value; });
        if (same != m_marks.end()) // one point, both names
            same->others << mark.name;
        else
            m_marks.push_back(mark);
    }
    QVector<double> keys;
    QVector<double> values;
    for (const Mark& mark : m_marks) {
        keys << mark.key;
        values << mark.value;
    }
    m_points->setData(keys, values);
    m_beyond = beyond.isEmpty() ? QString() : tr("Out of view: %1").arg(beyond.join(QStringLiteral(" \u00b7 ")));
    emit beyondChanged(m_beyond);
}

bool TradeOffChart::free(const QRectF& rect, const std::vector<QRectF>& taken) const
{
    if (!QRectF(dataArea()).contains(rect))
        return false;
    if (std::any_of(taken.begin(), taken.end(), [&](const QRectF& other) { return other.intersects(rect); }))
        return false;
    // The stair falls from left to right, so it crosses the label only between its heights at both ends.
    const auto height = [&](double x) {
        const auto time = timeAt(Bytes(static_cast<std::int64_t>(plot()->xAxis->pixelToCoord(x))));
        return time ? plot()->yAxis->coordToPixel(time->value()) : -1e9;
    };
    return height(rect.right()) < rect.top() - 1 || height(rect.left()) > rect.bottom() + 1;
}

void TradeOffChart::placeLabels()
{
    const QFontMetricsF metrics(fontOf(10.5));
    std::vector<QRectF> taken;
    for (const Mark& mark : m_marks)
        taken.emplace_back(m_points->coordsToPixels(mark.key, mark.value) - QPointF(5, 5), QSizeF(10, 10));
    for (std::size_t i = 0; i < m_labels.size(); ++i) {
        m_labels[i]->setVisible(false);
        if (i >= m_marks.size())
            continue;
        QStringList wordings{m_marks[i].name};
        if (!m_marks[i].others.isEmpty()) {
            wordings.prepend(m_marks[i].name + QStringLiteral(", ") + m_marks[i].others.join(QStringLiteral(", ")));
            wordings.append(m_marks[i].name + QStringLiteral(" +%1").arg(m_marks[i].others.size()));
            wordings.removeAt(1); // one name alone would hide that there are two
        }
        for (const QString& words : wordings) {
            const QSizeF size(metrics.horizontalAdvance(words) + 2, metrics.height());
            const auto place = placeFor(taken[i], size, taken);
            if (!place)
                continue;
            taken.emplace_back(*place, size);
            m_labels[i]->setText(words);
            m_labels[i]->position->setPixelPosition(*place);
            m_labels[i]->setVisible(true);
            break;
        }
    }
}

std::optional<QPointF> TradeOffChart::placeFor(const QRectF& mark, const QSizeF& size, const std::vector<QRectF>& taken) const
{
    const std::array<QPointF, 6> places{QPointF(mark.right() + 3, mark.center().y() - size.height() / 2),
                                        QPointF(mark.left() - 3 - size.width(), mark.center().y() - size.height() / 2),
                                        QPointF(mark.center().x() - size.width() / 2, mark.top() - 1 - size.height()),
                                        QPointF(mark.center().x() - size.width() / 2, mark.bottom() + 1),
                                        QPointF(mark.right() + 1, mark.top() - size.height() + 2),
                                        QPointF(mark.left() - size.width(), mark.bottom() - 2)};
    const auto good = std::find_if(places.begin(), places.end(), [&](const QPointF& at) { return free(QRectF(at, size), taken); });
    return good == places.end() ? std::nullopt : std::optional(*good);
}

void TradeOffChart::placeDot()
{
    std::optional<Seconds> time = timeAt(m_handle->budget());
    if (m_current && m_current->plan() && m_current->outcome->budget == m_handle->budget())
        time = m_current->plan()->objective;
    const double pixel = time ? plot()->yAxis->coordToPixel(time->value()) : -1;
    m_handle->setDot(time && dataArea().adjusted(0, -1, 0, 1).contains(dataArea().left(), static_cast<int>(pixel)) ? pixel : -1);
}

void TradeOffChart::arrange()
{
    const QRect area = dataArea();
    const QCPRange range = plot()->xAxis->range();
    if (area.width() <= 0 || range.size() <= 0)
        return;
    ByteScale scale;
    scale.area = area;
    scale.pixelsPerByte = area.width() / range.size();
    scale.origin = area.left() - range.lower * scale.pixelsPerByte;
    m_handle->setScale(scale);
    m_handle->raise();
    placeDot();
    if (m_picture)
        placeLabels();
}

void TradeOffChart::hoverAt(const QPoint* point)
{
    if (!point) {
        emit hovered({});
        return;
    }
    const Bytes budget(static_cast<std::int64_t>(plot()->xAxis->pixelToCoord(point->x())));
    const auto time = timeAt(budget);
    emit hovered(time ? tr("budget %1 \u00b7 least step time %2").arg(bytesText(budget), secondsText(*time))
                      : tr("budget %1 \u00b7 nothing fits").arg(bytesText(budget)));
}

ChartTable TradeOffChart::table() const
{
    ChartTable table{{tr("plan"), tr("memory, bytes"), tr("step time, s")}, {}};
    if (!m_picture)
        return table;
    for (const TradeOffPoint& point : m_picture->stair)
        table.rows.push_back({tr("best"), QString::number(point.peak.count()), exactText(point.time.value())});
    for (const Baseline& baseline : m_picture->baselines)
        table.rows.push_back({text(baseline.name), QString::number(baseline.peak.count()), exactText(baseline.objective.value())});
    return table;
}

} // namespace loadline
