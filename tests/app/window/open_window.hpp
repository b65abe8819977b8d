// SPDX-License-Identifier: GPL-3.0-or-later
// The real window, offscreen, with a small model: for tests that drive it as a person would.
#pragma once

#include "app/window/actions.hpp"
#include "app/window/main_window.hpp"
#include "app/window/theme.hpp"

#include <gtest/gtest.h>

#include <QAction>
#include <QTest>

namespace loadline {

class OpenWindow : public testing::Test {
protected:
    static constexpr int kPatience = 300'000; ///< milliseconds until a test gives up waiting

    void open(const QString& model = QStringLiteral("gpt-tiny"))
    {
        applyTheme(Theme::Light, true);
        m_window.resize(1440, 900);
        m_window.show();
        ASSERT_TRUE(QTest::qWaitForWindowExposed(&m_window));
        m_window.openFiles({model});
        ASSERT_TRUE(settle());
    }
    bool settle()
    {
        return QTest::qWaitFor([this] { return m_window.settled(); }, kPatience);
    }

    MainWindow m_window;
};

} // namespace loadline
