// SPDX-License-Identifier: GPL-3.0-or-later
// What can be done with every chart: wheel, drag, fit, pinned values, and its menu by mouse, by key and from the menus.
#include "app/window/chart_desk.hpp"
#include "tests/app/window/open_window.hpp"
#include "views/charts/budget_handle.hpp"
#include "views/charts/decision_strip.hpp"
#include "views/charts/memory_chart.hpp"
#include "views/charts/plot.hpp"
#include "views/charts/time_chart.hpp"
#include "views/charts/trade_off_chart.hpp"
#include "views/pages/choice_page.hpp"
#include "views/pages/step_page.hpp"
#include "views/panels/table_twin.hpp"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QFile>
#include <QFileDialog>
#include <QMenu>
#include <QTableView>
#include <QTemporaryDir>
#include <QTimer>
#include <QWheelEvent>

using namespace loadline;

namespace {

class Charts : public OpenWindow {
protected:
    static void wheel(Chart& chart, QPoint at, int notches)
    {
        QWheelEvent event(at, chart.plot()->mapToGlobal(at), {}, QPoint(0, 120 * notches), {}, {}, Qt::NoScrollPhase, false);
        QApplication::sendEvent(chart.plot(), &event);
    }
    static QCPRange shown(const Chart& chart) { return chart.plot()->xAxis->range(); }
    /// Runs the menu that opens next: chooses the action with these words.
    static void chooseInMenu(const QString& words, bool& found)
    {
        QTimer::singleShot(0, qApp, [words, &found] {
            auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            ASSERT_NE(menu, nullptr);
            for (QAction* action : menu->actions()) {
                if (action->text().startsWith(words)) {
                    found = true;
                    menu->setActiveAction(action);
                    QTest::keyClick(menu, Qt::Key_Return);
                    return;
                }
            }
            menu->close();
        });
    }
    static QByteArray read(const QString& path)
    {
        QFile file(path);
        EXPECT_TRUE(file.open(QIODevice::ReadOnly)) << path.toStdString();
        return file.readAll();
    }
};

} // namespace

TEST_F(Charts, TheWheelZoomsAtThePointerADragMovesAndFShowsAll)
{
    open();
    TimeChart& chart = *m_window.stepPage().time();
    MemoryChart& memory = *m_window.stepPage().memory();
    for (Chart* each : {static_cast<Chart*>(&chart), static_cast<Chart*>(&memory), static_cast<Chart*>(m_window.choicePage().tradeOff())}) {
        SCOPED_TRACE(each->accessibleName().toStdString());
        const QCPRange whole = shown(*each);
        const QRect area = each->dataArea();
        const QPoint at(area.left() + area.width() / 4, area.center().y());
        const double under = each->plot()->xAxis->pixelToCoord(at.x());
        wheel(*each, at, 3);
        EXPECT_TRUE(each->zoomed());
        EXPECT_NEAR(shown(*each).size(), whole.size() * 0.512, whole.size() * 1e-9);
        EXPECT_NEAR(each->plot()->xAxis->pixelToCoord(at.x()), under, whole.size() * 1e-9);
        const QCPRange before = shown(*each);
        const QPoint press(area.center().x() - 60, area.top() + 12);
        QTest::mousePress(each->plot(), Qt::LeftButton, {}, press);
        QTest::mouseMove(each->plot(), press - QPoint(40, 0));
        QMouseEvent move(QEvent::MouseMove, press - QPoint(40, 0), each->plot()->mapToGlobal(press - QPoint(40, 0)), Qt::NoButton,
                         Qt::LeftButton, {});
        QApplication::sendEvent(each->plot(), &move);
        QTest::mouseRelease(each->plot(), Qt::LeftButton, {}, press - QPoint(40, 0));
        EXPECT_NEAR(shown(*each).lower - before.lower, before.size() * 40 / std::max(area.width(), 1), before.size() * 0.01);
        EXPECT_NEAR(shown(*each).size(), before.size(), whole.size() * 1e-9);
        EXPECT_TRUE(each->pinnedWords().isEmpty()) << "a drag pins nothing";
        QTest::keyClick(each, Qt::Key_F);
        EXPECT_EQ(shown(*each), whole);
        EXPECT_FALSE(each->zoomed());
        wheel(*each, at, -3); // never more than all
        EXPECT_EQ(shown(*each), whole);
    }
    // The strip above shows the same operators as the zoomed chart.
    chart.zoomAt(chart.dataArea().left(), 0.25);
    QString hovered;
    QObject::connect(m_window.stepPage().strip(), &DecisionStrip::hovered, &m_window, [&](const QString& words) { hovered = words; });
    QTest::mouseMove(m_window.stepPage().strip(), QPoint(m_window.stepPage().strip()->width() - kChartRight - 3, 10));
    const auto last = static_cast<std::size_t>(std::ceil(shown(chart).upper)) - 1;
    const Plan& plan = *m_window.session().committed()->outcome->plan;
    EXPECT_TRUE(hovered.startsWith(QString::fromStdString(plan.table.units[last].name))) << hovered.toStdString();
}

