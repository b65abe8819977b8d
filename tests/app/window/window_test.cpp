// SPDX-License-Identifier: GPL-3.0-or-later
// Drives the real window offscreen and compares what it shows with the same request asked of the core.
#include "app/window/actions.hpp"
#include "app/window/habits.hpp"
#include "app/window/main_window.hpp"
#include "app/window/script.hpp"
#include "app/window/theme.hpp"
#include "core/base/text.hpp"
#include "views/charts/budget_handle.hpp"
#include "views/charts/memory_chart.hpp"
#include "views/charts/stream_chart.hpp"
#include "views/charts/time_chart.hpp"
#include "views/charts/trade_off_chart.hpp"
#include "views/format/text.hpp"
#include "views/models/operator_tree_model.hpp"
#include "views/pages/choice_page.hpp"
#include "views/pages/detail_tabs.hpp"
#include "views/pages/step_page.hpp"
#include "views/panels/command_palette.hpp"
#include "views/panels/fact_strip.hpp"
#include "views/panels/operator_details.hpp"
#include "views/panels/operator_panel.hpp"
#include "views/panels/stop_slider.hpp"

#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAction>
#include <QFile>
#include <QImage>
#include <QLineEdit>
#include <QProcess>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <ctime>
#include <thread>

using namespace loadline;

namespace {

constexpr int kPatience = 300'000; ///< milliseconds until a test gives up waiting

class Window : public testing::Test {
protected:
    void open(const QString& model)
    {
        applyTheme(Theme::Light, true);
        m_window.resize(1440, 900);
        m_window.show();
        ASSERT_TRUE(QTest::qWaitForWindowExposed(&m_window));
        m_window.openFiles({model});
        ASSERT_TRUE(QTest::qWaitFor([this] { return m_window.settled(); }, kPatience));
    }
    bool settle()
    {
        return QTest::qWaitFor([this] { return m_window.settled(); }, kPatience);
    }
    BudgetHandle& line() { return *m_window.stepPage().memory()->handle(); }

    /// Presses the line, moves it to a height of the chart, lets go.
    void dragTo(int y, bool release = true)
    {
        const QPoint grip = line().mapFromParent(line().grip());
        QTest::mousePress(&line(), Qt::LeftButton, {}, grip);
        moveTo(y);
        if (release)
            QTest::mouseRelease(&line(), Qt::LeftButton, {}, line().rect().center());
    }
    void moveTo(int y)
    {
        const QPoint to = line().mapFromGlobal(line().parentWidget()->mapToGlobal(QPoint(line().grip().x(), y)));
        QTest::mouseMove(&line(), to);
    }

