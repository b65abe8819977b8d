// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/operator_panel.hpp"

#include "views/format/text.hpp"
#include "views/models/operator_tree_model.hpp"
#include "views/palette.hpp"
#include "views/panels/cell_delegates.hpp"
#include "views/panels/title_row.hpp"

#include <QHeaderView>
#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <QTreeView>
#include <QVBoxLayout>

namespace loadline {
namespace {

void collectUnits(const QModelIndex& index, std::vector<std::size_t>& units)
{
    const int unit = index.data(OperatorTreeModel::UnitRole).toInt();
    if (unit >= 0)
        units.push_back(static_cast<std::size_t>(unit));
    for (int row = 0; row < index.model()->rowCount(index); ++row)
        collectUnits(index.model()->index(row, 0, index), units);
}

} // namespace

OperatorPanel::OperatorPanel(QWidget* parent)
    : QWidget(parent), m_title(new TitleRow(tr("Operators"), {}, this)), m_filter(new QLineEdit(this)), m_view(new QTreeView(this)),
      m_model(new OperatorTreeModel(this)), m_proxy(new QSortFilterProxyModel(this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    auto* filterRow = new QHBoxLayout;
    filterRow->setContentsMargins(12, 0, 12, 8);
    filterRow->addWidget(m_filter);
    layout->addWidget(m_title);
    layout->addLayout(filterRow);
    layout->addWidget(m_view);
    m_filter->setPlaceholderText(tr("filter by name"));
    m_filter->setAccessibleName(tr("Filter operators by name"));
    m_filter->setClearButtonEnabled(true);
    m_proxy->setSourceModel(m_model);
    m_proxy->setRecursiveFilteringEnabled(true);
    m_proxy->setAutoAcceptChildRows(true);
    m_proxy->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_proxy->setSortRole(OperatorTreeModel::SortRole);
    m_view->setModel(m_proxy);
    m_view->setItemDelegate(new OperatorDelegate(m_view));
    m_view->setAccessibleName(tr("Operators and what was chosen"));
    m_view->setUniformRowHeights(true);
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setIndentation(12);
    m_view->setMouseTracking(true);
    m_view->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_view->setAllColumnsShowFocus(true);
    QHeaderView* header = m_view->header();
    header->setStretchLastSection(false);
    header->setMinimumSectionSize(30);
    header->setSectionResizeMode(OperatorTreeModel::Name, QHeaderView::Stretch);
    for (const auto& [column, width] :
         {std::pair(OperatorTreeModel::Chosen, 96), std::pair(OperatorTreeModel::Memory, 54), std::pair(OperatorTreeModel::Time, 40)}) {
        header->setSectionResizeMode(column, QHeaderView::Fixed);
        header->resizeSection(column, width);
    }
    m_view->setSortingEnabled(true);
    m_view->sortByColumn(OperatorTreeModel::Name, Qt::AscendingOrder);
    connect(m_filter, &QLineEdit::textChanged, this, &OperatorPanel::filter);
    connect(m_model, &QAbstractItemModel::modelReset, this, &OperatorPanel::expandBlocks);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this, &OperatorPanel::choose);
    connect(m_view, &QTreeView::entered, this, [this](const QModelIndex& index) {
        emit hovered(index.siblingAtColumn(0).data(Qt::ToolTipRole).toString().replace(QLatin1Char('\n'), QStringLiteral(" \u00b7 ")));
    });
}

void OperatorPanel::setPicture(const PlanPicturePtr& picture)
{
    m_model->setPicture(picture);
    m_title->setNote(wholeText(static_cast<std::int64_t>(m_model->units())));
}

void OperatorPanel::expandBlocks()
{
    for (int row = 0; row < m_proxy->rowCount(); ++row)
        m_view->expand(m_proxy->index(row, 0));
}

void OperatorPanel::filter(const QString& words)
{
    m_proxy->setFilterFixedString(words.trimmed());
    expandBlocks();
}

void OperatorPanel::focusFilter()
{
    m_filter->setFocus();
    m_filter->selectAll();
}

void OperatorPanel::choose()
{
    std::vector<std::size_t> units;
    const QModelIndex current = m_view->currentIndex().siblingAtColumn(0);
    if (current.isValid())
        collectUnits(current, units);
    emit unitsChosen(units);
}

void OperatorPanel::showUnit(std::size_t unit)
{
    const QModelIndex index = m_proxy->mapFromSource(m_model->indexOfUnit(unit));
    if (!index.isValid())
        return;
    m_view->setCurrentIndex(index);
    m_view->scrollTo(index, QAbstractItemView::PositionAtCenter);
}

} // namespace loadline
