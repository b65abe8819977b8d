// SPDX-License-Identifier: GPL-3.0-or-later
// The window with a stand-in for loadline-device: what its pages do with what it says.
#include "app/window/machine_desk.hpp"
#include "app/window/main_window.hpp"
#include "app/window/pages.hpp"
#include "app/window/theme.hpp"
#include "views/charts/bar_rows.hpp"
#include "views/charts/line_chart.hpp"
#include "views/pages/links_page.hpp"
#include "views/pages/profile_page.hpp"
#include "views/pages/run_page.hpp"
#include "views/panels/work_row.hpp"

#include <gtest/gtest.h>

#include <QTest>

using namespace loadline;

namespace {

constexpr int kPatience = 300'000;

class PagesOf : public testing::Test {
protected:
    PagesOf()
    {
        qputenv("LOADLINE_DEVICE", LOADLINE_SOURCE_DIR "/tests/data/worker/fake-device");
        applyTheme(Theme::Light, true);
        m_window.resize(1280, 800);
        m_window.show();
        m_window.openFiles({QStringLiteral("gpt-tiny")});
    }
    ~PagesOf() override { qunsetenv("LOADLINE_DEVICE"); }
    bool settle()
    {
        return QTest::qWaitFor([this] { return m_window.settled(); }, kPatience);
    }
    bool rest()
    {
        return QTest::qWaitFor([this] { return m_window.machine().task() == MachineDesk::Task::None; }, kPatience);
    }
    MainWindow m_window;
};

} // namespace

TEST_F(PagesOf, TheWindowAreAllThere)
{
    ASSERT_TRUE(settle());
    for (const QString& page : m_window.pages().names()) {
        EXPECT_TRUE(m_window.pages().show(page));
        EXPECT_EQ(m_window.pages().current(), page);
        QTest::qWait(5);
    }
    EXPECT_FALSE(m_window.pages().show(QStringLiteral("nowhere")));
    EXPECT_FALSE(m_window.profilePage().bars()->rows().empty());
    EXPECT_TRUE(m_window.message().isEmpty()) << m_window.message().toStdString();
}

TEST_F(PagesOf, LinksAreMeasuredAndDrawn)
{
    ASSERT_TRUE(settle());
    m_window.machine().startLinks();
    ASSERT_TRUE(rest());
    EXPECT_EQ(m_window.linksPage().measured(), 7U)
        << m_window.linksPage().work()->sentence().toStdString() << m_window.message().toStdString();
    EXPECT_FALSE(m_window.linksPage().curves()->series().empty());
}

TEST_F(PagesOf, ARunOutOfMemoryIsAResult)
{
    ASSERT_TRUE(settle());
    m_window.machine().startRun();
    ASSERT_TRUE(rest());
    EXPECT_TRUE(m_window.runPage().work()->sentence().contains(QLatin1String("Out of memory")))
        << m_window.runPage().work()->sentence().toStdString();
    EXPECT_FALSE(m_window.runPage().verdict().isEmpty());
}
