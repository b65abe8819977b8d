// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/main_window.hpp"

#include "app/window/actions.hpp"
#include "app/window/batch_desk.hpp"
#include "app/window/chart_desk.hpp"
#include "app/window/choosers.hpp"
#include "app/window/compare_desk.hpp"
#include "app/window/export_desk.hpp"
#include "app/window/habits.hpp"
#include "app/window/machine_desk.hpp"
#include "app/window/pages.hpp"
#include "app/window/pictures.hpp"
#include "app/window/runs_desk.hpp"
#include "app/window/session_desk.hpp"
#include "app/window/theme.hpp"
#include "app/window/view_history.hpp"
#include "views/charts/budget_handle.hpp"
#include "views/charts/memory_chart.hpp"
#include "views/charts/trade_off_chart.hpp"
#include "views/format/text.hpp"
#include "views/pages/batch_page.hpp"
#include "views/pages/choice_page.hpp"
#include "views/pages/compare_page.hpp"
#include "views/pages/detail_tabs.hpp"
#include "views/pages/links_page.hpp"
#include "views/pages/profile_page.hpp"
#include "views/pages/run_page.hpp"
#include "views/pages/sessions_page.hpp"
#include "views/pages/step_page.hpp"
#include "views/panels/command_palette.hpp"
#include "views/panels/fact_strip.hpp"
#include "views/panels/message_bar.hpp"
#include "views/panels/operator_panel.hpp"
#include "views/panels/shortcut_sheet.hpp"
#include "views/panels/stop_slider.hpp"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QComboBox>
#include <QDir>
#include <QFileDialog>
#include <QLabel>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QSplitter>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolBar>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>

#include <utility>

