// SPDX-License-Identifier: GPL-3.0-or-later
// What MainWindow does with answers and with the line.
#include "app/window/actions.hpp"
#include "app/window/batch_desk.hpp"
#include "app/window/choosers.hpp"
#include "app/window/compare_desk.hpp"
#include "app/window/habits.hpp"
#include "app/window/machine_desk.hpp"
#include "app/window/main_window.hpp"
#include "app/window/pictures.hpp"
#include "app/window/pin_edit.hpp"
#include "views/charts/budget_handle.hpp"
#include "views/charts/memory_chart.hpp"
#include "views/charts/trade_off_chart.hpp"
#include "views/format/text.hpp"
#include "views/pages/choice_page.hpp"
#include "views/pages/detail_tabs.hpp"
#include "views/pages/step_page.hpp"
#include "views/panels/fact_strip.hpp"
#include "views/panels/message_bar.hpp"
#include "views/panels/operator_panel.hpp"
#include "views/panels/stop_slider.hpp"

#include <QAction>
#include <QLabel>

namespace loadline {

void MainWindow::joinHandle(BudgetHandle* handle)
{
    connect(handle, &BudgetHandle::grabbed, this, &MainWindow::grab);
    connect(handle, &BudgetHandle::moved, this, &MainWindow::move);
    connect(handle, &BudgetHandle::released, this, [this](Bytes budget) { release(budget, false); });
    connect(handle, &BudgetHandle::stepped, this, &MainWindow::release);
    connect(handle, &BudgetHandle::cancelled, this, [this](Bytes budget) {
        m_dragging = false;
        m_step->holdAxes(false);
        showBudget(budget);
        m_session->cancelPreview();
    });
}

void MainWindow::grab()
{
    m_dragging = true;
    m_reference = m_committed;
    m_step->holdAxes(true);
    m_step->setGhost(m_pinned ? m_pinned : m_committed);
}

void MainWindow::move(Bytes budget)
{
    showBudget(budget);
    m_session->previewBudget(budget);
}

void MainWindow::release(Bytes budget, bool repeated)
{
    m_dragging = false;
    m_step->holdAxes(false);
    showBudget(budget);
    m_session->commitBudget(budget, repeated);
}

void MainWindow::showBudget(Bytes budget)
{
    m_step->memory()->handle()->setBudget(budget);
    m_choice->tradeOff()->setBudget(budget);
}

void MainWindow::showInputs()
{
    const Inputs& inputs = m_session->inputs();
    m_choosers->setInputs(inputs);
    m_choice->slider()->setValue(m_session->granularity());
    if (!m_dragging)
        showBudget(inputs.budget);
    if (inputs.model)
        setWindowTitle(tr("%1 \u2013 Loadline").arg(text(inputs.model->name)));
    const bool sample = text(inputs.options.model) == sampleModel();
    m_state->setText(sample ? tr("Sample model \u00b7 drag the budget line: everything is planned anew") : text(inputs.options.model));
}

void MainWindow::showAnswer(const PlanAnswerPtr& answer, bool preview)
{
    const PlanPicturePtr picture = pictureOf(answer);
    if (!preview) {
        m_step->holdAxes(false);
        if (m_committed && m_committed->outcome != picture->outcome)
            m_reference = m_committed;
        if (picture->plan())
            m_committed = picture;
        m_step->memory()->setTop(memoryAxisTop(*answer, m_actions->wholeDevice->isChecked()));
        showBudget(answer->inputs.budget);
        m_step->setGhost(m_pinned ? m_pinned : picture->plan() ? nullptr : m_committed);
    }
    m_shown = picture;
    if (!preview) {
        m_machine->setAnswer(answer);
        m_compareDesk->setAnswer(answer);
        m_batchDesk->setAnswer(answer);
    }
    if (m_pinned && picture->plan() && m_pinned->plan()->table.setup.model != picture->plan()->table.setup.model)
        m_actions->pin->setChecked(false); // another model's outline would compare nothing
    for (BudgetHandle* handle : {m_step->memory()->handle(), m_choice->tradeOff()->handle()})
        handle->setLimits(answer->least, answer->device);
    m_step->setPicture(picture);
    m_choice->setPicture(picture);
    m_operators->setPicture(picture);
    if (const Plan* plan = picture->plan()) {
        std::vector<QString> pins;
        for (const std::string& pin : pinsByUnit(answer->inputs.options.pins, plan->table))
            pins.push_back(text(pin));
        m_operators->setPins(std::move(pins));
    }
    m_details->setPicture(picture);
    m_facts->setPicture(picture, m_pinned);
    showProblem(*answer);
    const bool automatic = answer->inputs.options.batch == "auto";
    m_choosers->setChosenBatch(automatic && picture->plan() ? picture->plan()->table.setup.batch : 0);
    m_actions->pin->setEnabled(picture->plan() || m_pinned);
}

void MainWindow::showProblem(const PlanAnswer& answer)
{
    const auto& why = answer.outcome->infeasible;
    const QString words = why ? tr("needs %1 at least").arg(bytesText(why->leastBudget)) : QString();
    m_step->memory()->handle()->setProblem(words);
    m_choice->tradeOff()->handle()->setProblem(words);
    if (why)
        m_choice->setInfeasible(&*why, answer.inputs.budget);
    else
        m_choice->setChanges(m_reference ? m_reference->plan() : nullptr, m_shown->plan());
}

void MainWindow::pinUnits(const std::vector<std::size_t>& units, const QString& strategy)
{
    const PlanAnswerPtr answer = m_session->committed();
    if (!answer || !answer->outcome->plan)
        return;
    RequestOptions options = m_session->inputs().options;
    auto pins = withPin(options.pins, answer->outcome->plan->table, units, strategy.toStdString());
    if (!pins) {
        m_messages->showMessage(text(pins.error().message));
        return;
    }
    options.pins = *std::move(pins);
    const QString where =
        units.size() == 1 ? text(answer->outcome->plan->table.units[units.front()].name) : tr("%1 operators").arg(units.size());
    m_session->setOptions(strategy.isEmpty() ? tr("Free %1").arg(where) : tr("Pin %1 to %2").arg(where, strategy), options);
}

void MainWindow::showTradeOff()
{
    const PlanAnswerPtr answer = m_session->committed();
    if (!answer)
        return;
    const TradeOffAnswerPtr stair = m_session->tradeOff(m_session->granularity());
    const Plan* plan = answer->outcome->plan ? &*answer->outcome->plan : nullptr;
    m_choice->setTradeOff(pictureOf(stair, answer->device), plan ? plan->table.setup.batch : answer->resolved.request.setup.batch);
    if (!stair)
        return;
    m_details->setBaselines(stair->baselines);
    std::vector<Bytes> detents;
    for (const TradeOffPoint& point : stair->stair)
        detents.push_back(point.peak);
    for (BudgetHandle* handle : {m_step->memory()->handle(), m_choice->tradeOff()->handle()})
        handle->setDetents(detents);
}

void MainWindow::showSearching(bool searching)
{
    m_facts->setSearching(searching);
    m_step->setVeiled(searching);
}

void MainWindow::coach()
{
    if (habits::coachDone())
        return;
    m_step->memory()->setCoached(true);
    for (BudgetHandle* handle : {m_step->memory()->handle(), m_choice->tradeOff()->handle()}) {
        connect(handle, &BudgetHandle::grabbed, this, &MainWindow::endCoaching, Qt::UniqueConnection);
        connect(handle, &BudgetHandle::stepped, this, &MainWindow::endCoaching, Qt::UniqueConnection);
    }
}

void MainWindow::endCoaching()
{
    m_step->memory()->setCoached(false);
    if (!habits::coachDone())
        habits::setCoachDone();
}

void MainWindow::showHistory()
{
    const auto& history = m_session->history();
    m_actions->undo->setEnabled(history.canUndo());
    m_actions->redo->setEnabled(history.canRedo());
    m_actions->undo->setText(history.canUndo() ? tr("Undo %1").arg(history.undoName()) : tr("Undo"));
    m_actions->redo->setText(history.canRedo() ? tr("Redo %1").arg(history.redoName()) : tr("Redo"));
    m_actions->undo->setToolTip(m_actions->undo->text());
    m_actions->redo->setToolTip(m_actions->redo->text());
}

void MainWindow::pin(bool on)
{
    m_pinned = on && m_shown && m_shown->plan() ? m_shown : nullptr;
    m_pinnedAnswer = m_pinned ? m_session->answer() : nullptr;
    m_compareDesk->setPinned(m_pinnedAnswer);
    m_actions->pin->setText(m_pinned ? tr("Unpin") : tr("Pin"));
    m_step->setGhost(m_pinned);
    m_facts->setPicture(m_shown, m_pinned);
}

} // namespace loadline
