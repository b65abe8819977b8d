// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/charts/chart.hpp"
#include "views/models/plan_picture.hpp"

class QCPItemLine;
class QCPItemRect;
class QCPItemText;
class QCPItemTracer;

namespace loadline {

class BudgetHandle;
class CoachMark;
class StackedColumns;

/// Memory of one GPU over one step: a column an event, stacked by category, under the device's hatched ceiling, with the
/// budget line that a person drags. The highest column is the plan's peak, to the byte.
class MemoryChart : public Chart {
    Q_OBJECT
public:
    explicit MemoryChart(QWidget* parent = nullptr);

    /// Shows a plan. With no plan inside (nothing fits) the last one stays as a pale shadow.
    void setPicture(const PlanPicturePtr& picture);
    /// A second plan as dotted outline; null for none.
    void setGhost(const PlanPicturePtr& ghost);
    /// Top of the axis in bytes. Never changes during a drag.
    void setTop(Bytes top);

    /// "Drag me" at the line, until it is dragged for the first time.
    void setCoached(bool coached);
    [[nodiscard]] bool coached() const { return m_coach != nullptr; }

    [[nodiscard]] BudgetHandle* handle() const { return m_handle; }
    /// Largest total that is drawn: equals Plan::peak.
    [[nodiscard]] Bytes maximum() const;
    [[nodiscard]] Bytes top() const { return m_top; }
    [[nodiscard]] QString peakText() const;
    [[nodiscard]] ChartTable table() const override;

signals:
    void unitHovered(int unit); ///< −1 when the mouse leaves

protected:
    void restyle() override;
    void arrange() override;
    void hoverAt(const QPoint* point) override;

private:
    void makeItems();
    void fillColumns();
    void fillGhost();
    void fillItems();
    void placePeak();

    StackedColumns* m_columns;
    BudgetHandle* m_handle;
    CoachMark* m_coach = nullptr;
    QCPItemRect* m_ceiling = nullptr;
    QCPItemLine* m_ceilingLine = nullptr;
    QCPItemText* m_ceilingText = nullptr;
    std::array<QCPItemLine*, 2> m_borders{}; ///< forward | backward | step
    QCPItemText* m_peakText = nullptr;
    QCPItemTracer* m_peakDot = nullptr;
    PlanPicturePtr m_picture; ///< last one asked to show
    PlanPicturePtr m_shown;   ///< last one with a plan
    PlanPicturePtr m_ghost;
    Bytes m_top;
};

/// Edges of the timeline's columns: one unit wide, the optimizer step wide enough to be seen.
std::vector<double> timelineEdges(const Timeline& timeline);

} // namespace loadline