    /// Every number on show against the same question asked of the core.
    void expectSameAsCore()
    {
        const PlanAnswerPtr shown = m_window.session().committed();
        ASSERT_TRUE(shown);
        RequestOptions options = m_window.session().inputs().options;
        options.budget = std::to_string(line().budget().count());
        const auto request = resolveRequest(options);
        ASSERT_TRUE(request.ok());
        const auto expected = makePlan(request->request);
        ASSERT_TRUE(expected.ok());
        ASSERT_EQ(expected->plan.has_value(), shown->outcome->plan.has_value());
        const FactStrip& facts = m_window.facts();
        if (!expected->plan) {
            EXPECT_EQ(facts.proof(), FactStrip::Proof::Infeasible);
            EXPECT_EQ(line().tagText().toStdString(), "needs " + formatBytes(expected->infeasible->leastBudget) + " at least");
            EXPECT_TRUE(m_window.choicePage().explanation().contains(text(formatBytes(expected->infeasible->leastBudget))));
            return;
        }
        const Plan& plan = *expected->plan;
        EXPECT_EQ(facts.figure(FactStrip::StepTime).value.toStdString(), formatSeconds(plan.objective));
        EXPECT_EQ(facts.figure(FactStrip::StepTime).note.toStdString(), "overlapped " + formatSeconds(plan.time.overlapped));
        EXPECT_EQ(facts.figure(FactStrip::Peak).value.toStdString(), formatBytes(plan.peak));
        EXPECT_EQ(facts.figure(FactStrip::Throughput).value.toStdString(), formatCount(plan.tokensPerSecond()) + " tok/s");
        EXPECT_EQ(facts.figure(FactStrip::Exposed).value.toStdString(), formatSeconds(plan.time.exposed));
        EXPECT_EQ(facts.figure(FactStrip::ShadowPrice).value.toStdString(),
                  expected->secondsPerGib > 0 ? formatSeconds(Seconds(expected->secondsPerGib)) : "nothing");
        EXPECT_EQ(facts.proof() == FactStrip::Proof::Optimal, expected->status == SearchStatus::Optimal);
        EXPECT_EQ(m_window.stepPage().memory()->maximum().count(), plan.peak.count());
        EXPECT_LE(plan.peak, line().budget());
        const OperatorTreeModel& tree = *m_window.operators().model();
        ASSERT_EQ(tree.units(), plan.table.units.size());
        for (std::size_t unit = 0; unit < tree.units(); ++unit) {
            const QModelIndex index = tree.indexOfUnit(unit);
            const OptionCost& cost = plan.cost(unit);
            EXPECT_EQ(tree.data(index.siblingAtColumn(OperatorTreeModel::Memory), OperatorTreeModel::SortRole).toLongLong(),
                      (cost.states() + cost.saved).count());
            EXPECT_EQ(tree.data(index.siblingAtColumn(OperatorTreeModel::Time), OperatorTreeModel::SortRole).toDouble(),
                      cost.serial().value());
        }
        EXPECT_EQ(shown->outcome->plan->choice, plan.choice);
    }

    MainWindow m_window;
};

double threadMilliseconds()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

class WholeRange : public Window, public testing::WithParamInterface<const char*> {};

} // namespace

TEST_P(WholeRange, OfTheLineShowsWhatTheCoreAnswers)
{
    open(QString::fromLatin1(GetParam()));
    const QRect area = m_window.stepPage().memory()->dataArea();
    constexpr int kStops = 7;
    for (int stop = 0; stop <= kStops; ++stop) {
        SCOPED_TRACE(stop);
        dragTo(area.top() + 2 + (area.height() - 6) * stop / kStops);
        ASSERT_TRUE(settle());
        expectSameAsCore();
    }
}
INSTANTIATE_TEST_SUITE_P(Models, WholeRange, testing::Values("gpt2-small", "bert-large", "llama3-8b"));

TEST_F(Window, MovingTheLineReplotsNothingAndMovesInTheSameEvent)
{
    open(QStringLiteral("llama3-8b"));
    StepPage& page = m_window.stepPage();
    const QRect area = page.memory()->dataArea();
    dragTo(area.top() + 20, false);
    ASSERT_TRUE(QTest::qWaitFor([this] { return !m_window.session().searchSlot().busy(); }, kPatience));
    QTest::qWait(50); // queued replots of the last answer
    const int memory = page.memory()->replots();
    const int time = page.time()->replots();
    const int tradeOff = m_window.choicePage().tradeOff()->replots();
    const double top = page.time()->axisTop();
    const Bytes memoryTop = page.memory()->top();
    std::vector<double> milliseconds;
    for (int move = 0; move < 200; ++move) {
        const int y = area.top() + 20 + move % (area.height() - 40);
        const double before = threadMilliseconds();
        moveTo(y); // no event loop between: answers wait, the line does not
        milliseconds.push_back(threadMilliseconds() - before);
        EXPECT_NEAR(line().grip().y(), y, 8); // it may rest at a limit
        EXPECT_EQ(line().budget(), m_window.choicePage().tradeOff()->handle()->budget());
    }
    EXPECT_EQ(page.memory()->replots(), memory);
    EXPECT_EQ(page.time()->replots(), time);
    EXPECT_EQ(m_window.choicePage().tradeOff()->replots(), tradeOff);
    EXPECT_GT(m_window.session().searchSlot().replaced(), 0);
    std::nth_element(milliseconds.begin(), milliseconds.begin() + 100, milliseconds.end());
    RecordProperty("thread_microseconds_per_move", static_cast<int>(milliseconds[100] * 1e3)); // in the XML report
    EXPECT_LT(milliseconds[100], 1.0) << "thread CPU of one move, median";
    ASSERT_TRUE(QTest::qWaitFor([this] { return !m_window.session().searchSlot().busy(); }, kPatience));
    EXPECT_EQ(page.time()->axisTop(), top);
    EXPECT_EQ(page.memory()->top(), memoryTop);
    QTest::mouseRelease(&line(), Qt::LeftButton, {}, line().rect().center());
    ASSERT_TRUE(settle());
    EXPECT_EQ(m_window.session().history().done(), 1U);
}

