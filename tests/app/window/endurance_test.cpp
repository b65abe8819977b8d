// SPDX-License-Identifier: GPL-3.0-or-later
// What does not show in one use: an idle window that never wakes, and memory that does not grow with use.
#include "app/window/main_window.hpp"
#include "app/window/theme.hpp"
#include "views/charts/budget_handle.hpp"
#include "views/charts/memory_chart.hpp"
#include "views/pages/step_page.hpp"

#include <gtest/gtest.h>

#include <QTest>

#include <algorithm>

#ifdef __GLIBC__
#include <malloc.h>
#endif

using namespace loadline;

namespace {

constexpr int kPatience = 300'000;

class TimerCount : public QObject {
public:
    TimerCount() { qApp->installEventFilter(this); }
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        count += event->type() == QEvent::Timer ? 1 : 0;
        return QObject::eventFilter(watched, event);
    }
    int count = 0;
};

class Endurance : public testing::Test {
protected:
    void SetUp() override
    {
        applyTheme(Theme::Light, true);
        m_window.resize(1280, 800);
        m_window.show();
        m_window.openFiles({QStringLiteral("gpt-tiny")});
        ASSERT_TRUE(rest());
    }
    bool rest()
    {
        Session& session = m_window.session();
        return QTest::qWaitFor([&] { return m_window.settled() && session.known().complete(session.inputs()); }, kPatience);
    }
    void drag(int round)
    {
        BudgetHandle& line = *m_window.stepPage().memory()->handle();
        const QRect area = m_window.stepPage().memory()->dataArea();
        QTest::mousePress(&line, Qt::LeftButton, {}, line.mapFromParent(line.grip()));
        for (int move = 0; move < 3; ++move) {
            const QPoint to(line.grip().x(), area.top() + 3 + (round * 37 + move * 11) % (area.height() - 6));
            QTest::mouseMove(&line, line.mapFromGlobal(line.parentWidget()->mapToGlobal(to)));
        }
        QTest::mouseRelease(&line, Qt::LeftButton, {}, line.rect().center());
        QCoreApplication::processEvents();
    }
    MainWindow m_window;
};

} // namespace

TEST_F(Endurance, AnIdleWindowNeverWakes)
{
    QTest::qWait(300); // the last replot
    const TimerCount timers;
    QTest::qWait(1500);
    EXPECT_EQ(timers.count, 0);
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
TEST_F(Endurance, FiveHundredDragsAndFiftyOpensKeepTheirMemory)
{
    const auto opens = [&](int count) {
        for (int i = 0; i < count; ++i) {
            m_window.session().open(i % 2 == 0 ? QStringLiteral("gpt2-small") : QStringLiteral("gpt-tiny"));
            ASSERT_TRUE(QTest::qWaitFor([&] { return m_window.settled(); }, kPatience));
        }
    };
    const auto drags = [&](int count) {
        for (int i = 0; i < count; ++i)
            drag(i);
    };
    drags(500); // what is made once is made now, and the undo steps are as many as are kept
    opens(4);
    ASSERT_TRUE(rest());
    const std::size_t before = mallinfo2().uordblks;
    drags(500);
    opens(50);
    ASSERT_TRUE(rest());
    const auto megabytes = [&] { return (static_cast<double>(mallinfo2().uordblks) - static_cast<double>(before)) / (1 << 20); };
    double grown = megabytes();
    for (int again = 0; again < 8 && grown >= 2; ++again) { // what a worker is about to give back is not growth
        opens(2);
        ASSERT_TRUE(rest());
        grown = std::min(grown, megabytes());
    }
    RecordProperty("megabytes_grown", std::to_string(grown));
    EXPECT_LT(grown, 5.0); // 0.5 to 2.3 measured: arenas of several workers do not come to rest at the same size
}
#endif
