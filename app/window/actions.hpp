// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QAction;
class QMainWindow;
class QMenu;
class QToolBar;

namespace loadline {

/// Every verb of the window in one place: menus, toolbar and scripts are fed from here.
class Actions : public QObject {
    Q_OBJECT
public:
    explicit Actions(QMainWindow* window);

    QAction* open;
    QAction* openSample;
    QAction* profile;
    QAction* verify;
    QAction* compare;
    QAction* exportPlan;
    QAction* savePicture;
    QAction* copyCommand;
    QAction* quit;
    QAction* undo;
    QAction* redo;
    QAction* back;
    QAction* forward;
    QAction* pin;
    QAction* wholeDevice;
    QAction* findOperator;
    QAction* focusBudget;
    QAction* themeSystem;
    QAction* themeLight;
    QAction* themeDark;
    QAction* chartFit;
    QAction* chartCopy;
    QAction* chartTable;
    QAction* chartPng;
    QAction* chartSvg;
    QAction* chartPdf;
    QAction* chartCsv;
    QAction* palette;
    QAction* keys;
    QAction* about;
    QMenu* viewMenu = nullptr;  ///< once fillMenus has run
    QMenu* stepsMenu = nullptr; ///< of the undo history; filled by the window

    void fillMenus(QMainWindow* window);
    void fillToolBar(QToolBar* bar) const;

private:
    QAction* make(const QString& words, const QString& key, const QString& tip);
};

} // namespace loadline