TEST_F(Charts, AZoomStaysOverNewPlansAndCostsTheLineNothing)
{
    open();
    TimeChart& chart = *m_window.stepPage().time();
    chart.zoomAt(chart.dataArea().center().x(), 0.5);
    const QCPRange before = shown(chart);
    m_window.session().setGranularity(2);
    ASSERT_TRUE(settle());
    EXPECT_EQ(shown(chart), before);
}

TEST_F(Charts, AClickPinsTheValueUntilTheNextOne)
{
    open();
    TimeChart& chart = *m_window.stepPage().time();
    const QPoint at(chart.dataArea().center());
    QTest::mouseClick(chart.plot(), Qt::LeftButton, {}, at);
    const auto unit = static_cast<std::size_t>(chart.plot()->xAxis->pixelToCoord(at.x()));
    const Plan& plan = *m_window.session().committed()->outcome->plan;
    EXPECT_TRUE(chart.pinnedWords().startsWith(QString::fromStdString(plan.table.units[unit].name))) << chart.pinnedWords().toStdString();
    QTest::keyClick(&chart, Qt::Key_Escape);
    EXPECT_TRUE(chart.pinnedWords().isEmpty());
}

TEST_F(Charts, EveryChartHasTheMenuAndWritesEveryForm)
{
    open();
    ChartDesk& desk = m_window.charts();
    EXPECT_GE(desk.charts().size(), 10U);
    QTemporaryDir folder;
    for (QWidget* chart : desk.charts()) {
        SCOPED_TRACE(chart->metaObject()->className());
        QStringList words;
        const auto menu = desk.menuOf(chart);
        for (const QAction* action : menu->actions())
            words << action->text();
        EXPECT_GE(words.filter(QStringLiteral("Export as")).size(), 4);
        EXPECT_TRUE(words.contains(QStringLiteral("Copy as picture")));
        EXPECT_TRUE(words.contains(QStringLiteral("Show as table")));
        EXPECT_NE(chart->focusPolicy(), Qt::NoFocus);
        EXPECT_FALSE(chart->accessibleName().isEmpty());
        if (chart->size().isEmpty()) // of a page that was never seen
            continue;
        EXPECT_TRUE(ChartDesk::bytesOf(chart, ChartDesk::Form::Png).startsWith("\x89PNG"));
        EXPECT_TRUE(ChartDesk::bytesOf(chart, ChartDesk::Form::Pdf).startsWith("%PDF"));
        EXPECT_TRUE(ChartDesk::bytesOf(chart, ChartDesk::Form::Csv).contains("\r\n"));
    }
    const QByteArray svg = ChartDesk::bytesOf(m_window.stepPage().memory(), ChartDesk::Form::Svg);
    EXPECT_TRUE(svg.contains("<text")) << "text stays text";
    EXPECT_TRUE(svg.contains("peak"));
    const auto refused = ChartDesk::write(m_window.stepPage().time(), ChartDesk::Form::Csv, QStringLiteral("/proc/no/such.csv"));
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find("/proc/no/such.csv"), std::string::npos);
}

TEST_F(Charts, RightClickAndMenuKeyOpenIt)
{
    open();
    TimeChart& chart = *m_window.stepPage().time();
    QApplication::clipboard()->clear();
    bool found = false;
    chooseInMenu(QStringLiteral("Copy as picture"), found);
    QContextMenuEvent byMouse(QContextMenuEvent::Mouse, chart.dataArea().center(), chart.plot()->mapToGlobal(chart.dataArea().center()));
    QApplication::sendEvent(chart.plot(), &byMouse);
    EXPECT_TRUE(found);
    EXPECT_EQ(QApplication::clipboard()->image().size(), chart.size());
    found = false;
    chooseInMenu(QStringLiteral("Show as table"), found);
    QContextMenuEvent byKey(QContextMenuEvent::Keyboard, QPoint(), QPoint());
    QApplication::sendEvent(m_window.stepPage().memory()->handle(), &byKey); // the line lies on the chart
    EXPECT_TRUE(found);
    auto* twin = m_window.findChild<TableTwin*>();
    ASSERT_NE(twin, nullptr);
    const ChartTable table = m_window.stepPage().memory()->table();
    EXPECT_EQ(twin->view()->model()->rowCount(), static_cast<int>(table.rows.size()));
    EXPECT_EQ(twin->view()->model()->index(0, 1).data().toString(), table.rows[0][1]);
    QString copied;
    QObject::connect(twin, &TableTwin::copied, &m_window, [&](const QString& text) { copied = text; });
    QTest::keyClick(twin, Qt::Key_C, Qt::ControlModifier);
    EXPECT_TRUE(copied.startsWith(table.columns.join(QLatin1Char('\t')) + QLatin1Char('\n') + table.rows[0].join(QLatin1Char('\t'))));
    twin->close();
}

TEST_F(Charts, ExportAsksForAFileAndWritesWhatTheChartShows)
{
    open();
    QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("times"));
    m_window.stepPage().time()->setFocus(Qt::TabFocusReason);
    QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    QTimer::singleShot(0, qApp, [file] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        ASSERT_NE(dialog, nullptr);
        dialog->selectFile(file);
        QMetaObject::invokeMethod(dialog, "accept");
    });
    m_window.actions().chartCsv->trigger();
    EXPECT_EQ(read(file + QStringLiteral(".csv")), csvOf(m_window.stepPage().time()->table()));
}
