// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

class QScrollArea;
class QSplitter;
class QTreeWidget;
class QVBoxLayout;
class QWidget;

namespace loadline {

// What the pages beside the plan have in common.

/// A column of widgets without gaps on the panel's ground.
QVBoxLayout* panelColumn(QWidget* panel);
/// `content` in a frameless scroll area that follows its width.
QScrollArea* scrolled(QWidget* content, QWidget* parent);
/// A table of plain rows under small capitals.
QTreeWidget* plainTable(const QStringList& columns, const QString& name, QWidget* parent);
/// Panels meet at lines of one pixel.
void thinHandles(QSplitter* splitter);

} // namespace loadline