TEST_F(Window, OnceTheFrontierIsKnownAMoveStartsNoSearch)
{
    open(QStringLiteral("gpt2-small"));
    Session& session = m_window.session();
    const auto known = [&] { return session.known().complete(session.inputs()); };
    ASSERT_TRUE(QTest::qWaitFor([&] { return settle() && session.idle() && known(); }, kPatience));
    const QRect area = m_window.stepPage().memory()->dataArea();
    const std::int64_t before = session.known().searches();
    int shown = 0;
    QObject::connect(&session, &Session::answered, &m_window, [&](const PlanAnswerPtr& answer, bool preview) {
        shown += preview ? 1 : 0;
        EXPECT_TRUE(!preview || answer->lookedUp);
    });
    dragTo(area.bottom() - 4, false);
    for (int y = area.bottom() - 4; y > area.top() + 4; y -= 3) {
        moveTo(y);
        const Bytes at = line().budget();
        ASSERT_TRUE(QTest::qWaitFor([&] { return session.answer()->inputs.budget == at; }, kPatience)) << y;
        const PlanAnswerPtr answer = session.answer();
        EXPECT_TRUE(!answer->outcome->plan || answer->outcome->plan->peak <= at);
    }
    EXPECT_GT(shown, 50);
    EXPECT_EQ(session.known().searches(), before);
    QTest::mouseRelease(&line(), Qt::LeftButton, {}, line().rect().center());
    ASSERT_TRUE(settle());
    expectSameAsCore();
}

TEST_F(Window, TheCoachIsShownUntilTheLineWasMovedOnceAndNeverAgain)
{
    QFile::remove(habits::file());
    open(QStringLiteral("gpt-tiny"));
    m_window.coach();
    EXPECT_TRUE(m_window.stepPage().memory()->coached());
    m_window.coach(); // a second start before the line was moved
    EXPECT_TRUE(m_window.stepPage().memory()->coached());
    EXPECT_FALSE(habits::coachDone());
    dragTo(m_window.stepPage().memory()->dataArea().center().y());
    EXPECT_FALSE(m_window.stepPage().memory()->coached());
    EXPECT_TRUE(habits::coachDone());
    m_window.coach();
    EXPECT_FALSE(m_window.stepPage().memory()->coached());
    QFile::remove(habits::file());
}

TEST_F(Window, ALongSearchVeilsTheChartsAndAShortOneDoesNot)
{
    open(QStringLiteral("gpt-tiny"));
    Session& session = m_window.session();
    std::vector<bool> said;
    QObject::connect(&session, &Session::searchingChanged, &m_window, [&](bool searching) { said.push_back(searching); });
    std::atomic<bool> go = false;
    const auto wait = [&](const std::stop_token& stop, const WorkSlot::Post&) -> WorkSlot::Delivery {
        while (!go && !stop.stop_requested())
            std::this_thread::yield();
        return {};
    };
    session.searchSlot().submit(wait);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !said.empty(); }, kPatience));
    EXPECT_TRUE(m_window.stepPage().memory()->veiled());
    EXPECT_EQ(m_window.facts().proofText(), QStringLiteral("Searching"));
    EXPECT_NE(m_window.facts().figure(FactStrip::StepTime).value, QString()); // the last plan stays
    go = true;
    ASSERT_TRUE(QTest::qWaitFor([&] { return said.size() == 2; }, kPatience));
    EXPECT_FALSE(m_window.stepPage().memory()->veiled());
    EXPECT_EQ(said, (std::vector<bool>{true, false}));
}

