// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/operator_panel.hpp"

#include "views/format/text.hpp"
#include "views/models/operator_filter.hpp"
#include "views/models/operator_tree_model.hpp"
#include "views/palette.hpp"
#include "views/panels/cell_delegates.hpp"
#include "views/panels/title_row.hpp"

#include <QContextMenuEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSortFilterProxyModel>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace loadline {
namespace {

/// Rows that the filter accepts; those above them come along.
class FilterProxy : public QSortFilterProxyModel {
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;
    void setFilter(OperatorFilter filter)
    {
        m_filter = std::move(filter);
        invalidateFilter();
    }

protected:
    [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override
    {
        const auto* tree = static_cast<const OperatorTreeModel*>(sourceModel());
        const QModelIndex index = tree->index(row, 0, parent);
        const bool sum = tree->data(index, OperatorTreeModel::UnitRole).toInt() < 0;
        return (!sum || m_filter.namesOnly()) && m_filter.accepts(tree->facts(index));
    }

private:
    OperatorFilter m_filter;
};

} // namespace

OperatorPanel::OperatorPanel(QWidget* parent)
    : QWidget(parent), m_title(new TitleRow(tr("Operators"), {}, this)), m_filter(new QLineEdit(this)), m_problem(new QLabel(this)),
      m_view(new QTreeView(this)), m_model(new OperatorTreeModel(this)), m_proxy(new FilterProxy(this))
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    auto* filterRow = new QHBoxLayout;
    filterRow->setContentsMargins(12, 0, 12, 8);
    filterRow->addWidget(m_filter);
    layout->addWidget(m_title);
    layout->addLayout(filterRow);
    layout->addWidget(m_problem);
    m_problem->setObjectName(QStringLiteral("soft"));
    m_problem->setWordWrap(true);
    m_problem->setContentsMargins(12, 0, 12, 8);
    m_problem->setTextFormat(Qt::PlainText);
    m_problem->hide();
    layout->addWidget(m_view);
    m_filter->setPlaceholderText(tr("filter: name, split>1, mem>2GiB, /regex/"));
    m_filter->setAccessibleName(tr("Filter operators"));
    m_filter->setClearButtonEnabled(true);
    m_proxy->setSourceModel(m_model);
    m_proxy->setRecursiveFilteringEnabled(true);
    m_proxy->setAutoAcceptChildRows(true);
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
    m_view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_view->installEventFilter(this);
    m_view->viewport()->installEventFilter(this);
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
    const auto read = OperatorFilter::read(words);
    m_problem->setVisible(!read.ok());
    m_problem->setText(read ? QString() : text(read.error().message));
    if (read) // while a term is half typed, the rows stay as they were
        static_cast<FilterProxy*>(m_proxy)->setFilter(*read);
    expandBlocks();
}

QString OperatorPanel::problem() const
{
    return m_problem->text();
}

void OperatorPanel::setPins(std::vector<QString> pins)
{
    m_model->setPins(std::move(pins));
}

std::vector<std::size_t> OperatorPanel::selectedUnits() const
{
    std::vector<std::size_t> units;
    for (const QModelIndex& row : m_view->selectionModel()->selectedRows()) {
        const auto below = m_model->unitsOf(m_proxy->mapToSource(row));
        units.insert(units.end(), below.begin(), below.end());
    }
    std::sort(units.begin(), units.end());
    units.erase(std::unique(units.begin(), units.end()), units.end());
    return units;
}

std::unique_ptr<QMenu> OperatorPanel::pinMenu()
{
    auto menu = std::make_unique<QMenu>(this);
    const std::vector<std::size_t> units = selectedUnits();
    const auto add = [&](QMenu* to, const QString& words, const QString& strategy) {
        connect(to->addAction(words), &QAction::triggered, this, [this, units, strategy] { emit pinAsked(units, strategy); });
    };
    if (units.empty())
        return menu;
    add(menu.get(), tr("Pin replicated\t1"), QStringLiteral("dp"));
    add(menu.get(), tr("Pin sharded\t2"), QStringLiteral("zdp"));
    const std::vector<int> splits = m_model->splitsOf(units);
    QMenu* split = menu->addMenu(tr("Pin split"));
    split->setEnabled(!splits.empty());
    for (const int slices : splits)
        add(split, slices == splits.back() ? tr("in %1\t3").arg(slices) : tr("in %1").arg(slices), QStringLiteral("zdp/%1").arg(slices));
    add(menu.get(), tr("Pin recomputed\t4"), QStringLiteral("recompute"));
    menu->addSeparator();
    add(menu.get(), tr("Free\t0"), {});
    return menu;
}

bool OperatorPanel::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::ContextMenu) {
        const auto* asked = static_cast<QContextMenuEvent*>(event);
        const bool byKey = asked->reason() == QContextMenuEvent::Keyboard;
        const auto menu = pinMenu();
        if (!menu->isEmpty())
            menu->exec(byKey ? m_view->viewport()->mapToGlobal(m_view->visualRect(m_view->currentIndex()).center()) : asked->globalPos());
        return true;
    }
    if (watched == m_view && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const std::vector<std::size_t> units = selectedUnits();
        const std::vector<int> splits = units.empty() || key->key() != Qt::Key_3 ? std::vector<int>() : m_model->splitsOf(units);
        const std::pair<int, QString> keys[] = {{Qt::Key_0, {}},
                                                {Qt::Key_1, QStringLiteral("dp")},
                                                {Qt::Key_2, QStringLiteral("zdp")},
                                                {Qt::Key_3, splits.empty() ? QString() : QStringLiteral("zdp/%1").arg(splits.back())},
                                                {Qt::Key_4, QStringLiteral("recompute")}};
        for (const auto& [code, strategy] : keys) {
            if (key->key() != code || key->modifiers() != Qt::NoModifier)
                continue;
            if (!units.empty() && (code != Qt::Key_3 || !splits.empty()))
                emit pinAsked(units, strategy);
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void OperatorPanel::focusFilter()
{
    m_filter->setFocus();
    m_filter->selectAll();
}

void OperatorPanel::choose()
{
    const QModelIndex current = m_view->currentIndex().siblingAtColumn(0);
    emit unitsChosen(current.isValid() ? m_model->unitsOf(m_proxy->mapToSource(current)) : std::vector<std::size_t>());
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
