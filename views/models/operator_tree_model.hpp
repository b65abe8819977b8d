// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/charts/decision.hpp"
#include "views/models/operator_filter.hpp"
#include "views/models/plan_picture.hpp"

#include <QAbstractItemModel>

#include <deque>
#include <vector>

namespace loadline {

/// The units of a plan as a tree: repeated blocks folded ("layers × 32"), below them one row a kind with its sums, below
/// that one row a block. Columns: name, what was chosen, memory, time.
class OperatorTreeModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Column { Name, Chosen, Memory, Time, kColumns };
    enum Role {
        SortRole = Qt::UserRole + 1, ///< raw values, so that sorting never sorts text
        ShareRole,                   ///< of the largest sibling, 0 to 1; for in-cell bars
        UnitRole,                    ///< index in CostTable::units, −1 for a sum
        PinRole                      ///< what it is pinned to; of a sum: how many of its units are
    };
    /// How often a decision occurs below a row.
    struct Share {
        Decision decision;
        std::size_t count = 0;
    };

    explicit OperatorTreeModel(QObject* parent = nullptr);

    /// A plan without a plan inside leaves the rows as they are. Rows are rebuilt only if the units differ.
    void setPicture(const PlanPicturePtr& picture);
    /// For each unit what it is pinned to; empty: free.
    void setPins(std::vector<QString> pins);
    /// What a filter asks; a sum has nothing but its name.
    [[nodiscard]] OperatorFacts facts(const QModelIndex& index) const;
    [[nodiscard]] std::vector<std::size_t> unitsOf(const QModelIndex& index) const;       ///< at and below a row
    [[nodiscard]] std::vector<int> splitsOf(const std::vector<std::size_t>& units) const; ///< slices that some of them offer, ascending
    [[nodiscard]] std::size_t units() const { return m_leafOfUnit.size(); }
    [[nodiscard]] std::vector<Share> shares(const QModelIndex& index) const;
    [[nodiscard]] QModelIndex indexOfUnit(std::size_t unit) const;

    [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    [[nodiscard]] QModelIndex parent(const QModelIndex& index) const override;
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Node {
        Node* parent = nullptr;
        int row = 0;
        QString name;
        QString fullName;
        int unit = -1;
        std::vector<Node*> children;
        Bytes memory; ///< states and saved activations
        Seconds time; ///< compute and communication
        std::vector<Share> shares;
    };

    void rebuild(const CostTable& table);
    void refill(const Plan& plan);
    Node* addChild(Node* parent, const QString& name);
    void addSum(Node* node);
    [[nodiscard]] QString pinText(const Node& node) const;
    [[nodiscard]] static const Node* node(const QModelIndex& index);
    [[nodiscard]] QString chosenText(const Node& node) const;
    [[nodiscard]] QString toolTip(const Node& node) const;
    [[nodiscard]] double shareOf(const Node& node, int column) const;

    PlanPicturePtr m_shown;
    std::vector<QString> m_pins;
    std::deque<Node> m_nodes; ///< stable addresses; the first is the root
    std::vector<Node*> m_leafOfUnit;
};

} // namespace loadline
