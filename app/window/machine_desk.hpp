// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/session/session.hpp"
#include "app/session/worker.hpp"
#include "core/cost/profile.hpp"
#include "core/exchange/verdict.hpp"

#include <QObject>

namespace loadline {

class LinksPage;
class ProfilePage;
class RunPage;

/// Measures on this machine: joins one worker process to the profile, links and run pages. One thing at a time, because two would
/// disturb each other's times.
class MachineDesk : public QObject {
    Q_OBJECT
public:
    enum class Task { None, Profile, Links, Run };

    MachineDesk(Session* session, ProfilePage* profile, LinksPage* links, RunPage* run, QObject* parent);

    /// A newly committed plan: what there is to measure and to run.
    void setAnswer(const PlanAnswerPtr& answer);
    /// A profile that the plan uses; null: estimates.
    void setProfile(const std::shared_ptr<const Profile>& profile);
    /// Asks once which devices there are.
    void look();

    void startProfile();
    void startLinks();
    void startRun();
    void cancel();
    /// Writes what is measured to a file.
    void save(const QString& file);
    void use();
    void calibrate();
    /// A cluster of this machine's own processors with as many ranks as the profile page says; fp32 and flash attention, which is what
    /// libtorch runs on them. One undo step.
    void planForThisMachine();

    [[nodiscard]] Task task() const { return m_task; }
    [[nodiscard]] Worker& worker() { return *m_worker; }
    [[nodiscard]] const std::shared_ptr<const RunComparison>& comparison() const { return m_comparison; }
    // The newest run: what it told, when it began (seconds since 1970, UTC), and the plan that ran.
    [[nodiscard]] const RunTrace& trace() const { return m_trace; }
    [[nodiscard]] std::int64_t runStarted() const { return m_started; }
    [[nodiscard]] std::int64_t runRanks() const;
    [[nodiscard]] const std::string& runPlan() const { return m_plan; }
    /// Operators and links measured in this window, as one profile; empty if nothing was.
    [[nodiscard]] std::optional<Profile> measured() const;

signals:
    void failed(const QString& sentence);
    /// A run has ended, however.
    void runEnded();

private:
    void start(Task task, const QString& verb, const std::string& request);
    void take(const WorkerEvent& event);
    void takeLine(const std::string& line);
    void end(const WorkerEnd& end);
    void endRun(const WorkerEnd& end);
    void showHindrances();
    void showSubjects();
    void takeDevice(const WorkerDevice& device);
    [[nodiscard]] QString profileFile(const QString& name) const;
    void keep(const Profile& profile, const QString& file);

    Session* m_session;
    ProfilePage* m_profilePage;
    LinksPage* m_linksPage;
    RunPage* m_runPage;
    Worker* m_worker;
    Worker* m_describer;
    bool m_looked = false;
    std::vector<WorkerDevice> m_devices;
    Task m_task = Task::None;
    PlanAnswerPtr m_answer; ///< newest committed
    PlanAnswerPtr m_ran;    ///< of the newest run
    std::string m_header;   ///< first line of the profile that is coming in
    std::optional<ProfileHeader> m_measuredHeader;
    std::vector<OperatorRow> m_operators;
    std::vector<LinkRow> m_links;
    std::vector<OverlapRow> m_overlaps;
    std::vector<StepRow> m_steps;
    RunTrace m_trace;
    std::int64_t m_started = 0;
    std::string m_plan;
    std::shared_ptr<const RunComparison> m_comparison;
    bool m_resultSaid = false;
};

} // namespace loadline
