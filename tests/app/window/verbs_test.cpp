// SPDX-License-Identifier: GPL-3.0-or-later
// Every verb of the toolbar by mouse, by key and by palette; every chooser as one undo step; the batch surface; exports; the command line.
#include "app/window/choosers.hpp"
#include "app/window/export_desk.hpp"
#include "app/window/pages.hpp"
#include "app/window/pictures.hpp"
#include "core/exchange/plan_document.hpp"
#include "core/export/tables.hpp"
#include "tests/app/window/open_window.hpp"
#include "views/charts/batch_map.hpp"
#include "views/pages/batch_page.hpp"
#include "views/panels/command_palette.hpp"
#include "views/panels/work_row.hpp"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QLineEdit>
#include <QMenu>
#include <QProcess>
#include <QTemporaryDir>
#include <QTimer>
#include <QToolBar>
#include <QToolButton>

#include <functional>

using namespace loadline;

namespace {

class Verbs : public OpenWindow {
protected:
    QToolButton* button(QAction* action)
    {
        for (QToolBar* bar : m_window.findChildren<QToolBar*>()) {
            if (auto* found = qobject_cast<QToolButton*>(bar->widgetForAction(action)))
                return found;
        }
        return nullptr;
    }
    /// By mouse, by key, by palette; `check` looks at what came of it, `reset` makes it undone again.
    void threeWays(QAction* action, const std::function<bool()>& check, const std::function<void()>& reset)
    {
        SCOPED_TRACE(action->text().toStdString());
        reset();
        QToolButton* pressed = button(action);
        ASSERT_NE(pressed, nullptr);
        EXPECT_FALSE(pressed->text().isEmpty());
        QTest::mouseClick(pressed, Qt::LeftButton);
        EXPECT_TRUE(check()) << "mouse";
        reset();
        ASSERT_FALSE(action->shortcut().isEmpty());
        QTest::keySequence(&m_window, action->shortcut());
        EXPECT_TRUE(check()) << "key";
        reset();
        m_window.actions().palette->trigger();
        auto* palette = m_window.findChild<CommandPalette*>();
        ASSERT_NE(palette, nullptr);
        QString words = action->text();
        words.remove(QChar(0x2026));
        QTest::keyClicks(palette->field(), words);
        ASSERT_FALSE(palette->shownWords().isEmpty());
        EXPECT_EQ(palette->shownWords().first(), words);
        QTest::keyClick(palette->field(), Qt::Key_Return);
        EXPECT_TRUE(check()) << "palette";
    }
    /// Closes the file dialog that opens next.
    void dismissDialog(bool& seen)
    {
        seen = false;
        m_window.activateWindow();
        ASSERT_TRUE(QTest::qWaitForWindowActive(&m_window)); // keys reach only the active one
        m_dismiss.disconnect();
        m_dismiss.setInterval(5);
        QObject::connect(&m_dismiss, &QTimer::timeout, &m_window, [this, &seen] {
            if (auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget())) {
                m_dismiss.stop();
                seen = true;
                dialog->reject();
            }
        });
        m_dismiss.start();
    }
    bool finishBatch()
    {
        return QTest::qWaitFor([this] { return m_window.settled() && !m_window.batchPage().work()->working(); }, kPatience);
    }

    QTimer m_dismiss;
};

void expectSamePlan(const PlanAnswerPtr& a, const PlanAnswerPtr& b)
{
    ASSERT_TRUE(a && b);
    EXPECT_TRUE(a->inputs == b->inputs);
    ASSERT_EQ(a->outcome->plan.has_value(), b->outcome->plan.has_value());
    if (a->outcome->plan) {
        EXPECT_EQ(a->outcome->plan->choice, b->outcome->plan->choice);
        EXPECT_EQ(a->outcome->plan->peak, b->outcome->plan->peak);
        EXPECT_EQ(a->outcome->plan->objective.value(), b->outcome->plan->objective.value());
    }
}

} // namespace

TEST_F(Verbs, EachOfTheToolbarByMouseByKeyAndByPalette)
{
    open();
    Actions& actions = m_window.actions();
    Pages& pages = m_window.pages();
    const auto toPlan = [&] { pages.show(QStringLiteral("plan")); };
    threeWays(
        actions.profile, [&] { return pages.current() == QLatin1String("profile"); }, toPlan);
    threeWays(
        actions.verify, [&] { return pages.current() == QLatin1String("run"); }, toPlan);
    threeWays(
        actions.compare, [&] { return pages.current() == QLatin1String("compare"); }, toPlan);
    toPlan();
    threeWays(
        actions.pin, [&] { return actions.pin->isChecked(); }, [&] { actions.pin->setChecked(false); });
    actions.pin->setChecked(false);
    QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    bool seen = false;
    for (QAction* action : {actions.open, actions.exportPlan})
        threeWays(
            action, [&] { return seen; }, [&] { dismissDialog(seen); });
    const auto shown = [&] {
        auto* palette = m_window.findChild<CommandPalette*>();
        return palette != nullptr && palette->isVisible();
    };
    m_window.findChild<CommandPalette*>()->hide();
    QTest::mouseClick(button(actions.palette), Qt::LeftButton);
    EXPECT_TRUE(shown());
    m_window.findChild<CommandPalette*>()->hide();
    m_window.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&m_window));
    QTest::keySequence(&m_window, actions.palette->shortcut());
    EXPECT_TRUE(shown());
    m_window.findChild<CommandPalette*>()->hide();
}

