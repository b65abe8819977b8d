// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QAction;
class QMainWindow;
class QMenu;
class QStackedWidget;
class QTabBar;

namespace loadline {

/// The pages of the window and the switch between them, which stands in the row of the menus so that it costs no height.
class Pages : public QObject {
    Q_OBJECT
public:
    /// `menu` gets one action a page, with Ctrl+1, Ctrl+2, ...
    Pages(QMainWindow* window, QMenu* menu);

    /// `name`: what scripts and picture files call it.
    void add(QWidget* page, const QString& title, const QString& name);
    /// False: there is no such page.
    bool show(const QString& name);

    [[nodiscard]] QStackedWidget* stack() const { return m_stack; }
    [[nodiscard]] QTabBar* tabs() const { return m_tabs; }
    [[nodiscard]] QStringList names() const { return m_names; }
    [[nodiscard]] QString current() const;

signals:
    void shown(const QString& name);

private:
    QStackedWidget* m_stack;
    QTabBar* m_tabs;
    QMenu* m_menu;
    QStringList m_names;
};

} // namespace loadline
