// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/pages.hpp"

#include <QAction>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QStackedWidget>
#include <QTabBar>

namespace loadline {

Pages::Pages(QMainWindow* window, QMenu* menu)
    : QObject(window), m_stack(new QStackedWidget(window)), m_tabs(new QTabBar(window->menuBar())), m_menu(menu)
{
    m_tabs->setObjectName(QStringLiteral("pages"));
    m_tabs->setAccessibleName(tr("Pages"));
    m_tabs->setDrawBase(false);
    m_tabs->setExpanding(false);
    m_tabs->setUsesScrollButtons(false);
    window->menuBar()->setCornerWidget(m_tabs, Qt::TopRightCorner);
    m_menu->addSeparator();
    connect(m_tabs, &QTabBar::currentChanged, this, [this](int index) {
        m_stack->setCurrentIndex(index);
        emit shown(current());
    });
}

void Pages::add(QWidget* page, const QString& title, const QString& name)
{
    m_names << name;
    const auto index = static_cast<int>(m_names.size()) - 1;
    m_stack->addWidget(page);
    m_tabs->addTab(title);
    m_tabs->setVisible(index > 0);
    auto* action = m_menu->addAction(title);
    action->setShortcut(QKeySequence(QStringLiteral("Ctrl+%1").arg(index + 1)));
    action->setToolTip(tr("Show the page '%1'").arg(title));
    connect(action, &QAction::triggered, m_tabs, [this, index] { m_tabs->setCurrentIndex(index); });
}

bool Pages::show(const QString& name)
{
    const auto index = m_names.indexOf(name);
    if (index < 0)
        return false;
    m_tabs->setCurrentIndex(static_cast<int>(index));
    return true;
}

QString Pages::current() const
{
    const int index = m_tabs->currentIndex();
    return index < 0 ? QString() : m_names[index];
}

} // namespace loadline
