// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/planner.hpp"

#include <QAbstractTableModel>

#include <optional>
#include <vector>

namespace loadline {

/// Two plans unit by unit: what each chose, and what that changes in bytes and seconds.
class CompareModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Name, Before, After, BytesChange, SecondsChange, kColumns };
    enum Role { MoodRole = Qt::UserRole + 1, SortRole }; ///< mood: 1 better, -1 worse, 0 plain
    struct Row {
        QString name;
        QString before; ///< strategy in words; empty: only the other plan has the unit
        QString after;
        std::optional<Bytes> bytes;     ///< after - before, of what stays: states and saved activations
        std::optional<Seconds> seconds; ///< after - before, of the whole step
        [[nodiscard]] bool differs() const { return before != after; }
    };
    using QAbstractTableModel::QAbstractTableModel;

    /// Null: nothing to compare.
    void setPlans(const Plan* before, const Plan* after);
    void setOnlyDifferences(bool only);

    [[nodiscard]] std::size_t differences() const { return m_differences; }
    [[nodiscard]] std::size_t units() const { return m_rows.size(); }
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    void filter();

    std::vector<Row> m_rows;
    std::vector<std::size_t> m_visible;
    std::size_t m_differences = 0;
    bool m_only = true;
};

} // namespace loadline
