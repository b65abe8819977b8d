// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/session/answer.hpp"
#include "app/session/documents.hpp"
#include "app/session/history.hpp"
#include "app/session/known_plans.hpp"
#include "app/session/work_slot.hpp"

#include <QObject>

#include <map>
#include <optional>

class QTimer;

namespace loadline {

/// What is open in one window: inputs, their undo history, the newest answer, and the workers that make answers. All
/// members are called on the GUI thread and return at once; results come by signals.
class Session : public QObject {
    Q_OBJECT
public:
    explicit Session(QObject* parent = nullptr);
    ~Session() override;

    /// Reads a model, cluster, plan or profile (file or bundled name) and plans with it; failure changes nothing but says why.
    void open(const QString& fileOrName);
    void setCluster(const QString& fileOrName);
    void setSequence(qint64 tokens);
    void setBatch(const QString& batch); ///< "auto" or a number
    void setPrecision(const QString& name);
    void setGranularity(int most);
    /// Any other setting, as one undo step of this name; the model and the budget stay.
    void setOptions(const QString& step, RequestOptions options);
    void setProfile(const QString& file); ///< empty: back to estimates
    /// What lowers the least budget, as WayOut says it ("granularity 8 + batch 1"; empty: nothing), and a budget that then fits: one step.
    void takeWayOut(const QString& what, Bytes budget);
    /// A cluster of this machine's processors: with it fp32 and flash attention, which is what libtorch runs there.
    void setMachine(const Cluster& cluster, const QString& file);
    /// Inputs as they were saved, with their undo history; no undo step.
    void restore(Inputs inputs, History<Inputs> history);

    /// While a hand moves: asks for a plan at `budget`, changes no state.
    void previewBudget(Bytes budget);
    /// One undo step. `repeated` steps (held key, wheel) that follow each other are one.
    void commitBudget(Bytes budget, bool repeated = false);
    /// Back to the plan of the committed budget.
    void cancelPreview();

    void undo();
    void redo();
    /// Undoes or redoes until `done` steps are in force.
    void goTo(std::size_t done);
    /// Stops all work and delivers nothing more; for closing.
    void stop();

    [[nodiscard]] const Inputs& inputs() const { return m_inputs; }
    [[nodiscard]] int granularity() const { return mostGranularity(m_inputs.options.granularity); }
    [[nodiscard]] const History<Inputs>& history() const { return m_history; }
    [[nodiscard]] PlanAnswerPtr answer() const { return m_answer; }       ///< newest, preview or not
    [[nodiscard]] PlanAnswerPtr committed() const { return m_committed; } ///< of the inputs, once it is there
    /// True when the committed answer belongs to the inputs as they are.
    [[nodiscard]] bool settled() const { return m_committed && m_committed->inputs == m_inputs && !m_previewing; }
    [[nodiscard]] TradeOffAnswerPtr tradeOff(int granularity) const; ///< null until it is computed
    /// All stairs are there.
    [[nodiscard]] bool idle() const { return settled() && !m_background->busy() && !m_opening->busy(); }
    [[nodiscard]] WorkSlot& searchSlot() { return *m_search; }
    /// Plans known at other budgets: a move to one of them starts no search.
    [[nodiscard]] const KnownPlans& known() const { return *m_known; }

signals:
    void inputsChanged();
    void historyChanged();
    /// A new answer to show; `preview` while a hand moves.
    void answered(const loadline::PlanAnswerPtr& answer, bool preview);
    void tradeOffChanged(int granularity);
    /// A search has taken longer than feels instant (0.1 s), and then that it is over.
    void searchingChanged(bool searching);
    void failed(const QString& message);
    /// A profile was opened or is used anew; null: estimates.
    void profileOpened(const std::shared_ptr<const loadline::Profile>& profile);

private:
    using ModelPtr = std::shared_ptr<const Model>;
    void change(const QString& name, Inputs next, const QString& merge = QString());
    void adopt(Inputs next);
    void search(const Inputs& asked, bool preview);
    void accept(const PlanAnswerPtr& answer, bool preview);
    void showPreview();
    void watchSearch(bool busy);
    void fillKnown();
    void addRests(const TradeOffAnswer& stair);
    void refuse(const Error& error, const Inputs& asked, bool preview);
    void settle(const PlanAnswerPtr& answer);
    void computeTradeOffs();
    void takeModel(const ModelPtr& model, const QString& name);
    void takeCluster(const Cluster& cluster, const QString& name);
    void takePlan(const Inputs& inputs, const QString& name);
    void takeProfile(const OpenedProfile& opened);

    Inputs m_inputs;
    History<Inputs> m_history;
    PlanAnswerPtr m_answer;
    PlanAnswerPtr m_committed;
    bool m_previewing = false;
    std::string m_tradeOffKey; ///< of what `m_tradeOffs` belong to
    std::map<int, TradeOffAnswerPtr> m_tradeOffs;
    WorkSlot* m_search;
    WorkSlot* m_background;
    WorkSlot* m_opening;
    WorkSlot* m_filling;
    std::shared_ptr<KnownPlans> m_known; ///< shared with the jobs
    QTimer* m_frame;                     ///< runs while no further preview may be shown
    QTimer* m_patience;                  ///< runs while a search is young
    PlanAnswerPtr m_preview;             ///< waits for the next frame
    std::optional<Bytes> m_device;       ///< memory of the cluster opened last
    bool m_saidSearching = false;
};

} // namespace loadline
