// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/shortcut_sheet.hpp"

#include "views/palette.hpp"
#include "views/panels/command_palette.hpp"

#include <QAction>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace loadline {

KeyGroup keysOf(const QString& title, const std::vector<QAction*>& actions)
{
    KeyGroup group{title, {}};
    for (const QAction* action : actions) {
        if (!action->shortcut().isEmpty())
            group.keys.emplace_back(action->shortcut().toString(QKeySequence::NativeText), plainWords(*action));
    }
    return group;
}

ShortcutSheet::ShortcutSheet(const std::vector<KeyGroup>& groups, QWidget* parent) : QDialog(parent), m_tree(new QTreeWidget(this))
{
    setWindowTitle(tr("Keys"));
    resize(460, 560);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(m_tree);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    layout->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    m_tree->setColumnCount(2);
    m_tree->setHeaderLabels({tr("What"), tr("Key")});
    m_tree->setRootIsDecorated(false);
    m_tree->setFrameShape(QFrame::NoFrame);
    m_tree->setUniformRowHeights(true);
    m_tree->setAccessibleName(tr("All keys"));
    for (const KeyGroup& group : groups) {
        if (group.keys.empty())
            continue;
        auto* parentItem = new QTreeWidgetItem(m_tree, {group.title});
        parentItem->setFont(0, fontOf(12, true));
        for (const auto& [key, what] : group.keys)
            new QTreeWidgetItem(parentItem, {what, key});
    }
    m_tree->expandAll();
    m_tree->header()->setStretchLastSection(false);
    m_tree->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_tree->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
}

} // namespace loadline
