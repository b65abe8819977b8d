// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/runs_table.hpp"

#include "views/pages/page_parts.hpp"
#include "views/panels/cell_delegates.hpp"
#include "views/panels/title_row.hpp"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QTreeView>
#include <QVBoxLayout>

namespace loadline {

RunsTable::RunsTable(QWidget* parent)
    : QWidget(parent), m_title(new TitleRow(tr("Runs of this session"), {}, this)), m_only(new QCheckBox(tr("Only what differs"), this)),
      m_model(new RunModel(this)), m_view(new QTreeView(this))
{
    auto* column = panelColumn(this);
    auto* head = new QHBoxLayout;
    head->addWidget(m_title, 1);
    head->addWidget(m_only);
    head->addSpacing(16);
    column->addLayout(head);
    column->addWidget(m_view, 1);
    m_view->setModel(m_model);
    auto* rows = new RowDelegate(m_view);
    rows->setFirstStrong(false);
    m_view->setItemDelegate(rows);
    m_view->setRootIsDecorated(false);
    m_view->setUniformRowHeights(true);
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setAccessibleName(tr("Runs of this session"));
    m_view->header()->setStretchLastSection(true);
    const int widths[] = {130, 80, 110, 120, 120, 60, 190, 90, 110, 110, 70, 110, 110};
    for (int i = 0; i < RunModel::kColumns - 1; ++i)
        m_view->header()->resizeSection(i, widths[i]);
    connect(m_only, &QCheckBox::toggled, this, &RunsTable::showColumns);
    connect(m_view, &QTreeView::activated, this,
            [this](const QModelIndex& index) { emit openAsked(m_model->lines()[static_cast<std::size_t>(index.row())].id); });
    hide();
}

void RunsTable::setLines(std::vector<RunLine> lines)
{
    m_model->setLines(std::move(lines));
    const auto count = static_cast<qlonglong>(m_model->lines().size());
    m_title->setUnit(count == 1 ? tr("one, Return shows it again") : tr("%1, Return shows one again").arg(count));
    showColumns();
    setVisible(count > 0);
}

void RunsTable::showColumns()
{
    for (int column = 0; column < RunModel::kColumns; ++column) {
        const bool needed = column == RunModel::Date || !m_only->isChecked() || m_model->differs(column);
        m_view->setColumnHidden(column, !needed);
    }
}

} // namespace loadline