namespace loadline {
QString MainWindow::sampleModel()
{
    return QStringLiteral("llama3-8b");
}

MainWindow::MainWindow(QWidget* parent)
    : QMainWindow(parent), m_session(new Session(this)), m_writing(new WorkSlot(this)), m_actions(new Actions(this))
{
    setWindowTitle(tr("Loadline"));
    setWindowIcon(QIcon(QStringLiteral(":/icons/loadline.svg")));
    setAcceptDrops(true);
    buildLayout();
    joinSession();
    joinActions();
    joinPages();
    joinCharts();
    joinHistories();
    joinHandle(m_step->memory()->handle());
    joinHandle(m_choice->tradeOff()->handle());
    showHistory();
    m_step->memory()->handle()->setFocus(); // so that the arrow keys move the line from the start
}

MainWindow::~MainWindow()
{
    delete std::exchange(m_sessionDesk, nullptr);
    m_session->stop(); // before the views that its answers are for
}

void MainWindow::buildLayout()
{
    m_actions->fillMenus(this);
    auto* bar = addToolBar(tr("Tools"));
    bar->setMovable(false);
    bar->setContextMenuPolicy(Qt::PreventContextMenu);
    m_actions->fillToolBar(bar);
    addToolBarBreak();
    auto* question = addToolBar(tr("Question"));
    question->setObjectName(QStringLiteral("question"));
    question->setMovable(false);
    question->setContextMenuPolicy(Qt::PreventContextMenu);
    m_choosers = new Choosers(bar, question, this);

    auto* center = new QWidget(this);
    auto* column = new QVBoxLayout(center);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_facts = new FactStrip(center);
    m_messages = new MessageBar(center);
    auto* line = new QWidget(center);
    line->setObjectName(QStringLiteral("line"));
    line->setFixedHeight(1);
    m_operators = new OperatorPanel(center);
    m_operators->view()->setObjectName(QStringLiteral("operators"));
    m_step = new StepPage(center);
    m_choice = new ChoicePage(std::vector<int>(std::begin(kGranularities), std::end(kGranularities)), center);
    m_details = new DetailTabs(center);
    for (QWidget* panel : std::initializer_list<QWidget*>{m_operators, m_step, m_choice, m_details}) {
        if (panel != m_details)
            panel->setObjectName(QStringLiteral("panel"));
        panel->setAttribute(Qt::WA_StyledBackground);
    }
    auto* across = new QSplitter(Qt::Horizontal, center);
    across->addWidget(m_operators);
    across->addWidget(m_step);
    across->addWidget(m_choice);
    across->setStretchFactor(1, 1);
    across->setSizes({342, 806, 290});
    auto* down = new QSplitter(Qt::Vertical, center);
    down->addWidget(across);
    down->addWidget(m_details);
    down->setStretchFactor(0, 1);
    down->setSizes({576, 216});
    for (QSplitter* splitter : {across, down}) {
        splitter->setHandleWidth(1);
        splitter->setChildrenCollapsible(false);
    }
    m_operators->setMinimumWidth(220);
    m_step->setMinimumWidth(360);
    m_choice->setMinimumWidth(220);
    m_details->setMinimumHeight(60);
    column->addWidget(m_facts);
    column->addWidget(line);
    column->addWidget(m_messages);
    m_pages = new Pages(this, m_actions->viewMenu);
    m_pages->add(down, tr("Plan"), QStringLiteral("plan"));
    addPages();
    column->addWidget(m_pages->stack(), 1);
    setCentralWidget(center);

    m_hover = new QLabel(this);
    m_state = new QLabel(this);
    m_saved = new QLabel(this);
    m_hover->setMinimumWidth(10);
    m_hover->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    statusBar()->addWidget(m_hover, 1);
    statusBar()->addPermanentWidget(m_state);
    statusBar()->addPermanentWidget(m_saved);
    statusBar()->setSizeGripEnabled(false);
    statusBar()->setContentsMargins(8, 0, 8, 0);
}

void MainWindow::addPages()
{
    m_profile = new ProfilePage(this);
    m_links = new LinksPage(this);
    m_run = new RunPage(this);
    m_pages->add(m_profile, tr("Profile"), QStringLiteral("profile"));
    m_pages->add(m_links, tr("Links"), QStringLiteral("links"));
    m_pages->add(m_run, tr("Run"), QStringLiteral("run"));
    m_compare = new ComparePage(this);
    m_pages->add(m_compare, tr("Compare"), QStringLiteral("compare"));
    m_sessions = new SessionsPage(this);
    m_pages->add(m_sessions, tr("Sessions"), QStringLiteral("sessions"));
    m_batch = new BatchPage(this);
    m_pages->add(m_batch, tr("Batch"), QStringLiteral("batch"));
    m_batchDesk = new BatchDesk(m_session, m_batch, this);
    m_exports = new ExportDesk(this);
    m_compareDesk = new CompareDesk(m_compare, this);
    m_runsDesk = new RunsDesk(m_session, m_run, this);
    m_machine = new MachineDesk(m_session, m_profile, m_links, m_run, this);
}

void MainWindow::joinPages()
{
    const auto hover = [this](const QString& words) { m_hover->setText(words); };
    connect(m_profile, &ProfilePage::hovered, this, hover);
    connect(m_links, &LinksPage::hovered, this, hover);
    connect(m_run, &RunPage::hovered, this, hover);
    connect(m_compare, &ComparePage::hovered, this, hover);
    connect(m_batch, &BatchPage::hovered, this, hover);
    connect(m_batchDesk, &BatchDesk::failed, m_messages, &MessageBar::showMessage);
    connect(m_exports, &ExportDesk::failed, m_messages, &MessageBar::showMessage);
    connect(m_exports, &ExportDesk::said, this, hover);
    for (const auto& [action, page] :
         {std::pair(m_actions->profile, QStringLiteral("profile")), std::pair(m_actions->verify, QStringLiteral("run")),
          std::pair(m_actions->compare, QStringLiteral("compare"))})
        connect(action, &QAction::triggered, m_pages, [this, page = page] { m_pages->show(page); });
    connect(m_actions->exportPlan, &QAction::triggered, m_exports, [this] { m_exports->choose(m_session->committed()); });
    connect(m_compareDesk, &CompareDesk::failed, m_messages, &MessageBar::showMessage);
    connect(m_compareDesk, &CompareDesk::opened, this, [this] { m_pages->show(QStringLiteral("compare")); });
    connect(m_runsDesk, &RunsDesk::failed, m_messages, &MessageBar::showMessage);
    connect(m_runsDesk, &RunsDesk::opened, this, [this] { m_pages->show(QStringLiteral("run")); });
    connect(m_machine, &MachineDesk::failed, m_messages, &MessageBar::showMessage);
    connect(m_session, &Session::profileOpened, m_machine, &MachineDesk::setProfile);
    connect(m_pages, &Pages::shown, this, [this](const QString& page) {
        if (page == QLatin1String("profile") || page == QLatin1String("links") || page == QLatin1String("run"))
            m_machine->look();
        m_batchDesk->setSeen(page == QLatin1String("batch"));
        if (page == QLatin1String("compare"))
            m_compareDesk->refresh();
    });
    connect(m_profile->openVerb(), &QToolButton::clicked, this, &MainWindow::chooseFile);
    connect(m_profile->saveVerb(), &QToolButton::clicked, this, [this] {
        const QString file = QFileDialog::getSaveFileName(this, tr("Save the profile"), QStringLiteral("machine.loadline-profile.jsonl"),
                                                          tr("Profiles (*.loadline-profile.jsonl)"));
        if (!file.isEmpty())
            m_machine->save(file);
    });
}

void MainWindow::joinHistories()
{
    m_views = new ViewHistory(this);
    connect(m_pages, &Pages::shown, this, &MainWindow::recordView);
    connect(m_details, &QTabWidget::currentChanged, this, &MainWindow::recordView);
    connect(m_operators, &OperatorPanel::unitsChosen, this, [this](const std::vector<std::size_t>& units) {
        m_unit = units.empty() ? std::optional<std::size_t>() : units.front();
        recordView();
    });
    connect(m_actions->back, &QAction::triggered, m_views, &ViewHistory::back);
    connect(m_actions->forward, &QAction::triggered, m_views, &ViewHistory::forward);
    connect(m_views, &ViewHistory::changed, this, [this] {
        m_actions->back->setEnabled(m_views->canGoBack());
        m_actions->forward->setEnabled(m_views->canGoForward());
    });
    connect(m_views, &ViewHistory::shown, this, [this](const ViewHistory::Place& place) {
        m_pages->show(place.page);
        m_details->setCurrentIndex(place.tab);
        if (place.unit)
            m_operators->showUnit(*place.unit);
    });
    connect(m_actions->stepsMenu, &QMenu::aboutToShow, this, &MainWindow::fillSteps);
    recordView();
}

void MainWindow::recordView()
{
    m_views->record({m_pages->current(), m_details->currentIndex(), m_unit});
}

void MainWindow::fillSteps()
{
    const auto& history = m_session->history();
    QMenu* menu = m_actions->stepsMenu;
    menu->clear();
    constexpr std::size_t kMostShown = 30;
    const std::size_t count = history.steps().size();
    const std::size_t first = count > kMostShown ? count - kMostShown : 0;
    for (std::size_t done = first; done <= count; ++done) {
        QAction* step = menu->addAction(done == 0 ? tr("As it was opened") : history.steps()[done - 1].name);
        step->setCheckable(true);
        step->setChecked(done == history.done());
        connect(step, &QAction::triggered, m_session, [this, done] { m_session->goTo(done); });
    }
}

void MainWindow::joinCharts()
{
    m_charts = new ChartDesk(this);
    m_charts->addAll();
    connect(m_charts, &ChartDesk::said, m_hover, &QLabel::setText);
    connect(m_charts, &ChartDesk::failed, m_messages, &MessageBar::showMessage);
    const auto join = [this](QAction* action, auto&& perform) {
        connect(action, &QAction::triggered, m_charts, [this, perform] {
            if (QWidget* chart = m_charts->current())
                perform(*m_charts, chart);
        });
    };
    join(m_actions->chartFit, [](ChartDesk& desk, QWidget* chart) { desk.fit(chart); });
    join(m_actions->chartCopy, [](ChartDesk& desk, QWidget* chart) { desk.copy(chart); });
    join(m_actions->chartTable, [](ChartDesk& desk, QWidget* chart) { desk.showTable(chart); });
    for (const auto& [action, form] :
         {std::pair(m_actions->chartPng, ChartDesk::Form::Png), std::pair(m_actions->chartSvg, ChartDesk::Form::Svg),
          std::pair(m_actions->chartPdf, ChartDesk::Form::Pdf), std::pair(m_actions->chartCsv, ChartDesk::Form::Csv)})
        join(action, [form = form](ChartDesk& desk, QWidget* chart) { desk.save(chart, form); });
}

void MainWindow::joinSession()
{
    connect(m_session, &Session::inputsChanged, this, &MainWindow::showInputs);
    connect(m_session, &Session::historyChanged, this, &MainWindow::showHistory);
    connect(m_session, &Session::answered, this, &MainWindow::showAnswer);
    connect(m_session, &Session::tradeOffChanged, this, [this](int granularity) {
        if (granularity == m_session->granularity())
            showTradeOff();
    });
    connect(m_session, &Session::searchingChanged, this, &MainWindow::showSearching);
    connect(m_session, &Session::failed, this, [this](const QString& sentence) {
        m_messages->showMessage(sentence);
        showInputs(); // a chooser may show what was refused
    });
    connect(m_choosers, &Choosers::modelChosen, m_session, &Session::open);
    connect(m_choosers, &Choosers::openAsked, this, [this] {
        showInputs();
        chooseFile();
    });
    connect(m_choosers, &Choosers::clusterChosen, m_session, &Session::setCluster);
    connect(m_choosers, &Choosers::sequenceChosen, m_session, &Session::setSequence);
    connect(m_choosers, &Choosers::batchChosen, m_session, &Session::setBatch);
    connect(m_choosers, &Choosers::precisionChosen, m_session, &Session::setPrecision);
    connect(m_choosers, &Choosers::optionsChosen, m_session, &Session::setOptions);
    connect(m_choice->slider(), &StopSlider::valueChosen, m_session, &Session::setGranularity);
    connect(m_choice, &ChoicePage::wayOutChosen, m_session, &Session::takeWayOut);
    const auto hover = [this](const QString& words) { m_hover->setText(words); };
    connect(m_step, &StepPage::hovered, this, hover);
    connect(m_choice, &ChoicePage::hovered, this, hover);
    connect(m_operators, &OperatorPanel::hovered, this, hover);
    connect(m_details, &DetailTabs::hovered, this, hover);
    connect(m_operators, &OperatorPanel::pinAsked, this, &MainWindow::pinUnits);
    connect(m_operators, &OperatorPanel::unitsChosen, this, [this](const std::vector<std::size_t>& units) {
        m_step->frameUnits(units);
        if (!units.empty())
            m_details->showUnit(units.front());
    });
    connect(m_choice, &ChoicePage::unitsChosen, this, [this](const std::vector<std::size_t>& units) {
        if (!units.empty())
            m_operators->showUnit(units.front());
        m_step->frameUnits(units);
    });
}

void MainWindow::joinActions()
{
    connect(m_actions->open, &QAction::triggered, this, &MainWindow::chooseFile);
    connect(m_actions->openSample, &QAction::triggered, this, [this] { m_session->open(sampleModel()); });
    connect(m_actions->savePicture, &QAction::triggered, this, &MainWindow::choosePicture);
    connect(m_actions->copyCommand, &QAction::triggered, this, [this] {
        QApplication::clipboard()->setText(commandLineOf(m_session->inputs()));
        m_hover->setText(tr("Copied: %1").arg(commandLineOf(m_session->inputs())));
    });
    connect(m_actions->quit, &QAction::triggered, this, &QWidget::close);
    connect(m_actions->undo, &QAction::triggered, m_session, &Session::undo);
    connect(m_actions->redo, &QAction::triggered, m_session, &Session::redo);
    connect(m_actions->pin, &QAction::toggled, this, &MainWindow::pin);
    connect(m_actions->wholeDevice, &QAction::toggled, this, [this](bool whole) {
        if (const PlanAnswerPtr answer = m_session->committed())
            m_step->memory()->setTop(memoryAxisTop(*answer, whole));
    });
    connect(m_actions->findOperator, &QAction::triggered, m_operators, &OperatorPanel::focusFilter);
    connect(m_actions->focusBudget, &QAction::triggered, this, [this] { m_step->memory()->handle()->setFocus(); });
    connect(m_actions->themeSystem, &QAction::triggered, this, [] { applyTheme(Theme::System); });
    connect(m_actions->themeLight, &QAction::triggered, this, [] { applyTheme(Theme::Light); });
    connect(m_actions->themeDark, &QAction::triggered, this, [] { applyTheme(Theme::Dark); });
    connect(m_actions->palette, &QAction::triggered, this, &MainWindow::showPalette);
    connect(m_actions->keys, &QAction::triggered, this, &MainWindow::showKeys);
    connect(m_actions->about, &QAction::triggered, this, &MainWindow::showAbout);
}

bool MainWindow::settled() const
{
    return !m_compareDesk->busy() && !m_runsDesk->busy() && !m_batchDesk->busy() && !m_exports->busy() && !m_writing->busy() &&
           (m_sessionDesk == nullptr || m_sessionDesk->keeper().idle()) && m_session->idle() &&
           m_session->tradeOff(m_session->granularity());
}

void MainWindow::openFiles(const QStringList& files)
{
    // The slot keeps the newest of several, so a cluster among them is opened once the model is there.
    m_session->open(files.isEmpty() ? sampleModel() : files.first());
    if (files.size() < 2)
        return;
    const QStringList rest = files.mid(1);
    connect(
        m_session, &Session::answered, this, [this, rest] { openFiles(rest); }, Qt::SingleShotConnection);
}

void MainWindow::keepIn(const QString& file)
{
    m_storeFile = file;
    m_sessionDesk = new SessionDesk(file, m_session, m_machine, m_sessions, this);
    connect(m_sessionDesk, &SessionDesk::said, m_messages, &MessageBar::showMessage);
    connect(m_sessionDesk, &SessionDesk::state, this, [this](const QString& words) { m_saved->setText(words); });
    connect(m_sessionDesk, &SessionDesk::opened, this, [this] { m_pages->show(m_pages->names().first()); });
    connect(m_sessionDesk, &SessionDesk::nothingToOpen, this, [this] { openFiles({}); });
    m_runsDesk->keepWith(m_sessionDesk);
    connect(m_sessionDesk, &SessionDesk::compareAsked, this, &MainWindow::compare);
    connect(m_pages, &Pages::shown, m_sessionDesk,
            [this](const QString& page) { m_sessionDesk->setSeen(page == QLatin1String("sessions")); });
}

void MainWindow::openLast()
{
    m_sessionDesk != nullptr ? m_sessionDesk->openLast() : openFiles({});
}

void MainWindow::compare(const QString& a, const QString& b)
{
    m_compareDesk->openPair(a, b, m_storeFile);
}

void MainWindow::setTheme(const QString& name)
{
    const Theme theme = themeOf(name);
    QAction* action = theme == Theme::Light ? m_actions->themeLight : theme == Theme::Dark ? m_actions->themeDark : m_actions->themeSystem;
    action->trigger();
}

QString MainWindow::message() const
{
    return m_messages->message();
}

namespace {

QString cannotWrite(const QString& file)
{
    return MainWindow::tr("'%1' cannot be written; choose a folder that exists and can be written").arg(file);
}

} // namespace

Result<bool> MainWindow::writePicture(const QString& file)
{
    if (!QWidget::grab().save(file, "PNG"))
        return ioError(cannotWrite(file).toStdString());
    return true;
}

void MainWindow::savePicture(const QString& file)
{
    m_writing->submit(
        [this, file, picture = QWidget::grab().toImage()](const std::stop_token&, const WorkSlot::Post&) -> WorkSlot::Delivery {
            if (picture.save(file, "PNG"))
                return {};
            return [this, file] { m_messages->showMessage(cannotWrite(file)); };
        });
}

Result<QStringList> MainWindow::writePictures(const QString& folder)
{
    QStringList written;
    m_pages->show(m_pages->names().first());
    for (int page = 0; page < m_details->count(); ++page) {
        m_details->setCurrentIndex(page);
        QCoreApplication::processEvents();
        const QString name = page == 0 ? QStringLiteral("window") : QStringLiteral("window-page-%1").arg(page + 1);
        const QString file = QDir(folder).filePath(name + QStringLiteral(".png"));
        if (const auto done = writePicture(file); !done)
            return done.error();
        written << file;
    }
    m_details->setCurrentIndex(0);
    for (const QString& page : m_pages->names().mid(1)) {
        m_pages->show(page);
        QCoreApplication::processEvents();
        while (m_batchDesk->busy())
            QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
        const QString file = QDir(folder).filePath(page + QStringLiteral(".png"));
        if (const auto done = writePicture(file); !done)
            return done.error();
        written << file;
    }
    m_pages->show(m_pages->names().first());
    return written;
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (event->mimeData()->hasUrls())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event)
{
    QStringList files;
    for (const QUrl& url : event->mimeData()->urls()) {
        if (url.isLocalFile())
            files << url.toLocalFile();
    }
    if (CompareDesk::takes(files))
        compare(files[0], files[1]);
    else if (!files.isEmpty() && !m_runsDesk->take(files))
        openFiles(files);
    event->acceptProposedAction();
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    m_session->stop();
    delete std::exchange(m_sessionDesk, nullptr); // writes what waits
    QMainWindow::closeEvent(event);
}

void MainWindow::chooseFile()
{
    const QString file = QFileDialog::getOpenFileName(this, tr("Open a model, cluster, plan or profile"), {},
                                                      tr("Models, clusters, plans, profiles (*.json *.jsonl);;All files (*)"));
    if (!file.isEmpty())
        m_session->open(file);
}

void MainWindow::choosePicture()
{
    const QString file = QFileDialog::getSaveFileName(this, tr("Save a picture"), QStringLiteral("loadline.png"), tr("Pictures (*.png)"));
    if (file.isEmpty())
        return;
    savePicture(file);
}

void MainWindow::showPalette()
{
    std::vector<QAction*> actions;
    for (QAction* action : m_actions->findChildren<QAction*>()) {
        if (action != m_actions->palette)
            actions.push_back(action);
    }
    if (m_palette == nullptr)
        m_palette = new CommandPalette(this);
    m_palette->openWith(actions);
}

void MainWindow::showKeys()
{
    const auto found = m_actions->findChildren<QAction*>();
    const KeyGroup line{tr("On the budget line"),
                        {{tr("arrows"), tr("0.1 GiB; with Shift 0.01 GiB")},
                         {tr("Page up, Page down"), tr("1 GiB")},
                         {tr("Home, End"), tr("least feasible, the device")},
                         {tr("Return"), tr("type a value")},
                         {tr("Ctrl"), tr("no rest at steps while dragging")},
                         {tr("Esc"), tr("back, during a drag")}}};
    ShortcutSheet(std::vector<KeyGroup>{keysOf(tr("Commands"), {found.begin(), found.end()}), line}, this).exec();
}

void MainWindow::showAbout()
{
    QMessageBox::about(this, tr("About Loadline"),
                       tr("Loadline %1\nPlans sharded data-parallel training under a memory budget.\nGPL-3.0-or-later")
                           .arg(QApplication::applicationVersion()));
}

} // namespace loadline
