// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/plan_picture.hpp"

#include <QTabWidget>

class QPlainTextEdit;
class QTreeView;

namespace loadline {

class BaselineModel;

/// Below the charts: the known ways to choose beside this plan, and what stands behind the figures.
class DetailTabs : public QTabWidget {
    Q_OBJECT
public:
    explicit DetailTabs(QWidget* parent = nullptr);

    void setPicture(const PlanPicturePtr& picture);
    void setBaselines(std::vector<Baseline> baselines);

    [[nodiscard]] BaselineModel* baselines() const { return m_baselines; }
    [[nodiscard]] QString notes() const;
    /// One sentence a line: model, cluster and where its figures come from, precision, optimizer, runtime, what is estimated.
    [[nodiscard]] static QStringList notesOf(const Plan& plan);

private:
    BaselineModel* m_baselines;
    QTreeView* m_table;
    QPlainTextEdit* m_notes;
};

} // namespace loadline