TEST_F(Verbs, EveryChooserIsOneUndoStepAndUndoBringsTheExactPlanBack)
{
    open();
    const PlanAnswerPtr first = m_window.session().committed();
    Choosers& choosers = m_window.choosers();
    const std::pair<QComboBox*, int> choices[] = {{choosers.nodes(), 1},     {choosers.gpus(), 2},         {choosers.sequence(), 1},
                                                  {choosers.batch(), 3},     {choosers.accumulation(), 2}, {choosers.precision(), 1},
                                                  {choosers.optimizer(), 1}, {choosers.recompute(), 0},    {choosers.unit(), 2},
                                                  {choosers.runtime(), 1},   {choosers.time(), 1}};
    std::size_t steps = 0;
    std::vector<PlanAnswerPtr> answers{first};
    for (const auto& [box, wanted] : choices) {
        const int index = wanted == box->currentIndex() ? wanted + 1 : wanted;
        SCOPED_TRACE(box->accessibleName().toStdString());
        emit box->activated(index);
        ASSERT_TRUE(settle());
        EXPECT_EQ(m_window.session().history().done(), ++steps);
        EXPECT_EQ(box->currentIndex(), index);
        answers.push_back(m_window.session().committed());
        EXPECT_TRUE(answers.back()->inputs != answers[answers.size() - 2]->inputs);
        EXPECT_EQ(m_window.message().toStdString(), "");
    }
    while (steps > 0) {
        m_window.actions().undo->trigger();
        ASSERT_TRUE(settle());
        expectSamePlan(m_window.session().committed(), answers[--steps]);
    }
    m_window.session().goTo(4);
    ASSERT_TRUE(settle());
    expectSamePlan(m_window.session().committed(), answers[4]);
}

TEST_F(Verbs, TheCommandLineThatIsCopiedMakesTheSamePlan)
{
    open();
    RequestOptions options = m_window.session().inputs().options;
    options.nodes = 2;
    options.gpusPerNode = 4;
    options.optimizer = "sgd";
    options.recompute = "off";
    options.runtime = "fsdp2";
    options.groups = "1,8";
    options.batch = "2";
    options.accumulation = "4";
    options.overhead = "512MiB";
    options.pins = {"*=zdp"};
    m_window.session().setOptions(QStringLiteral("everything"), options);
    ASSERT_TRUE(settle());
    ASSERT_EQ(m_window.message().toStdString(), "");
    m_window.actions().copyCommand->trigger();
    const QString line = QApplication::clipboard()->text();
    ASSERT_TRUE(line.startsWith(QLatin1String("loadline-plan plan ")));
    QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("a.loadline-plan.json"));
    const QString program = QStringLiteral(LOADLINE_BIN_DIR "/loadline-plan");
    QProcess shell;
    shell.start(QStringLiteral("sh"), {QStringLiteral("-c"), program + line.mid(13) + QStringLiteral(" --output ") + file});
    ASSERT_TRUE(shell.waitForFinished(kPatience));
    ASSERT_EQ(shell.exitCode(), 0) << shell.readAllStandardError().toStdString();
    const auto saved = loadPlan(file.toStdString());
    ASSERT_TRUE(saved.ok());
    const Plan& made = *saved->document.outcome.plan;
    const Plan& shown = *m_window.session().committed()->outcome->plan;
    EXPECT_EQ(made.peak, shown.peak);
    EXPECT_EQ(made.objective.value(), shown.objective.value());
    for (std::size_t unit = 0; unit < shown.table.units.size(); ++unit)
        EXPECT_TRUE(made.cost(unit).strategy == shown.cost(unit).strategy) << shown.table.units[unit].name;
}