TEST(Habits, MotionIsReducedWhereTheDesktopSaysSo)
{
    const QString folder = QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation);
    const QString gtk = folder + QStringLiteral("/gtk-3.0/settings.ini");
    const QString kde = folder + QStringLiteral("/kdeglobals");
    QFile::remove(gtk);
    QFile::remove(kde);
    EXPECT_FALSE(habits::reducedMotion());
    qputenv("LOADLINE_REDUCED_MOTION", "1");
    EXPECT_TRUE(habits::reducedMotion());
    qunsetenv("LOADLINE_REDUCED_MOTION");
    QSettings(gtk, QSettings::IniFormat).setValue(QStringLiteral("Settings/gtk-enable-animations"), 0);
    EXPECT_TRUE(habits::reducedMotion());
    QFile::remove(gtk);
    QSettings(kde, QSettings::IniFormat).setValue(QStringLiteral("KDE/AnimationDurationFactor"), 0);
    EXPECT_TRUE(habits::reducedMotion());
    QFile::remove(kde);
}

TEST_F(Window, EveryWayOutOfNothingFitsIsOneClickAndLeadsOut)
{
    open(QStringLiteral("gpt2-small"));
    m_window.session().setBatch(QStringLiteral("64"));
    ASSERT_TRUE(settle());
    const Bytes budget(m_window.session().committed()->least.count() / 2);
    EXPECT_TRUE(m_window.choicePage().waysOut().empty());
    m_window.session().commitBudget(budget);
    ASSERT_TRUE(settle());
    const std::size_t ways = m_window.choicePage().waysOut().size();
    ASSERT_GE(ways, 3U); // the least budget, and what would lower it
    for (std::size_t way = 0; way < ways; ++way) {
        ASSERT_FALSE(m_window.session().committed()->outcome->plan);
        QAbstractButton* button = m_window.choicePage().waysOut()[way];
        SCOPED_TRACE(button->text().toStdString());
        button->click();
        ASSERT_TRUE(settle());
        EXPECT_TRUE(m_window.session().committed()->outcome->plan) << "it leads out";
        EXPECT_TRUE(m_window.choicePage().waysOut().empty());
        m_window.actions().undo->trigger();
        ASSERT_TRUE(settle());
        EXPECT_EQ(m_window.session().inputs().budget, budget) << "and is one step";
    }
}

TEST_F(Window, UndoRestoresTheExactPlan)
{
    open(QStringLiteral("gpt2-small"));
    const PlanAnswerPtr first = m_window.session().committed();
    m_window.session().commitBudget(first->outcome->plan->peak - Bytes(1));
    ASSERT_TRUE(settle());
    m_window.session().setGranularity(2);
    ASSERT_TRUE(settle());
    m_window.session().setBatch(QStringLiteral("3"));
    ASSERT_TRUE(settle());
    m_window.session().setCluster(QStringLiteral("8xA100-40"));
    ASSERT_TRUE(settle());
    EXPECT_EQ(m_window.session().history().done(), 4U);
    for (int i = 0; i < 4; ++i) {
        m_window.actions().undo->trigger();
        ASSERT_TRUE(settle());
    }
    const PlanAnswerPtr again = m_window.session().committed();
    EXPECT_TRUE(again->inputs == first->inputs);
    EXPECT_EQ(again->outcome->plan->choice, first->outcome->plan->choice);
    EXPECT_EQ(again->outcome->plan->peak, first->outcome->plan->peak);
    EXPECT_EQ(line().budget(), first->inputs.budget);
    EXPECT_FALSE(m_window.actions().undo->isEnabled());
    EXPECT_TRUE(m_window.actions().redo->isEnabled());
}

