// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/changes.hpp"

#include <QAbstractListModel>

namespace loadline {

/// The rows of "What changed".
class ChangeModel : public QAbstractListModel {
    Q_OBJECT
public:
    enum Role { WhatRole = Qt::UserRole + 1, DeltaRole };
    using QAbstractListModel::QAbstractListModel;

    void setChanges(std::vector<Change> changes);
    [[nodiscard]] const std::vector<Change>& changes() const { return m_changes; }

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;

private:
    std::vector<Change> m_changes;
};

} // namespace loadline
