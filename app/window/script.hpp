// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QStringList>

class QTimer;

namespace loadline {

class MainWindow;

/// Drives the window by lines of an action and its argument ("budget 40GiB"), each after what the one before it asked for
/// is on screen. The language: docs/window.md.
class ScriptRunner : public QObject {
    Q_OBJECT
public:
    ScriptRunner(MainWindow* window, QStringList lines, QObject* parent = nullptr);
    void start();

signals:
    void done();
    void failed(const QString& sentence); ///< names the line

private:
    void step();
    /// Empty, or why the line cannot be done.
    QString perform(const QString& action, const QString& argument);
    QString performEdit(const QString& action, const QString& argument);

    MainWindow* m_window;
    QStringList m_lines;
    qsizetype m_next = 0;
    QTimer* m_tick;
};

} // namespace loadline
