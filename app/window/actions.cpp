// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/actions.hpp"

#include <QAction>
#include <QActionGroup>
#include <QMainWindow>
#include <QMenuBar>
#include <QToolBar>
#include <QToolButton>

namespace loadline {

Actions::Actions(QMainWindow* window) : QObject(window)
{
    open = make(tr("Open\u2026"), QStringLiteral("Ctrl+O"), tr("Open a model (config.json) or a cluster"));
    openSample = make(tr("Open the sample"), {}, tr("Open the bundled llama3-8b on 8 H100"));
    profile = make(tr("Profile"), QStringLiteral("Ctrl+Shift+P"), tr("Measure the operators on this machine"));
    verify = make(tr("Verify"), QStringLiteral("Ctrl+R"), tr("Train this plan here and compare with what was predicted"));
    compare =
        make(tr("Compare"), QStringLiteral("Ctrl+J"), tr("This plan beside the pinned one, or beside the one before the last change"));
    exportPlan = make(tr("Export\u2026"), QStringLiteral("Ctrl+E"), tr("The plan as PyTorch FSDP2 bundle, plan file, page or table"));
    savePicture = make(tr("Save a picture\u2026"), QStringLiteral("Ctrl+S"), tr("Write the window as PNG"));
    copyCommand = make(tr("Copy as command line"), QStringLiteral("Ctrl+Shift+C"), tr("The loadline-plan call that makes this plan"));
    quit = make(tr("Quit"), QStringLiteral("Ctrl+Q"), tr("Leave Loadline"));
    undo = make(tr("Undo"), QStringLiteral("Ctrl+Z"), tr("Undo the last change"));
    redo = make(tr("Redo"), QStringLiteral("Ctrl+Shift+Z"), tr("Redo"));
    back = make(tr("Back"), QStringLiteral("Alt+Left"), tr("What you looked at before; the plan stays"));
    forward = make(tr("Forward"), QStringLiteral("Alt+Right"), tr("What you looked at after that"));
    pin = make(tr("Pin"), QStringLiteral("Ctrl+P"), tr("Keep this plan as dotted outline and compare with it"));
    pin->setCheckable(true);
    wholeDevice = make(tr("Whole device in view"), QStringLiteral("Ctrl+D"), tr("Scale the memory axis to the device, not to the plan"));
    wholeDevice->setCheckable(true);
    findOperator = make(tr("Find an operator"), QStringLiteral("Ctrl+F"), tr("Filter the operators by name"));
    focusBudget = make(tr("Budget line"), QStringLiteral("Ctrl+B"), tr("Take the budget line with the keyboard"));
    themeSystem = make(tr("As the system"), {}, {});
    themeLight = make(tr("Light"), {}, {});
    themeDark = make(tr("Dark"), {}, {});
    auto* themes = new QActionGroup(this);
    for (QAction* theme : {themeSystem, themeLight, themeDark}) {
        theme->setCheckable(true);
        themes->addAction(theme);
    }
    themeSystem->setChecked(true);
    chartFit = make(tr("Fit the chart"), {}, tr("All of the chart that has the keyboard (F)"));
    chartCopy = make(tr("Copy the chart as picture"), {}, tr("The chart that has the keyboard, to the clipboard"));
    chartTable = make(tr("Chart as table"), QStringLiteral("Ctrl+T"), tr("The figures of the chart that has the keyboard, as rows"));
    chartPng = make(tr("Export the chart as PNG\u2026"), {}, tr("As it stands on the screen"));
    chartSvg = make(tr("Export the chart as SVG\u2026"), {}, tr("Vectors; text stays text"));
    chartPdf = make(tr("Export the chart as PDF\u2026"), {}, tr("Vectors; text stays text"));
    chartCsv = make(tr("Export the chart as CSV\u2026"), {}, tr("The figures as rows, with all their digits"));
    palette = make(tr("Run a command\u2026"), QStringLiteral("Ctrl+K"), tr("Every command, by some letters of its name"));
    open->setIconText(tr("Open"));
    exportPlan->setIconText(tr("Export"));
    palette->setIconText(tr("Command"));
    keys = make(tr("Keys"), QStringLiteral("?"), tr("All keys"));
    about = make(tr("About Loadline"), {}, {});
}

QAction* Actions::make(const QString& words, const QString& key, const QString& tip)
{
    auto* action = new QAction(words, this);
    if (!key.isEmpty())
        action->setShortcut(QKeySequence(key));
    action->setToolTip(key.isEmpty() ? tip : tip + QStringLiteral(" (%1)").arg(action->shortcut().toString(QKeySequence::NativeText)));
    return action;
}

void Actions::fillMenus(QMainWindow* window)
{
    QMenu* file = window->menuBar()->addMenu(tr("File"));
    file->addActions({open, openSample, exportPlan, savePicture});
    file->addSeparator();
    file->addAction(quit);
    QMenu* edit = window->menuBar()->addMenu(tr("Edit"));
    edit->addActions({undo, redo});
    stepsMenu = edit->addMenu(tr("Steps"));
    edit->addSeparator();
    edit->addAction(copyCommand);
    viewMenu = window->menuBar()->addMenu(tr("View"));
    viewMenu->addActions({back, forward});
    viewMenu->addSeparator();
    viewMenu->addActions({wholeDevice, findOperator});
    viewMenu->addMenu(tr("Theme"))->addActions({themeSystem, themeLight, themeDark});
    window->menuBar()->addMenu(tr("Plan"))->addActions({profile, verify, pin, compare, focusBudget});
    QMenu* chart = window->menuBar()->addMenu(tr("Chart"));
    chart->addActions({chartFit, chartCopy, chartTable});
    chart->addSeparator();
    chart->addActions({chartPng, chartSvg, chartPdf, chartCsv});
    window->menuBar()->addMenu(tr("Help"))->addActions({palette, keys, about});
}

void Actions::fillToolBar(QToolBar* bar) const
{
    bar->setToolButtonStyle(Qt::ToolButtonTextOnly);
    for (QAction* action : {open, profile, verify, pin, compare, exportPlan, palette})
        bar->addAction(action);
    bar->addSeparator();
    for (const auto& [action, sign] : {std::pair(undo, QStringLiteral("\u21b6")), std::pair(redo, QStringLiteral("\u21b7"))}) {
        auto* button = new QToolButton(bar);
        button->setObjectName(QStringLiteral("plain"));
        button->setText(sign);
        button->setAccessibleName(action->text());
        button->setEnabled(action->isEnabled());
        QObject::connect(button, &QToolButton::clicked, action, &QAction::trigger);
        // The sign stays when the action's text becomes the name of a step.
        QObject::connect(action, &QAction::changed, button, [button, action = action] {
            button->setEnabled(action->isEnabled());
            button->setToolTip(action->toolTip());
        });
        bar->addWidget(button);
    }
    bar->addSeparator();
}

} // namespace loadline
