// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/plan_picture.hpp"

#include <QAbstractTableModel>

namespace loadline {

/// This plan and the known ways to choose: peak, step time, how much slower than this plan, and whether it fits.
class BaselineModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Name, Peak, StepTime, AgainstPlan, Fits, Note, kColumns };
    enum Role { MoodRole = Qt::UserRole + 1 }; ///< 1 good, −1 bad, 0 plain
    using QAbstractTableModel::QAbstractTableModel;

    void setPicture(const PlanPicturePtr& picture);
    void setBaselines(std::vector<Baseline> baselines);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    [[nodiscard]] QString planText(int column) const;
    [[nodiscard]] QString baselineText(const Baseline& baseline, int column) const;
    [[nodiscard]] Bytes shortBy(const Baseline& baseline) const;

    PlanPicturePtr m_picture;
    std::vector<Baseline> m_baselines;
};

} // namespace loadline