TEST_F(Window, EscapeBringsTheLineBackAndLeavesNoStep)
{
    open(QStringLiteral("gpt2-small"));
    const Bytes before = line().budget();
    dragTo(m_window.stepPage().memory()->dataArea().center().y(), false);
    EXPECT_NE(line().budget(), before);
    QTest::keyClick(&line(), Qt::Key_Escape);
    EXPECT_EQ(line().budget(), before);
    ASSERT_TRUE(settle());
    EXPECT_EQ(m_window.session().history().done(), 0U);
    expectSameAsCore();
}

TEST_F(Window, KeysMoveTheLine)
{
    open(QStringLiteral("gpt2-small"));
    QTest::keyClick(&line(), Qt::Key_Home);
    ASSERT_TRUE(settle());
    EXPECT_EQ(line().budget(), m_window.session().committed()->least);
    expectSameAsCore();
    const Bytes least = line().budget();
    QTest::keyClick(&line(), Qt::Key_Down);
    ASSERT_TRUE(settle());
    EXPECT_LT(line().budget(), least);
    EXPECT_EQ(m_window.facts().proof(), FactStrip::Proof::Infeasible);
    expectSameAsCore();
    QTest::keyClick(&line(), Qt::Key_End);
    ASSERT_TRUE(settle());
    EXPECT_EQ(line().budget(), m_window.session().committed()->device);
    expectSameAsCore();
}

TEST_F(Window, ADoubleClickOnTheTagTypesAValue)
{
    open(QStringLiteral("gpt2-small"));
    QTest::mouseDClick(&line(), Qt::LeftButton, {}, line().tagRect().center());
    auto* editor = m_window.findChild<QLineEdit*>(QStringLiteral("budgetEditor"));
    ASSERT_TRUE(editor);
    editor->setText(QStringLiteral("9000 MiB"));
    QTest::keyClick(editor, Qt::Key_Return);
    ASSERT_TRUE(settle());
    EXPECT_EQ(line().budget().count(), 9000LL << 20);
}

TEST_F(Window, ABadFileSaysWhyAndChangesNothing)
{
    open(QStringLiteral("gpt2-small"));
    const PlanAnswerPtr before = m_window.session().committed();
    QTemporaryDir folder;
    const QString bad = folder.filePath(QStringLiteral("broken.json"));
    QFile file(bad);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("{\"model_type\": \"llama\", ");
    file.close();
    for (const QString& name : {bad, folder.filePath(QStringLiteral("missing.json"))}) {
        m_window.session().open(name);
        ASSERT_TRUE(QTest::qWaitFor([&] { return m_window.message().contains(name.section(QLatin1Char('/'), -1)); }, kPatience));
        EXPECT_TRUE(m_window.session().inputs() == before->inputs);
        EXPECT_EQ(m_window.session().committed(), before);
        EXPECT_EQ(m_window.session().history().done(), 0U);
    }
}

TEST_F(Window, ARefusedSettingIsTakenBack)
{
    open(QStringLiteral("gpt2-small"));
    const Inputs before = m_window.session().inputs();
    m_window.session().setBatch(QStringLiteral("none"));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !m_window.message().isEmpty(); }, kPatience));
    ASSERT_TRUE(settle());
    EXPECT_TRUE(m_window.session().inputs() == before);
    EXPECT_FALSE(m_window.session().history().canUndo());
}

TEST_F(Window, TheSliderAsksForItsGranularity)
{
    open(QStringLiteral("gpt2-small"));
    StopSlider& slider = *m_window.choicePage().slider();
    QTest::mouseClick(&slider, Qt::LeftButton, {}, slider.stopPosition(2));
    ASSERT_TRUE(settle());
    EXPECT_EQ(m_window.session().inputs().options.granularity, "1,2");
    EXPECT_GT(m_window.choicePage().tradeOff()->steps(), 0U);
    expectSameAsCore();
}

