// SPDX-License-Identifier: GPL-3.0-or-later
// main() of every test program with widgets: offscreen, a fixed font. Any warning of Qt fails the test that caused it, and so does an event
// that holds the event loop for longer than a hand would forgive.
#include "tests/views/heartbeat.hpp"

#include <gtest/gtest.h>

#include <QApplication>
#include <QFontDatabase>
#include <QStandardPaths>
#include <QTemporaryDir>

#include <cstring>

namespace {

void failOnWarning(QtMsgType type, const QMessageLogContext&, const QString& message)
{
    // The offscreen platform says this of every window; it is about the platform, not about us.
    if (type == QtDebugMsg || type == QtInfoMsg || message.contains(QLatin1String("propagateSizeHints")) ||
        message.startsWith(QLatin1String("This plugin does not support")))
        return;
    ADD_FAILURE() << "Qt says: " << message.toStdString();
}

} // namespace

int main(int argc, char** argv)
{
    bool list = false;
    for (int i = 1; i < argc; ++i)
        list = list || std::strcmp(argv[i], "--gtest_list_tests") == 0;
    testing::InitGoogleTest(&argc, argv);
    if (list)
        return RUN_ALL_TESTS();
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    QTemporaryDir runtime; // Qt wants one of its own, closed to others
    if (qEnvironmentVariableIsEmpty("XDG_RUNTIME_DIR"))
        qputenv("XDG_RUNTIME_DIR", runtime.path().toLocal8Bit());
    QStandardPaths::setTestModeEnabled(true);
    loadline::test::WatchedApplication app(argc, argv);
    loadline::test::HeartbeatReport report(app);
    testing::UnitTest::GetInstance()->listeners().Append(&report);
    if (QFontDatabase::families().contains(QLatin1String("DejaVu Sans")))
        QApplication::setFont(QFont(QLatin1String("DejaVu Sans"), 9));
    qInstallMessageHandler(failOnWarning);
    const int result = RUN_ALL_TESTS();
    testing::UnitTest::GetInstance()->listeners().Release(&report);
    return result != 0 || report.smooth() ? result : 1;
}
