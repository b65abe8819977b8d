// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/documents.hpp"
#include "app/window/command_line.hpp"
#include "app/window/habits.hpp"
#include "app/window/main_window.hpp"
#include "app/window/script.hpp"
#include "app/window/theme.hpp"
#include "views/charts/chart.hpp"

#include <QApplication>
#include <QDir>
#include <QFile>
#include <QTextStream>
#include <QTimer>

#include <cstdio>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace {

using namespace loadline;

constexpr int kUsage = 2; ///< exit code of contract: wrong usage or input
constexpr int kFault = 3;

int refuse(const QString& sentence)
{
    QTextStream(stderr) << QStringLiteral("loadline: ") << sentence << Qt::endl;
    return kUsage;
}

/// Qt ends the program where it finds no display; say it in a sentence, or draw without one where only pictures are asked for.
bool preparePlatform(const CommandLine& line)
{
    const bool display = !qEnvironmentVariableIsEmpty("DISPLAY") || !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY");
    if (display || !qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        return true;
    if (line.screenshotFolder.isEmpty() && line.script.isEmpty())
        return false;
    qputenv("QT_QPA_PLATFORM", "offscreen");
    return true;
}

QtMessageHandler usualMessages = nullptr;

/// The platform that draws without a display says this of every window that has a least size. It says nothing about the window, and whoever
/// asked for pictures can do nothing about it.
void dropSizeHints(QtMsgType type, const QMessageLogContext& context, const QString& message)
{
    if (message != QLatin1String("This plugin does not support propagateSizeHints()"))
        usualMessages(type, context, message);
}

/// Waits until the plan is on screen, writes the pictures, leaves.
void writeAndLeave(MainWindow* window, const QString& folder)
{
    auto* tick = new QTimer(window);
    QObject::connect(tick, &QTimer::timeout, window, [window, folder, tick] {
        if (!window->message().isEmpty()) {
            tick->stop();
            QCoreApplication::exit(refuse(window->message()));
            return;
        }
        if (!window->settled())
            return;
        tick->stop();
        const auto written = window->writePictures(folder);
        if (!written) {
            QCoreApplication::exit(refuse(QString::fromStdString(written.error().message)));
            return;
        }
        QTextStream out(stdout);
        for (const QString& file : *written)
            out << file << Qt::endl;
        QCoreApplication::exit(0);
    });
    tick->start(20);
}

int run(int& argc, char** argv, const CommandLine& line)
{
    if (line.scale > 0)
        qputenv("QT_SCALE_FACTOR", QByteArray::number(line.scale));
    QApplication app(argc, argv);
    if (QGuiApplication::platformName() == QLatin1String("offscreen"))
        usualMessages = qInstallMessageHandler(dropSizeHints);
    QApplication::setApplicationName(QStringLiteral("loadline"));
    QGuiApplication::setDesktopFileName(QStringLiteral("org.loadline.Loadline"));
    QApplication::setApplicationVersion(QStringLiteral(LOADLINE_VERSION));
    rememberSystemTheme();
    const bool pictures = !line.screenshotFolder.isEmpty() || !line.script.isEmpty();
    applyTheme(themeOf(line.theme), pictures);
    QString lines;
    if (!line.script.isEmpty()) {
        QFile file(line.script);
        if (!file.open(QIODevice::ReadOnly))
            return refuse(QCoreApplication::translate("loadline::CommandLine", "--script: '%1' cannot be read").arg(line.script));
        lines = QString::fromUtf8(file.read(1 << 20));
    }
    if (!line.screenshotFolder.isEmpty() && !QDir().mkpath(line.screenshotFolder))
        return refuse(
            QCoreApplication::translate("loadline::CommandLine", "--screenshot: folder '%1' cannot be made").arg(line.screenshotFolder));
    Chart::setReducedMotion(pictures || habits::reducedMotion());
    MainWindow window;
    window.resize(line.size);
    window.show();
    if (!pictures)
        window.coach();
    // Pictures and scripts leave a person's own store alone, unless they are told which to use.
    QString store = line.store.isEmpty() ? qEnvironmentVariable("LOADLINE_STORE") : line.store;
    if (store.isEmpty() && !pictures)
        store = dataFolder() + QStringLiteral("/loadline.db");
    if (!store.isEmpty())
        window.keepIn(store);
    line.files.isEmpty() ? window.openLast() : window.openFiles(line.files);
    if (!line.compare.isEmpty())
        window.compare(line.compare[0], line.compare[1]);
    ScriptRunner script(&window, lines.split(QLatin1Char('\n')));
    QObject::connect(&script, &ScriptRunner::failed, &window, [](const QString& sentence) { QCoreApplication::exit(refuse(sentence)); });
    QObject::connect(&script, &ScriptRunner::done, &window,
                     [&] { line.screenshotFolder.isEmpty() ? QCoreApplication::exit(0) : writeAndLeave(&window, line.screenshotFolder); });
    if (!line.script.isEmpty())
        script.start();
    else if (!line.screenshotFolder.isEmpty())
        writeAndLeave(&window, line.screenshotFolder);
    return QApplication::exec();
}

} // namespace

int main(int argc, char** argv)
{
    QStringList arguments;
    for (int i = 1; i < argc; ++i)
        arguments << QString::fromLocal8Bit(argv[i]);
    const auto line = parseCommandLine(arguments);
    if (!line)
        return refuse(QString::fromStdString(line.error().message));
    if (line->version || line->help) {
        QTextStream(stdout) << (line->version ? QStringLiteral("loadline " LOADLINE_VERSION "\n") : usageText());
        return 0;
    }
    if (!preparePlatform(*line))
        return refuse(QCoreApplication::translate(
            "loadline::CommandLine",
            "there is no display; write pictures with --screenshot DIR, or plan in the terminal with loadline-plan"));
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 1); // workers take turns; an arena for each would keep what it once needed
#endif
    try {
        return run(argc, argv, *line);
    } catch (const std::exception& fault) {
        std::fprintf(stderr, "loadline: fault: %s\n", fault.what());
        return kFault;
    }
}
