// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/table_twin.hpp"

#include <QHeaderView>
#include <QItemSelectionModel>
#include <QKeyEvent>
#include <QTableView>
#include <QVBoxLayout>

#include <utility>

namespace loadline {

ChartTableModel::ChartTableModel(ChartTable table, QObject* parent) : QAbstractTableModel(parent), m_table(std::move(table)) {}

int ChartTableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_table.rows.size());
}

int ChartTableModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_table.columns.size());
}

QVariant ChartTableModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || (role != Qt::DisplayRole && role != Qt::AccessibleTextRole && role != Qt::ToolTipRole))
        return {};
    return m_table.rows[static_cast<std::size_t>(index.row())].value(index.column());
}

QVariant ChartTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (role != Qt::DisplayRole)
        return {};
    return orientation == Qt::Horizontal ? QVariant(m_table.columns.value(section)) : QVariant(section + 1);
}

TableTwin::TableTwin(const QString& title, ChartTable table, QWidget* parent) : QDialog(parent), m_view(new QTableView(this))
{
    setWindowTitle(tr("%1 as a table").arg(title));
    resize(720, 480);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_view);
    m_view->setModel(new ChartTableModel(std::move(table), this));
    m_view->setAccessibleName(windowTitle());
    m_view->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->verticalHeader()->setDefaultSectionSize(22);
    m_view->horizontalHeader()->setDefaultSectionSize(130);
    m_view->horizontalHeader()->setStretchLastSection(true);
    m_view->installEventFilter(this);
    if (m_view->model()->rowCount() > 0)
        m_view->setCurrentIndex(m_view->model()->index(0, 0));
    m_view->setFocus();
}

void TableTwin::keyPressEvent(QKeyEvent* event)
{
    if (!event->matches(QKeySequence::Copy)) {
        QDialog::keyPressEvent(event);
        return;
    }
    const auto line = [this](auto&& cell) {
        QStringList cells;
        for (int column = 0; column < m_view->model()->columnCount(); ++column)
            cells << cell(column).toString();
        return cells.join(QLatin1Char('\t'));
    };
    QStringList lines{line([this](int column) { return m_view->model()->headerData(column, Qt::Horizontal); })};
    for (const QModelIndex& row : m_view->selectionModel()->selectedRows())
        lines << line([&row](int column) { return row.siblingAtColumn(column).data(); });
    emit copied(lines.join(QLatin1Char('\n')));
}

} // namespace loadline
