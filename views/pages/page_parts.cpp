// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/page_parts.hpp"

#include <QHeaderView>
#include <QScrollArea>
#include <QSplitter>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace loadline {

QVBoxLayout* panelColumn(QWidget* panel)
{
    panel->setObjectName(QStringLiteral("panel"));
    panel->setAttribute(Qt::WA_StyledBackground);
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    return column;
}

QScrollArea* scrolled(QWidget* content, QWidget* parent)
{
    auto* area = new QScrollArea(parent);
    area->setFrameShape(QFrame::NoFrame);
    area->setWidgetResizable(true);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setWidget(content);
    area->setFocusPolicy(Qt::NoFocus); // its content takes it
    return area;
}

QTreeWidget* plainTable(const QStringList& columns, const QString& name, QWidget* parent)
{
    auto* table = new QTreeWidget(parent);
    table->setHeaderLabels(columns);
    table->setRootIsDecorated(false);
    table->setUniformRowHeights(true);
    table->setFrameShape(QFrame::NoFrame);
    table->setAccessibleName(name);
    table->setSelectionMode(QAbstractItemView::SingleSelection);
    table->header()->setStretchLastSection(true);
    table->header()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    return table;
}

void thinHandles(QSplitter* splitter)
{
    splitter->setHandleWidth(1);
    splitter->setChildrenCollapsible(false);
}

} // namespace loadline
