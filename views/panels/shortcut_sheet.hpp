// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

#include <vector>

class QAction;
class QTreeWidget;

namespace loadline {

/// One group of keys: of a menu, or of a place that has keys without commands (the budget line, charts).
struct KeyGroup {
    QString title;
    std::vector<std::pair<QString, QString>> keys; ///< key, what it does
};

/// The keys of a menu's commands, in order.
KeyGroup keysOf(const QString& title, const std::vector<QAction*>& actions);

/// All keys on one sheet.
class ShortcutSheet : public QDialog {
    Q_OBJECT
public:
    explicit ShortcutSheet(const std::vector<KeyGroup>& groups, QWidget* parent = nullptr);

    [[nodiscard]] const QTreeWidget* tree() const { return m_tree; }

private:
    QTreeWidget* m_tree;
};

} // namespace loadline
