// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/charts/span_lanes.hpp"

#include "views/palette.hpp"

#include <algorithm>

namespace loadline {
namespace {

constexpr double kBarHeight = 0.62; ///< of the distance between lanes
constexpr double kLabelFrom = 36;   ///< pixels: narrower bars carry no words
constexpr double kGapFrom = 2;      ///< pixels: shorter waiting is not hatched

std::size_t index(StreamSpan::Kind kind)
{
    return static_cast<std::size_t>(kind);
}

} // namespace

Lane laneOf(StreamSpan::Kind kind)
{
    switch (kind) {
    case StreamSpan::Kind::ForwardGather:
    case StreamSpan::Kind::BackwardGather:
        return Lane::Gather;
    case StreamSpan::Kind::Reduce:
        return Lane::Reduce;
    default:
        return Lane::Compute;
    }
}

SpanLanes::SpanLanes(QCPAxis* keyAxis, QCPAxis* valueAxis) : QCPAbstractPlottable(keyAxis, valueAxis)
{
    setAntialiased(false);
}

void SpanLanes::setSpans(const std::vector<StreamSpan>& spans)
{
    m_end = 0;
    for (Spans& lane : m_lanes)
        lane.clear();
    for (const StreamSpan& span : spans) {
        m_lanes[static_cast<std::size_t>(laneOf(span.kind))].push_back(span);
        m_end = std::max(m_end, span.end.value());
    }
    for (Spans& lane : m_lanes)
        std::stable_sort(lane.begin(), lane.end(), [](const StreamSpan& a, const StreamSpan& b) { return a.start < b.start; });
}

void SpanLanes::setColors(const Colors& colors, const QColor& waiting, const QColor& text)
{
    m_colors = colors;
    m_waiting = waiting;
    m_text = text;
}

const StreamSpan* SpanLanes::at(Lane lane, double seconds) const
{
    const Spans& spans = m_lanes[static_cast<std::size_t>(lane)];
    const auto after = std::upper_bound(spans.begin(), spans.end(), seconds,
                                        [](double time, const StreamSpan& span) { return time < span.start.value(); });
    if (after == spans.begin())
        return nullptr;
    const StreamSpan& span = *(after - 1);
    return seconds <= span.end.value() ? &span : nullptr;
}

const StreamSpan* SpanLanes::firstOf(std::size_t unit) const
{
    const Spans& spans = m_lanes[static_cast<std::size_t>(Lane::Compute)];
    const auto found = std::find_if(spans.begin(), spans.end(), [&](const StreamSpan& span) { return span.unit == unit; });
    return found == spans.end() ? nullptr : &*found;
}

SpanLanes::Spans::const_iterator SpanLanes::firstInView(std::size_t lane) const
{
    const Spans& spans = m_lanes[lane];
    return std::partition_point(spans.begin(), spans.end(),
                                [&](const StreamSpan& span) { return span.end.value() < mKeyAxis->range().lower; });
}

void SpanLanes::draw(QCPPainter* painter)
{
    for (std::size_t lane = 0; lane < kLanes; ++lane)
        drawLane(*painter, lane);
    drawWaiting(*painter);
}

void SpanLanes::drawLane(QCPPainter& painter, std::size_t lane) const
{
    const double middle = mValueAxis->coordToPixel(static_cast<double>(lane));
    const double height = std::abs(mValueAxis->coordToPixel(1) - mValueAxis->coordToPixel(0)) * kBarHeight;
    const double top = middle - height / 2;
    int column = -1;                ///< pixel column that narrow bars are being gathered for
    std::array<double, 6> filled{}; ///< share of it by kind
    const auto flush = [&] {
        for (std::size_t kind = 0; kind < filled.size(); ++kind) {
            if (filled[kind] <= 0)
                continue;
            QColor color = m_colors[kind];
            color.setAlphaF(static_cast<float>(std::clamp(filled[kind], 0.15, 1.0)));
            painter.fillRect(QRectF(column, top, 1, height), color);
        }
        filled = {};
    };
    for (auto span = firstInView(lane); span != m_lanes[lane].end() && span->start.value() <= mKeyAxis->range().upper; ++span) {
        const double left = mKeyAxis->coordToPixel(span->start.value());
        const double right = mKeyAxis->coordToPixel(span->end.value());
        if (right - left < 1) {
            if (const int at = static_cast<int>(left); at != column) {
                flush();
                column = at;
            }
            filled[index(span->kind)] += right - left;
            continue;
        }
        drawBar(painter, *span, QRectF(left, top, right - left, height));
    }
    flush();
}

void SpanLanes::drawBar(QCPPainter& painter, const StreamSpan& span, const QRectF& bar) const
{
    const QColor& color = m_colors[index(span.kind)];
    // A pixel between bars keeps equal neighbours apart.
    painter.fillRect(bar.width() > 4 ? bar.adjusted(0, 0, -1, 0) : bar, color);
    if (m_marked == static_cast<int>(span.unit)) {
        painter.setPen(QPen(m_text, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(bar.adjusted(0, 0, -1, -1));
    }
    if (!m_label || bar.width() < kLabelFrom)
        return;
    const QRectF inside = bar.intersected(QRectF(clipRect())).adjusted(4, 0, -4, 0);
    const QFont font = fontOf(10.5);
    painter.setFont(font);
    painter.setPen(contrast(color, Qt::white) > contrast(color, Qt::black) ? Qt::white : Qt::black);
    painter.drawText(inside, Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(font).elidedText(m_label(span), Qt::ElideMiddle, inside.width()));
}

void SpanLanes::drawWaiting(QCPPainter& painter) const
{
    const auto lane = static_cast<std::size_t>(Lane::Compute);
    const double middle = mValueAxis->coordToPixel(static_cast<double>(lane));
    const double height = std::abs(mValueAxis->coordToPixel(1) - mValueAxis->coordToPixel(0)) * kBarHeight;
    const auto gap = [&](double from, double to) {
        const double left = mKeyAxis->coordToPixel(from);
        const double right = mKeyAxis->coordToPixel(to);
        if (right - left >= kGapFrom)
            painter.fillRect(QRectF(left, middle - height / 2, right - left, height), QBrush(m_waiting, Qt::BDiagPattern));
    };
    double busyUntil = 0;
    auto span = firstInView(lane);
    if (span != m_lanes[lane].begin())
        busyUntil = (span - 1)->end.value();
    for (; span != m_lanes[lane].end() && busyUntil <= mKeyAxis->range().upper; ++span) {
        gap(busyUntil, span->start.value());
        busyUntil = span->end.value();
    }
    if (span == m_lanes[lane].end() && !m_lanes[lane].empty())
        gap(busyUntil, m_end);
}

double SpanLanes::selectTest(const QPointF&, bool, QVariant*) const
{
    return -1;
}

QCPRange SpanLanes::getKeyRange(bool& foundRange, QCP::SignDomain) const
{
    foundRange = m_end > 0;
    return {0, m_end};
}

QCPRange SpanLanes::getValueRange(bool& foundRange, QCP::SignDomain, const QCPRange&) const
{
    foundRange = true;
    return {-0.5, static_cast<double>(kLanes) - 0.5};
}

void SpanLanes::drawLegendIcon(QCPPainter* painter, const QRectF& rect) const
{
    painter->fillRect(rect, m_colors[index(StreamSpan::Kind::ForwardCompute)]);
}

} // namespace loadline
