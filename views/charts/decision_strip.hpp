// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/charts/chart_table.hpp"
#include "views/charts/decision.hpp"
#include "views/models/plan_picture.hpp"

#include <QWidget>

#include <vector>

namespace loadline {

/// One row of cells, one a unit in order of the forward pass, with the colour and pattern of what was chosen; below it the
/// kinds that occur.
class DecisionStrip : public QWidget, public TableSource {
    Q_OBJECT
public:
    explicit DecisionStrip(QWidget* parent = nullptr);

    void setPicture(const PlanPicturePtr& picture);
    void markUnit(int unit);
    void markUnits(std::vector<std::size_t> units); ///< framed, for "what changed"

    /// The part that is shown, in units and fractions of them; the chart below it decides.
    void setShown(double from, double to);

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] ChartTable table() const override;
    [[nodiscard]] const std::vector<Decision>& decisions() const { return m_decisions; }

signals:
    void hovered(const QString& words);
    void unitHovered(int unit);

protected:
    void paintEvent(QPaintEvent*) override;
    void mouseMoveEvent(QMouseEvent*) override;
    void leaveEvent(QEvent*) override;

private:
    struct Kind {
        Decision decision;
        QString words;
        std::size_t count = 0;
    };
    [[nodiscard]] QRect cells() const;
    [[nodiscard]] double edge(std::size_t unit) const;
    [[nodiscard]] double shownUnits() const;
    void paintCells(QPainter& painter) const;
    void paintMarks(QPainter& painter) const;
    void paintLegend(QPainter& painter) const;

    PlanPicturePtr m_shown;
    bool m_pale = false;
    std::vector<Decision> m_decisions;
    std::vector<Kind> m_kinds;
    std::vector<std::size_t> m_framed;
    int m_marked = -1;
    double m_from = 0;
    double m_to = 0; ///< not above `m_from`: all
};

} // namespace loadline
