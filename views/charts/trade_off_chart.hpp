// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/charts/chart.hpp"
#include "views/models/plan_picture.hpp"

#include <QStringList>

#include <optional>
#include <vector>

class QCPGraph;
class QCPItemRect;
class QCPItemText;

namespace loadline {

class BudgetHandle;

/// Least step time over budget as the staircase that it is, with the same budget line (upright here) and the known ways to
/// choose as labelled points.
class TradeOffChart : public Chart {
    Q_OBJECT
public:
    explicit TradeOffChart(QWidget* parent = nullptr);

    /// Null while it is being computed: the old stair stays, pale.
    void setPicture(const std::shared_ptr<const TradeOffPicture>& picture);
    /// Another plan's stair as dotted outline; null: none.
    void setGhost(const std::shared_ptr<const TradeOffPicture>& ghost);
    [[nodiscard]] std::size_t ghostSteps() const { return m_ghostPicture ? m_ghostPicture->stair.size() : 0; }
    void setBudget(Bytes budget);
    /// The plan on show: where the dot stands when the stair has no step for it.
    void setCurrent(const PlanPicturePtr& picture);

    [[nodiscard]] BudgetHandle* handle() const { return m_handle; }
    /// Step time that the stair gives for a budget; empty left of its first step.
    [[nodiscard]] std::optional<Seconds> timeAt(Bytes budget) const;
    /// Baselines beyond the axes, in words; empty if all are in view.
    [[nodiscard]] QString beyondText() const { return m_beyond; }
    [[nodiscard]] ChartTable table() const override;
    [[nodiscard]] std::size_t steps() const { return m_picture ? m_picture->stair.size() : 0; }

signals:
    void beyondChanged(const QString& words);

protected:
    void restyle() override;
    void arrange() override;
    void hoverAt(const QPoint* point) override;

private:
    /// A baseline in view.
    struct Mark {
        double key = 0;   ///< bytes
        double value = 0; ///< seconds
        QString name;
        QStringList others; ///< baselines at the same point
    };
    void fillStair();
    void fitAxes();
    void fillBaselines();
    void placeLabels();
    void placeDot();
    [[nodiscard]] std::optional<QPointF> placeFor(const QRectF& mark, const QSizeF& size, const std::vector<QRectF>& taken) const;
    [[nodiscard]] bool free(const QRectF& rect, const std::vector<QRectF>& taken) const;

    QCPGraph* m_stair;
    QCPGraph* m_ghost;
    QCPGraph* m_points;
    QCPItemRect* m_ceiling;
    std::vector<QCPItemText*> m_labels;
    std::vector<Mark> m_marks;
    BudgetHandle* m_handle;
    std::shared_ptr<const TradeOffPicture> m_picture;
    std::shared_ptr<const TradeOffPicture> m_ghostPicture;
    PlanPicturePtr m_current;
    QString m_beyond;
};

} // namespace loadline
