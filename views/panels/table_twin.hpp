// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/charts/chart_table.hpp"

#include <QAbstractTableModel>
#include <QDialog>

class QTableView;

namespace loadline {

/// Rows of a chart for a view.
class ChartTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    explicit ChartTableModel(ChartTable table, QObject* parent = nullptr);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    ChartTable m_table;
};

/// What a chart showed when it was asked, as a table that a keyboard and a screen reader can walk. Ctrl+C copies the chosen rows.
class TableTwin : public QDialog {
    Q_OBJECT
public:
    TableTwin(const QString& title, ChartTable table, QWidget* parent);

    [[nodiscard]] QTableView* view() const { return m_view; }

signals:
    void copied(const QString& text); ///< tab-separated rows with their heads

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    QTableView* m_view;
};

} // namespace loadline
