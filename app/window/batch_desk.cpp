// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/batch_desk.hpp"

#include "views/charts/batch_map.hpp"
#include "views/pages/batch_page.hpp"
#include "views/panels/work_row.hpp"

namespace loadline {
namespace {

constexpr std::int64_t kMostAccumulation = 32; ///< micro-steps; beyond, only the optimizer step is spread thinner

/// The question without what the surface varies.
Inputs kindOf(Inputs inputs)
{
    inputs.options.batch.clear();
    inputs.options.accumulation.clear();
    inputs.options.globalBatch.reset();
    return inputs;
}

} // namespace

BatchDesk::BatchDesk(Session* session, BatchPage* page, QObject* parent)
    : QObject(parent), m_session(session), m_page(page), m_slot(new WorkSlot(this, WorkSlot::Priority::Background))
{
    connect(page, &BatchPage::startAsked, this, &BatchDesk::start);
    connect(page, &BatchPage::cancelAsked, this, &BatchDesk::cancel);
    connect(page, &BatchPage::cellChosen, this, &BatchDesk::choose);
    page->work()->setHindrance(tr("There is no plan yet."));
}

void BatchDesk::stop()
{
    m_slot->clear();
}

void BatchDesk::setAnswer(const PlanAnswerPtr& answer)
{
    m_answer = answer;
    m_page->work()->setHindrance({});
    const Setup& setup = answer->outcome->plan ? answer->outcome->plan->table.setup : answer->resolved.request.setup;
    m_page->map()->setShown(setup.batch, setup.accumulation);
    if (m_has && kindOf(answer->inputs) == m_asked)
        return;
    m_has = false;
    m_slot->clear();
    m_page->work()->setWorking(false);
    m_page->setSurface(nullptr);
    if (m_seen)
        start();
}

void BatchDesk::setSeen(bool seen)
{
    m_seen = seen;
    if (seen && !m_has && m_answer)
        start();
}

void BatchDesk::start()
{
    if (!m_answer)
        return;
    m_has = true;
    m_asked = kindOf(m_answer->inputs);
    m_page->setSurface(nullptr);
    m_page->work()->setWorking(true);
    m_page->work()->setProgress(0, tr("searching every batch"), std::nullopt);
    m_slot->clear();
    m_slot->submit([this, answer = m_answer](const std::stop_token& stop, const WorkSlot::Post& post) -> WorkSlot::Delivery {
        PlanRequest request = answer->resolved.request;
        request.limits.stop = stop;
        auto surface = batchSurface(std::move(request), kMostAccumulation, [this, &post](double share) {
            post([this, share] { m_page->work()->setProgress(share, tr("searching every batch"), std::nullopt); });
        });
        if (!surface)
            return [this, message = QString::fromStdString(surface.error().message)] {
                m_page->work()->setWorking(false);
                emit failed(message);
            };
        return [this, made = std::make_shared<const BatchSurface>(*std::move(surface))] { take(made); };
    });
}

void BatchDesk::take(const std::shared_ptr<const BatchSurface>& surface)
{
    m_page->work()->setWorking(false);
    m_page->setSurface(surface);
}

void BatchDesk::cancel()
{
    m_slot->clear();
    m_page->work()->setWorking(false);
    m_page->work()->setSentence(tr("Cancelled."), WorkRow::Outcome::Neutral);
}

void BatchDesk::choose(qint64 batch, qint64 accumulation)
{
    RequestOptions options = m_session->inputs().options;
    options.batch = std::to_string(batch);
    options.accumulation = accumulation == 1 ? std::string() : std::to_string(accumulation);
    options.globalBatch.reset();
    m_session->setOptions(tr("Batch %1 x %2").arg(batch).arg(accumulation), options);
}

} // namespace loadline
