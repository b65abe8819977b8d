// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/plan_picture.hpp"

#include <QWidget>

class QLineEdit;
class QSortFilterProxyModel;
class QTreeView;

namespace loadline {

class OperatorTreeModel;
class TitleRow;

/// The operators of the model with what was chosen for each; filter by name, sort by any column.
class OperatorPanel : public QWidget {
    Q_OBJECT
public:
    explicit OperatorPanel(QWidget* parent = nullptr);

    void setPicture(const PlanPicturePtr& picture);
    void showUnit(std::size_t unit); ///< opens its block and selects it
    void focusFilter();

    [[nodiscard]] OperatorTreeModel* model() const { return m_model; }
    [[nodiscard]] QTreeView* view() const { return m_view; }

signals:
    void unitsChosen(const std::vector<std::size_t>& units); ///< of the selected row
    void hovered(const QString& words);

private:
    void expandBlocks();
    void filter(const QString& words);
    void choose();

    TitleRow* m_title;
    QLineEdit* m_filter;
    QTreeView* m_view;
    OperatorTreeModel* m_model;
    QSortFilterProxyModel* m_proxy;
};

} // namespace loadline
