// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/charts/chart.hpp"
#include "views/charts/span_lanes.hpp"
#include "views/models/plan_picture.hpp"

namespace loadline {

/// One step on two streams: gathers above, computing in the middle, reductions below, hatching where computing waits for
/// communication. Wheel zooms at the pointer, dragging moves, `fit` shows all; zoomable to a single operator.
class StreamChart : public Chart {
    Q_OBJECT
public:
    explicit StreamChart(QWidget* parent = nullptr);

    void setPicture(const PlanPicturePtr& picture);
    void markUnit(int unit); ///< -1 for none
    void fit();
    void showAll() override { fit(); }
    /// Zooms to the first computing of a unit, with its neighbours; nothing if it computes nothing.
    void zoomTo(std::size_t unit);
    /// A factor above 1 shows less time, at the middle of what is shown.
    void zoom(double factor);
    /// Moves what is shown by a share of itself.
    void pan(double share);

    [[nodiscard]] ChartTable table() const override;
    [[nodiscard]] const SpanLanes* lanes() const { return m_lanes; }
    [[nodiscard]] double shownFrom() const;
    [[nodiscard]] double shownTo() const;

signals:
    void unitHovered(int unit);

protected:
    void restyle() override;
    void hoverAt(const QPoint* point) override;
    void showEvent(QShowEvent* event) override;

private:
    void load();
    void showTime(double from, double to);
    [[nodiscard]] QString words(const StreamSpan& span) const;

    SpanLanes* m_lanes;
    PlanPicturePtr m_picture; ///< newest with a plan
    bool m_loaded = false;    ///< spans of `m_picture` are drawn: they are made when they are seen
    bool m_keepsRange = false;
};

} // namespace loadline
