// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/change_model.hpp"

#include "views/format/text.hpp"

namespace loadline {

void ChangeModel::setChanges(std::vector<Change> changes)
{
    beginResetModel();
    m_changes = std::move(changes);
    endResetModel();
}

int ChangeModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_changes.size());
}

QVariant ChangeModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    const Change& change = m_changes[static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        return change.where;
    case Qt::ToolTipRole:
    case Qt::AccessibleTextRole:
        return change.where + QLatin1Char('\n') + change.what + QLatin1Char('\n') + signedSecondsText(change.delta);
    case WhatRole:
        return change.what;
    case DeltaRole:
        return change.delta.value();
    default:
        return {};
    }
}

} // namespace loadline
