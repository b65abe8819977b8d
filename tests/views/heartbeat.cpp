// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/views/heartbeat.hpp"

#include <QAbstractEventDispatcher>
#include <QEvent>
#include <QMetaEnum>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <utility>

namespace loadline::test {
namespace {

// Instrumented and unoptimised code is several times slower; there the test still finds what blocks without end.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
constexpr double kSlow = 12;
#else
constexpr double kSlow = 2; // the same work takes up to twice the CPU time when the machine is busy
#endif

double threadMilliseconds()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

} // namespace

WatchedApplication::WatchedApplication(int& argc, char** argv) : QApplication(argc, argv)
{
    // A loop that is about to wait is not blocked, however deep it runs in somebody's handler.
    connect(QAbstractEventDispatcher::instance(), &QAbstractEventDispatcher::aboutToBlock, this, [this] {
        if (m_depth > 0)
            beat();
    });
}

void WatchedApplication::beat()
{
    m_since = threadMilliseconds();
}

void WatchedApplication::measure(const char* what, const QEvent* event)
{
    const double took = threadMilliseconds() - m_since;
    m_beats.push_back(static_cast<float>(took));
    if (took <= m_worst.milliseconds)
        return;
    const char* type = QMetaEnum::fromType<QEvent::Type>().valueToKey(event->type());
    m_worst = {took, std::string(type != nullptr ? type : "event") + " to " + what};
}

bool WatchedApplication::notify(QObject* receiver, QEvent* event)
{
    if (m_depth > 0)
        return QApplication::notify(receiver, event);
    // The receiver and the event may be gone afterwards.
    const std::string what = std::string(receiver->metaObject()->className()) + " '" + receiver->objectName().toStdString() + "'";
    const QEvent copy(event->type());
    beat();
    ++m_depth;
    const bool done = QApplication::notify(receiver, event);
    --m_depth;
    measure(what.c_str(), &copy);
    return done;
}

WatchedApplication::Worst WatchedApplication::takeWorst()
{
    return std::exchange(m_worst, {});
}

void HeartbeatReport::OnTestStart(const ::testing::TestInfo&)
{
    m_app.takeWorst();
}

void HeartbeatReport::OnTestEnd(const ::testing::TestInfo& test)
{
    const auto worst = m_app.takeWorst();
    if (qEnvironmentVariableIsSet("LOADLINE_HEARTBEAT"))
        std::printf("heartbeat %6.1f ms %s.%s: %s\n", worst.milliseconds, test.test_suite_name(), test.name(), worst.event.c_str());
    if (worst.milliseconds > kLongest * kSlow)
        ADD_FAILURE() << test.name() << ": " << worst.event << " held the event loop for " << worst.milliseconds << " ms of CPU time";
}

bool HeartbeatReport::smooth() const
{
    std::vector<float> beats = m_app.beats();
    if (beats.size() < 1000) // a test alone: its worst says more
        return true;
    const auto place = beats.begin() + static_cast<std::ptrdiff_t>(static_cast<double>(beats.size()) * 0.999);
    std::nth_element(beats.begin(), place, beats.end());
    std::printf("heartbeat: %zu events, 99.9 %% within %.1f ms of CPU time\n", beats.size(), double{*place});
    return double{*place} < kFrame * kSlow;
}

} // namespace loadline::test
