// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/plan_picture.hpp"

#include <QTabWidget>

#include <optional>

class QPlainTextEdit;
class QTreeView;

namespace loadline {

class BaselineModel;
class OperatorDetails;
class StreamChart;

/// Below the charts: the known ways to choose beside this plan, one operator's figures with their formulas, the step on its two streams,
/// and what stands behind the figures.
class DetailTabs : public QTabWidget {
    Q_OBJECT
public:
    explicit DetailTabs(QWidget* parent = nullptr);

    void setPicture(const PlanPicturePtr& picture);
    void setBaselines(std::vector<Baseline> baselines);

    /// The operator whose figures are shown; stays over new plans of the same units.
    void showUnit(std::size_t unit);

    [[nodiscard]] OperatorDetails* operatorDetails() const { return m_operator; }
    [[nodiscard]] StreamChart* streams() const { return m_streams; }
    [[nodiscard]] BaselineModel* baselines() const { return m_baselines; }
    [[nodiscard]] QString notes() const;
    /// One sentence a line: model, cluster and where its figures come from, precision, optimizer, runtime, what is estimated.
    [[nodiscard]] static QStringList notesOf(const Plan& plan);

signals:
    void hovered(const QString& words);

private:
    void fillOperator();

    BaselineModel* m_baselines;
    QTreeView* m_table;
    OperatorDetails* m_operator;
    StreamChart* m_streams;
    QPlainTextEdit* m_notes;
    PlanPicturePtr m_picture;
    std::optional<std::size_t> m_unit;
};

} // namespace loadline
