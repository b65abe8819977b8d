// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/charts/chart.hpp"
#include "views/models/plan_picture.hpp"

namespace loadline {

class Crosshair;
class StackedColumns;

/// Time of each unit in one step, in order of the forward pass: compute, communication that compute hides, and
/// communication that it does not. Same x axis as the decision strip.
class TimeChart : public Chart {
    Q_OBJECT
public:
    explicit TimeChart(QWidget* parent = nullptr);

    void setPicture(const PlanPicturePtr& picture);
    /// A second plan's total per operator as dotted outline; null, or one of other operators: none.
    void setGhost(const PlanPicturePtr& ghost);
    /// Keeps the value axis as it is while a drag lasts, however tall a column gets.
    void holdAxis(bool hold);
    void markUnit(int unit); ///< −1 for none

    /// Seconds drawn for a unit: compute, hidden, exposed.
    [[nodiscard]] std::array<double, 3> seconds(std::size_t unit) const;
    [[nodiscard]] double axisTop() const;
    [[nodiscard]] ChartTable table() const override;

signals:
    void unitHovered(int unit);

protected:
    void restyle() override;
    void arrange() override;
    void hoverAt(const QPoint* point) override;

private:
    void fitAxis();
    void fillGhost();
    [[nodiscard]] double axisTopFor() const;

    StackedColumns* m_columns;
    Crosshair* m_crosshair;
    PlanPicturePtr m_shown;
    PlanPicturePtr m_ghost;
    double m_ghostMost = 0; ///< its tallest column
    bool m_held = false;
    int m_marked = -1;
};

} // namespace loadline
