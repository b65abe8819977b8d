// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/plan_picture.hpp"

#include <QWidget>

#include <memory>

class QLabel;
class QLineEdit;
class QMenu;
class QSortFilterProxyModel;
class QTreeView;

namespace loadline {

class OperatorTreeModel;
class TitleRow;

/// The operators of the model with what was chosen for each; a filter (operator_filter.hpp), sorting by any column, and pins by menu or
/// key: 1 replicated, 2 sharded, 3 split as finely as it can be, 4 recomputed, 0 free.
class OperatorPanel : public QWidget {
    Q_OBJECT
public:
    explicit OperatorPanel(QWidget* parent = nullptr);

    void setPicture(const PlanPicturePtr& picture);
    void showUnit(std::size_t unit); ///< opens its block and selects it
    void focusFilter();
    void setPins(std::vector<QString> pins); ///< one text a unit; empty: free
    /// What can be done with the selected rows.
    [[nodiscard]] std::unique_ptr<QMenu> pinMenu();

    [[nodiscard]] OperatorTreeModel* model() const { return m_model; }
    [[nodiscard]] QTreeView* view() const { return m_view; }
    [[nodiscard]] QLineEdit* field() const { return m_filter; }
    [[nodiscard]] QString problem() const; ///< why the filter cannot be read

signals:
    void unitsChosen(const std::vector<std::size_t>& units); ///< of the selected row
    void hovered(const QString& words);
    /// Strategy as loadline-plan's pins write it; empty: free.
    void pinAsked(const std::vector<std::size_t>& units, const QString& strategy);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void expandBlocks();
    void filter(const QString& words);
    void choose();
    [[nodiscard]] std::vector<std::size_t> selectedUnits() const;

    TitleRow* m_title;
    QLineEdit* m_filter;
    QLabel* m_problem;
    QTreeView* m_view;
    OperatorTreeModel* m_model;
    QSortFilterProxyModel* m_proxy;
};

} // namespace loadline
