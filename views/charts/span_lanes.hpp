// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/step_time.hpp"
#include "views/charts/plot.hpp"

#include <QColor>

#include <array>
#include <functional>
#include <vector>

namespace loadline {

/// Lanes of the two streams of one step, from top to bottom.
enum class Lane : std::uint8_t { Gather, Compute, Reduce };
inline constexpr std::size_t kLanes = 3;
Lane laneOf(StreamSpan::Kind kind);

/// Bars of work on the lanes of a time axis, and hatching where computing waits. Bars narrower than a pixel are drawn as the
/// share of the pixel that they fill, so that a step of ten thousand units is read as density and its cost is bounded by the
/// spans in view. Lanes stand at values 0, 1, 2 of the value axis, the first at the top of a reversed axis.
class SpanLanes : public QCPAbstractPlottable {
    Q_OBJECT
public:
    using Colors = std::array<QColor, 6>; ///< by StreamSpan::Kind
    using Label = std::function<QString(const StreamSpan&)>;

    SpanLanes(QCPAxis* keyAxis, QCPAxis* valueAxis);

    void setSpans(const std::vector<StreamSpan>& spans);
    void setColors(const Colors& colors, const QColor& waiting, const QColor& text);
    void setLabel(Label label) { m_label = std::move(label); }
    /// Unit whose bars are framed, -1 for none.
    void setMarked(int unit) { m_marked = unit; }

    [[nodiscard]] double end() const { return m_end; } ///< of the last span
    /// Bar of a lane at a time; null where there is none. O(log spans).
    [[nodiscard]] const StreamSpan* at(Lane lane, double seconds) const;
    /// First bar of a unit on the compute lane, null if it computes nothing.
    [[nodiscard]] const StreamSpan* firstOf(std::size_t unit) const;

    double selectTest(const QPointF& pos, bool onlySelectable, QVariant* details = nullptr) const override;
    QCPRange getKeyRange(bool& foundRange, QCP::SignDomain inSignDomain = QCP::sdBoth) const override;
    QCPRange getValueRange(bool& foundRange, QCP::SignDomain inSignDomain = QCP::sdBoth,
                           const QCPRange& inKeyRange = QCPRange()) const override;

protected:
    void draw(QCPPainter* painter) override;
    void drawLegendIcon(QCPPainter* painter, const QRectF& rect) const override;

private:
    using Spans = std::vector<StreamSpan>;
    void drawLane(QCPPainter& painter, std::size_t lane) const;
    void drawBar(QCPPainter& painter, const StreamSpan& span, const QRectF& bar) const;
    void drawWaiting(QCPPainter& painter) const;
    [[nodiscard]] Spans::const_iterator firstInView(std::size_t lane) const;

    std::array<Spans, kLanes> m_lanes; ///< each sorted by start; bars of one lane do not overlap
    double m_end = 0;
    Colors m_colors;
    QColor m_waiting;
    QColor m_text;
    Label m_label;
    int m_marked = -1;
};

} // namespace loadline
