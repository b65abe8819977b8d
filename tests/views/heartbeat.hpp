// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <gtest/gtest.h>

#include <QApplication>

#include <string>
#include <vector>

namespace loadline::test {

/// An application that measures how long each event holds the event loop, in CPU time of the GUI thread: other programs on the machine then
/// change nothing. What a nested loop (a dialog) waits for is not counted, what its handlers do is.
class WatchedApplication : public QApplication {
public:
    WatchedApplication(int& argc, char** argv);

    bool notify(QObject* receiver, QEvent* event) override;

    struct Worst {
        double milliseconds = 0;
        std::string event;
    };
    /// Longest since the last call.
    Worst takeWorst();
    /// Every event so far, in milliseconds.
    [[nodiscard]] const std::vector<float>& beats() const { return m_beats; }

private:
    void beat();
    void measure(const char* what, const QEvent* event);

    int m_depth = 0;
    double m_since = 0; ///< CPU time at the last beat
    Worst m_worst;
    std::vector<float> m_beats;
};

/// Fails each test in which one event took longer than `kLongest`, and the run if 1 of 1000 took longer than a frame, both doubled for busy
/// machines. LOADLINE_HEARTBEAT prints the longest event of each test.
class HeartbeatReport : public ::testing::EmptyTestEventListener {
public:
    static constexpr double kLongest = 50; ///< ms
    static constexpr double kFrame = 16;   ///< ms

    explicit HeartbeatReport(WatchedApplication& app) : m_app(app) {}

    void OnTestStart(const ::testing::TestInfo& test) override;
    void OnTestEnd(const ::testing::TestInfo& test) override;
    /// Of the whole run; false and a sentence on stdout if not smooth.
    [[nodiscard]] bool smooth() const;

private:
    WatchedApplication& m_app;
};

} // namespace loadline::test
