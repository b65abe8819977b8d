// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/charts/decision.hpp"
#include "views/models/plan_picture.hpp"

#include <QWidget>

#include <vector>

namespace loadline {

/// One row of cells, one a unit in order of the forward pass, with the colour and pattern of what was chosen; below it the
/// kinds that occur.
class DecisionStrip : public QWidget {
    Q_OBJECT
public:
    explicit DecisionStrip(QWidget* parent = nullptr);

    void setPicture(const PlanPicturePtr& picture);
    void markUnit(int unit);
    void markUnits(std::vector<std::size_t> units); ///< framed, for "what changed"

    [[nodiscard]] QSize sizeHint() const override;
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
    void paintCells(QPainter& painter) const;
    void paintMarks(QPainter& painter) const;
    void paintLegend(QPainter& painter) const;

    PlanPicturePtr m_shown;
    bool m_pale = false;
    std::vector<Decision> m_decisions;
    std::vector<Kind> m_kinds;
    std::vector<std::size_t> m_framed;
    int m_marked = -1;
};

} // namespace loadline