TEST_F(Verbs, StepsAreAListAndWhereOneLookedIsAnother)
{
    open();
    const PlanAnswerPtr first = m_window.session().committed();
    m_window.session().setGranularity(2);
    ASSERT_TRUE(settle());
    const PlanAnswerPtr second = m_window.session().committed();
    m_window.session().setBatch(QStringLiteral("2"));
    ASSERT_TRUE(settle());
    QMenu& menu = *m_window.actions().stepsMenu;
    const auto go = [&](int step) {
        emit menu.aboutToShow();
        menu.actions()[step]->trigger();
        return settle();
    };
    emit menu.aboutToShow();
    ASSERT_EQ(menu.actions().size(), 3);
    EXPECT_EQ(menu.actions()[2]->text(), QStringLiteral("Batch 2"));
    EXPECT_TRUE(menu.actions()[2]->isChecked());
    ASSERT_TRUE(go(0));
    expectSamePlan(m_window.session().committed(), first);
    ASSERT_TRUE(go(1));
    expectSamePlan(m_window.session().committed(), second);

    m_window.pages().show(QStringLiteral("links"));
    m_window.pages().show(QStringLiteral("batch"));
    ASSERT_TRUE(finishBatch());
    QTest::keySequence(&m_window, m_window.actions().back->shortcut());
    EXPECT_EQ(m_window.pages().current(), QStringLiteral("links"));
    QTest::keySequence(&m_window, m_window.actions().back->shortcut());
    EXPECT_EQ(m_window.pages().current(), QStringLiteral("plan"));
    QTest::keySequence(&m_window, m_window.actions().forward->shortcut());
    EXPECT_EQ(m_window.pages().current(), QStringLiteral("links"));
    EXPECT_EQ(m_window.session().history().done(), 1U) << "looking elsewhere is no step";
}

TEST_F(Verbs, TheBatchPageComputesInTheBackgroundAndACellGoesThere)
{
    open();
    m_window.pages().show(QStringLiteral("batch"));
    EXPECT_TRUE(m_window.batchPage().work()->working());
    emit m_window.batchPage().work()->cancelAsked();
    EXPECT_FALSE(m_window.batchPage().work()->working());
    EXPECT_FALSE(m_window.batchPage().work()->sentence().isEmpty());
    EXPECT_EQ(m_window.batchPage().map()->surface(), nullptr);
    QTest::mouseClick(m_window.batchPage().work()->verb(), Qt::LeftButton);
    ASSERT_TRUE(finishBatch());
    BatchMap& map = *m_window.batchPage().map();
    ASSERT_NE(map.surface(), nullptr);
    const PlanAnswerPtr before = m_window.session().committed();
    const BatchCell& cell = map.surface()->at(1, 1);
    ASSERT_TRUE(cell.fits);
    QTest::mouseClick(&map, Qt::LeftButton, {}, map.cellRect(1, 1).center());
    ASSERT_TRUE(finishBatch());
    EXPECT_EQ(m_window.session().history().done(), 1U);
    const Plan& plan = *m_window.session().committed()->outcome->plan;
    EXPECT_EQ(plan.table.setup.batch, cell.batch);
    EXPECT_EQ(plan.table.setup.accumulation, cell.accumulation);
    EXPECT_EQ(plan.samplesPerSecond(), cell.samplesPerSecond);
    EXPECT_NE(map.surface(), nullptr) << "going to a cell leaves the surface as it is";
    m_window.actions().undo->trigger();
    ASSERT_TRUE(finishBatch());
    expectSamePlan(m_window.session().committed(), before);
    m_window.session().setGranularity(2); // another question: another surface
    EXPECT_TRUE(QTest::qWaitFor([&] { return m_window.batchPage().work()->working(); }, kPatience));
    ASSERT_TRUE(finishBatch());
}

TEST_F(Verbs, ExportWritesWhatCanBeReadBack)
{
    open();
    QTemporaryDir folder;
    const PlanAnswerPtr answer = m_window.session().committed();
    const auto written = [&](ExportDesk::Form form, const QString& name) {
        m_window.exports().write(answer, form, folder.filePath(name));
        return settle() && m_window.message().isEmpty();
    };
    ASSERT_TRUE(written(ExportDesk::Form::Plan, QStringLiteral("p.loadline-plan.json")));
    const auto saved = loadPlan(folder.filePath(QStringLiteral("p.loadline-plan.json")).toStdString());
    ASSERT_TRUE(saved.ok());
    EXPECT_EQ(saved->document.outcome.plan->peak, answer->outcome->plan->peak);
    ASSERT_TRUE(written(ExportDesk::Form::Table, QStringLiteral("p.csv")));
    QFile table(folder.filePath(QStringLiteral("p.csv")));
    ASSERT_TRUE(table.open(QIODevice::ReadOnly));
    EXPECT_EQ(readPlanCsv(table.readAll().toStdString(), "p.csv")->size(), answer->outcome->plan->table.units.size());
    ASSERT_TRUE(written(ExportDesk::Form::Page, QStringLiteral("p.html")));
    EXPECT_GT(QFileInfo(folder.filePath(QStringLiteral("p.html"))).size(), 1000);
    ASSERT_TRUE(written(ExportDesk::Form::Bundle, QStringLiteral("bundle")));
    EXPECT_TRUE(QFileInfo(folder.filePath(QStringLiteral("bundle/run.sh"))).isExecutable());
    m_window.exports().write(answer, ExportDesk::Form::Bundle, folder.path());
    ASSERT_TRUE(settle());
    EXPECT_TRUE(m_window.message().contains(folder.path())) << "a folder with files is left alone";
}