TEST_F(Window, ScriptsDriveItAndPicturesComeOut)
{
    open(QStringLiteral("gpt2-small"));
    QTemporaryDir folder;
    const QString picture = folder.filePath(QStringLiteral("a.png"));
    ScriptRunner script(&m_window, {QStringLiteral("# words"), QStringLiteral("budget 12GiB"), QStringLiteral("granularity 4"),
                                    QStringLiteral("undo"), QStringLiteral("theme dark"), QStringLiteral("screenshot ") + picture});
    bool done = false;
    QString problem;
    QObject::connect(&script, &ScriptRunner::done, &m_window, [&] { done = true; });
    QObject::connect(&script, &ScriptRunner::failed, &m_window, [&](const QString& sentence) { problem = sentence; });
    script.start();
    ASSERT_TRUE(QTest::qWaitFor([&] { return done || !problem.isEmpty(); }, kPatience));
    EXPECT_EQ(problem.toStdString(), "");
    EXPECT_EQ(line().budget().count(), (12_GiB).count());
    EXPECT_EQ(QImage(picture).size(), QSize(1440, 900));
    ScriptRunner wrong(&m_window, {QStringLiteral("dance")});
    QObject::connect(&wrong, &ScriptRunner::failed, &m_window, [&](const QString& sentence) { problem = sentence; });
    wrong.start();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !problem.isEmpty(); }, kPatience));
    EXPECT_TRUE(problem.contains(QStringLiteral("line 1")));
}

TEST(Program, WritesPicturesInBothThemesWithoutADisplay)
{
    QTemporaryDir folder;
    const QTemporaryDir runtime; // closed to others, as Qt wants it
    for (const QString& theme : {QStringLiteral("light"), QStringLiteral("dark")}) {
        QProcess program;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
            environment.remove(QString::fromLatin1(name));
        environment.insert(QStringLiteral("XDG_RUNTIME_DIR"), runtime.path());
        program.setProcessEnvironment(environment);
        program.start(QStringLiteral(LOADLINE_BIN_DIR "/loadline"),
                      {QStringLiteral("--screenshot"), folder.filePath(theme), QStringLiteral("--theme"), theme});
        ASSERT_TRUE(program.waitForFinished(kPatience));
        EXPECT_EQ(program.exitCode(), 0);
        EXPECT_EQ(program.readAllStandardError().toStdString(), ""); // no warning of Qt either
        const QString first = QString::fromLocal8Bit(program.readAllStandardOutput()).section(QLatin1Char('\n'), 0, 0);
        const QImage picture(first);
        ASSERT_EQ(picture.size(), QSize(1440, 900));
        EXPECT_EQ(picture.pixelColor(700, 890).lightness() < 128, theme == QLatin1String("dark"));
    }
}

TEST(Program, RefusesWithOneSentence)
{
    for (const QStringList& arguments :
         {QStringList{QStringLiteral("--what")},
          QStringList{QStringLiteral("--screenshot"), QStringLiteral("/tmp"), QStringLiteral("/no/such/model.json")}}) {
        QProcess program;
        program.start(QStringLiteral(LOADLINE_BIN_DIR "/loadline"), arguments);
        ASSERT_TRUE(program.waitForFinished(kPatience));
        EXPECT_EQ(program.exitCode(), 2);
    }
}

TEST_F(Window, APaletteRunsCommandsAndTheSelectedOperatorShowsItsFormulas)
{
    open(QStringLiteral("gpt-tiny"));
    m_window.actions().palette->trigger();
    auto* palette = m_window.findChild<CommandPalette*>();
    ASSERT_NE(palette, nullptr);
    QTest::keyClicks(palette->field(), QStringLiteral("whole device"));
    ASSERT_FALSE(palette->shownWords().isEmpty());
    EXPECT_EQ(palette->shownWords().first(), m_window.actions().wholeDevice->text());
    QTest::keyClick(palette->field(), Qt::Key_Return);
    EXPECT_TRUE(m_window.actions().wholeDevice->isChecked());

    DetailTabs& tabs = m_window.details();
    tabs.setCurrentWidget(tabs.operatorDetails());
    m_window.operators().showUnit(5);
    const Plan& plan = *m_window.session().committed()->outcome->plan;
    EXPECT_TRUE(tabs.operatorDetails()->heading().startsWith(text(plan.table.units[5].name)));
    tabs.setCurrentWidget(tabs.streams());
    EXPECT_DOUBLE_EQ(tabs.streams()->lanes()->end(), plan.time.overlapped.value());
}
