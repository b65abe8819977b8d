// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/baseline_model.hpp"

#include "views/format/text.hpp"

#include <algorithm>

namespace loadline {

void BaselineModel::setPicture(const PlanPicturePtr& picture)
{
    m_picture = picture;
    if (rowCount() > 0)
        emit dataChanged(index(0, 0), index(rowCount() - 1, kColumns - 1));
}

void BaselineModel::setBaselines(std::vector<Baseline> baselines)
{
    beginResetModel();
    m_baselines = std::move(baselines);
    endResetModel();
}

int BaselineModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || m_baselines.empty() ? 0 : static_cast<int>(m_baselines.size()) + 1;
}

int BaselineModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : kColumns;
}

Bytes BaselineModel::shortBy(const Baseline& baseline) const
{
    // Against the budget on show, which moves while the baselines stay.
    return m_picture && m_picture->outcome ? std::max(baseline.peak - m_picture->outcome->budget, Bytes()) : baseline.shortBy;
}

QString BaselineModel::planText(int column) const
{
    const Plan* plan = m_picture ? m_picture->plan() : nullptr;
    switch (column) {
    case Name:
        return tr("This plan");
    case Peak:
        return plan ? bytesText(plan->peak) : QString();
    case StepTime:
        return plan ? secondsText(plan->objective) : QString();
    case Fits:
        return plan ? tr("yes, %1 free").arg(bytesText(m_picture->outcome->budget - plan->peak)) : tr("nothing fits");
    default:
        return {};
    }
}

QString BaselineModel::baselineText(const Baseline& baseline, int column) const
{
    if (column == Name)
        return text(baseline.name);
    if (column == Note)
        return text(baseline.note);
    if (!baseline.available)
        return column == Fits ? tr("not available") : QString();
    const Plan* plan = m_picture ? m_picture->plan() : nullptr;
    switch (column) {
    case Peak:
        return bytesText(baseline.peak);
    case StepTime:
        return secondsText(baseline.objective);
    case AgainstPlan:
        return plan && plan->objective.value() > 0 ? signedPercentText(baseline.objective.value() / plan->objective.value() - 1)
                                                   : QString();
    case Fits:
        return shortBy(baseline) > Bytes() ? tr("no, short by %1").arg(bytesText(shortBy(baseline))) : tr("yes");
    default:
        return {};
    }
}

QVariant BaselineModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    const bool first = index.row() == 0;
    const Baseline* baseline = first ? nullptr : &m_baselines[static_cast<std::size_t>(index.row() - 1)];
    if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole || role == Qt::ToolTipRole)
        return first ? planText(index.column()) : baselineText(*baseline, index.column());
    if (role == MoodRole) {
        if (index.column() == Fits)
            return first ? (m_picture && m_picture->plan() ? 1 : -1) : baseline->available ? (shortBy(*baseline) > Bytes() ? -1 : 0) : 0;
        return 0;
    }
    return {};
}

QVariant BaselineModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Name:
        return tr("WAY TO CHOOSE");
    case Peak:
        return tr("PEAK");
    case StepTime:
        return tr("STEP TIME");
    case AgainstPlan:
        return tr("AGAINST THIS PLAN");
    case Fits:
        return tr("FITS THE BUDGET");
    case Note:
        return tr("NOTE");
    default:
        return {};
    }
}

} // namespace loadline
