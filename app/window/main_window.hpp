// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/session/session.hpp"
#include "views/models/plan_picture.hpp"

#include <QMainWindow>

#include <optional>

class QLabel;

namespace loadline {

class Actions;
class BatchDesk;
class BatchPage;
class BudgetHandle;
class ChartDesk;
class ChoicePage;
class Choosers;
class CommandPalette;
class DetailTabs;
class CompareDesk;
class ComparePage;
class ExportDesk;
class FactStrip;
class LinksPage;
class MachineDesk;
class MessageBar;
class OperatorPanel;
class Pages;
class ProfilePage;
class RunPage;
class RunsDesk;
class SessionDesk;
class SessionsPage;
class StepPage;
class ViewHistory;

/// Makes the pages and joins their signals to the session. The one place that knows all of them.
class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    explicit MainWindow(QWidget* parent = nullptr);
    ~MainWindow() override;

    [[nodiscard]] static QString sampleModel(); ///< a bundled name
    void openFiles(const QStringList& files);
    void setTheme(const QString& name);
    /// True once everything that was asked for is on screen.
    [[nodiscard]] bool settled() const;
    /// Writes one PNG a page into an existing folder; the paths written. Errors name the file.
    Result<QStringList> writePictures(const QString& folder);
    Result<bool> writePicture(const QString& file);
    /// The window as it is, into a file; compressing and writing happen on a worker. A failure is said in the message bar.
    void savePicture(const QString& file);

    [[nodiscard]] Session& session() { return *m_session; }
    [[nodiscard]] Actions& actions() { return *m_actions; }
    [[nodiscard]] Choosers& choosers() { return *m_choosers; }
    [[nodiscard]] StepPage& stepPage() { return *m_step; }
    [[nodiscard]] ChoicePage& choicePage() { return *m_choice; }
    [[nodiscard]] OperatorPanel& operators() { return *m_operators; }
    [[nodiscard]] FactStrip& facts() { return *m_facts; }
    [[nodiscard]] DetailTabs& details() { return *m_details; }
    [[nodiscard]] Pages& pages() { return *m_pages; }
    [[nodiscard]] ProfilePage& profilePage() { return *m_profile; }
    [[nodiscard]] LinksPage& linksPage() { return *m_links; }
    [[nodiscard]] RunPage& runPage() { return *m_run; }
    [[nodiscard]] ComparePage& comparePage() { return *m_compare; }
    /// Shows a newcomer what to do with the line, until the line was moved once; then never again.
    void coach();
    /// Keeps everything in the store at `file` from now on.
    void keepIn(const QString& file);
    /// Opens the session that was changed last; the sample if there is none.
    void openLast();
    [[nodiscard]] SessionsPage& sessionsPage() { return *m_sessions; }
    [[nodiscard]] SessionDesk* sessionDesk() { return m_sessionDesk; } ///< null: nothing is kept
    /// Two plan files or saved sessions side by side.
    void compare(const QString& a, const QString& b);
    [[nodiscard]] BatchPage& batchPage() { return *m_batch; }
    [[nodiscard]] ExportDesk& exports() { return *m_exports; }
    [[nodiscard]] ChartDesk& charts() { return *m_charts; }
    [[nodiscard]] MachineDesk& machine() { return *m_machine; }
    [[nodiscard]] QString message() const;

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void closeEvent(QCloseEvent* event) override;

private:
    void buildLayout();
    void joinSession();
    void joinActions();
    void addPages();
    void joinPages();
    void joinCharts();
    void joinHistories();
    void recordView();
    void fillSteps();
    void pinUnits(const std::vector<std::size_t>& units, const QString& strategy);
    void joinHandle(BudgetHandle* handle);
    void showAnswer(const PlanAnswerPtr& answer, bool preview);
    void showInputs();
    void showTradeOff();
    void showHistory();
    void showSearching(bool searching);
    void endCoaching();
    void showBudget(Bytes budget);
    void showProblem(const PlanAnswer& answer);
    void grab();
    void move(Bytes budget);
    void release(Bytes budget, bool repeated);
    void pin(bool on);
    void chooseFile();
    void choosePicture();
    void showPalette();
    void showKeys();
    void showAbout();

    Session* m_session;
    WorkSlot* m_writing;
    Actions* m_actions;
    Choosers* m_choosers = nullptr;
    FactStrip* m_facts = nullptr;
    MessageBar* m_messages = nullptr;
    OperatorPanel* m_operators = nullptr;
    StepPage* m_step = nullptr;
    ChoicePage* m_choice = nullptr;
    DetailTabs* m_details = nullptr;
    Pages* m_pages = nullptr;
    ProfilePage* m_profile = nullptr;
    LinksPage* m_links = nullptr;
    RunPage* m_run = nullptr;
    MachineDesk* m_machine = nullptr;
    ComparePage* m_compare = nullptr;
    CompareDesk* m_compareDesk = nullptr;
    RunsDesk* m_runsDesk = nullptr;
    SessionsPage* m_sessions = nullptr;
    SessionDesk* m_sessionDesk = nullptr;
    QString m_storeFile; ///< empty: nothing is kept
    ChartDesk* m_charts = nullptr;
    BatchPage* m_batch = nullptr;
    ViewHistory* m_views = nullptr;
    std::optional<std::size_t> m_unit; ///< the operator that was selected last
    BatchDesk* m_batchDesk = nullptr;
    ExportDesk* m_exports = nullptr;
    CommandPalette* m_palette = nullptr; ///< once it was asked for
    QLabel* m_hover = nullptr;
    QLabel* m_state = nullptr;
    QLabel* m_saved = nullptr;
    PlanPicturePtr m_shown;     ///< newest picture
    PlanPicturePtr m_reference; ///< what "what changed" compares with: the plan before this change
    PlanPicturePtr m_committed; ///< of the inputs as committed last
    PlanPicturePtr m_pinned;
    PlanAnswerPtr m_pinnedAnswer;
    bool m_dragging = false;
};

} // namespace loadline
