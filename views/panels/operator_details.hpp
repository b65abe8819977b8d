// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/charts/chart_table.hpp"
#include "views/models/plan_picture.hpp"

#include <QWidget>

#include <optional>

class QLabel;
class QTreeWidget;

namespace loadline {

/// Bytes that stay against seconds of one unit under every choice it has, as points; the plan's own is filled. Arrow keys walk the points.
class ChoiceMap : public QWidget, public TableSource {
    Q_OBJECT
public:
    explicit ChoiceMap(QWidget* parent = nullptr);

    void setUnit(const PlanPicturePtr& picture, std::size_t unit);

    [[nodiscard]] QSize sizeHint() const override { return {240, 140}; }
    [[nodiscard]] ChartTable table() const override;
    [[nodiscard]] std::size_t points() const { return m_points.size(); }
    [[nodiscard]] QPointF position(std::size_t option) const;

signals:
    void hovered(const QString& words);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    struct Point {
        double bytes;   ///< that stay: states, saved, kept
        double seconds; ///< serial
        QString words;
    };
    [[nodiscard]] QRectF area() const;
    void look(std::size_t option);

    std::vector<Point> m_points;
    std::size_t m_chosen = 0;
    std::size_t m_looked = 0;
};

/// One operator's figures: what was chosen, each number with its formula and the values put in, its cost under every choice, and the
/// budget at which the choice changes.
class OperatorDetails : public QWidget {
    Q_OBJECT
public:
    explicit OperatorDetails(QWidget* parent = nullptr);

    /// `flip`: the least budget above this one at which the choice changes; empty: not known, or never.
    void setUnit(const PlanPicturePtr& picture, std::size_t unit, std::optional<Bytes> flip);
    void clear();

    [[nodiscard]] QTreeWidget* table() const { return m_table; }
    [[nodiscard]] ChoiceMap* map() const { return m_map; }
    [[nodiscard]] QString heading() const;

signals:
    void hovered(const QString& words);

private:
    QLabel* m_name;
    QLabel* m_choice;
    QTreeWidget* m_table;
    ChoiceMap* m_map;
};

} // namespace loadline
