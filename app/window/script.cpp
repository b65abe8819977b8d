// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/script.hpp"

#include "app/window/actions.hpp"
#include "app/window/command_line.hpp"
#include "app/window/main_window.hpp"
#include "app/window/pages.hpp"
#include "views/format/text.hpp"

#include <QAction>
#include <QTimer>

#include <algorithm>

namespace loadline {
namespace {

constexpr int kTick = 20; ///< milliseconds between looks at whether the window has settled

} // namespace

ScriptRunner::ScriptRunner(MainWindow* window, QStringList lines, QObject* parent)
    : QObject(parent), m_window(window), m_lines(std::move(lines)), m_tick(new QTimer(this))
{
    m_tick->setInterval(kTick);
    connect(m_tick, &QTimer::timeout, this, &ScriptRunner::step);
}

void ScriptRunner::start()
{
    m_tick->start();
}

void ScriptRunner::step()
{
    if (!m_window->message().isEmpty()) { // the line before this one was refused
        m_tick->stop();
        emit failed(tr("script line %1: %2").arg(m_next).arg(m_window->message()));
        return;
    }
    if (!m_window->settled())
        return;
    while (m_next < m_lines.size()) {
        const QString line = m_lines[m_next++].section(QLatin1Char('#'), 0, 0).trimmed();
        if (line.isEmpty())
            continue;
        const QString problem = perform(line.section(QLatin1Char(' '), 0, 0), line.section(QLatin1Char(' '), 1).trimmed());
        if (!problem.isEmpty()) {
            m_tick->stop();
            emit failed(tr("script line %1: %2").arg(m_next).arg(problem));
        }
        return; // look again before the next line
    }
    m_tick->stop();
    emit done();
}

QString ScriptRunner::perform(const QString& action, const QString& argument)
{
    if (action == QLatin1String("screenshot")) {
        m_window->savePicture(argument);
        return {};
    }
    if (action == QLatin1String("theme")) {
        m_window->setTheme(argument);
        return {};
    }
    if (action == QLatin1String("size")) {
        const QSize size = parseSize(argument);
        if (!size.isValid())
            return tr("'%1' is not a size; give width x height, like 1440x900").arg(argument);
        m_window->resize(size);
        return {};
    }
    if (action == QLatin1String("page"))
        return m_window->pages().show(argument)
                   ? QString()
                   : tr("there is no page '%1'; give one of %2").arg(argument, m_window->pages().names().join(QStringLiteral(", ")));
    Actions& actions = m_window->actions();
    const std::pair<const char*, QAction*> plain[] = {
        {"undo", actions.undo}, {"redo", actions.redo}, {"pin", actions.pin}, {"whole-device", actions.wholeDevice}};
    for (const auto& [name, target] : plain) {
        if (action == QLatin1String(name)) {
            target->trigger();
            return {};
        }
    }
    return performEdit(action, argument);
}

QString ScriptRunner::performEdit(const QString& action, const QString& argument)
{
    Session& session = m_window->session();
    if (action == QLatin1String("open")) {
        session.open(argument);
    } else if (action == QLatin1String("cluster")) {
        session.setCluster(argument);
    } else if (action == QLatin1String("batch")) {
        session.setBatch(argument);
    } else if (action == QLatin1String("precision")) {
        session.setPrecision(argument);
    } else if (action == QLatin1String("sequence")) {
        session.setSequence(argument.toLongLong());
    } else if (action == QLatin1String("granularity")) {
        if (std::find(std::begin(kGranularities), std::end(kGranularities), argument.toInt()) == std::end(kGranularities))
            return tr("granularity is '%1'; give 1, 2, 4, 8 or 16").arg(argument);
        session.setGranularity(argument.toInt());
    } else if (action == QLatin1String("budget")) {
        const PlanAnswerPtr answer = session.committed();
        const auto budget = readBudget(argument, answer ? answer->device : Bytes());
        if (!budget)
            return text(budget.error().message);
        session.commitBudget(*budget);
    } else {
        return tr("'%1' is not an action; see docs/window.md").arg(action);
    }
    return {};
}

} // namespace loadline
