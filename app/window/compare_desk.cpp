// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/compare_desk.hpp"

#include "app/session/documents.hpp"
#include "core/exchange/compare.hpp"
#include "core/plan/planner.hpp"
#include "core/store/store.hpp"
#include "views/format/text.hpp"
#include "views/pages/compare_page.hpp"

#include <QFile>
#include <QFileInfo>

#include <algorithm>
#include <array>

namespace loadline {
namespace {

/// Settings without which figures stand for different work.
constexpr std::array<std::string_view, 5> kIncomparable{"model:", "device:", "batch:", "sequence:", "precision:"};

PlanPicturePtr pictureOf(const PlanDocument& document)
{
    auto picture = std::make_shared<PlanPicture>();
    picture->outcome = std::make_shared<const PlanOutcome>(document.outcome);
    if (const auto& plan = picture->outcome->plan)
        picture->timeline = std::make_shared<const Timeline>(playTimeline(plan->table, plan->choice));
    picture->device = document.setup.cluster.device.memory;
    return picture;
}

constexpr int kStairBudgets = 60; ///< across the range of the chart

std::shared_ptr<const TradeOffPicture> tradeOffOf(const PlanDocument& document)
{
    if (!document.outcome.plan)
        return nullptr;
    const auto planner = Planner::prepare(document.outcome.plan->table, document.pins);
    if (!planner)
        return nullptr; // pins that a search can no longer hold: the plan stands, its stair does not
    auto picture = std::make_shared<TradeOffPicture>();
    picture->stair = planner->tradeOff(kStairBudgets);
    picture->device = document.setup.cluster.device.memory;
    return picture;
}

Result<PlanDocument> documentNamed(const QString& name, const QString& storePath)
{
    if (QFileInfo::exists(name)) {
        auto plan = loadPlan(name.toStdString());
        return plan ? Result<PlanDocument>(std::move(plan->document)) : Result<PlanDocument>(plan.error());
    }
    const std::string words = name.toStdString();
    if (storePath.isEmpty() || !QFileInfo::exists(storePath))
        return invalidInput("'" + words + "' is no file, and there are no saved sessions; give two plan files");
    StoreOptions options;
    options.readOnly = true;
    auto store = Store::open(storePath.toStdString(), options);
    if (!store)
        return store.error();
    const auto id = store->findSession(words);
    if (!id)
        return id.error();
    const auto session = store->session(*id);
    if (!session)
        return session.error();
    if (session->plan.empty())
        return invalidInput("session '" + words + "' has no plan yet; open it, and it is planned");
    auto plan = readPlan(session->plan, "session '" + words + "'");
    return plan ? Result<PlanDocument>(std::move(plan->document)) : Result<PlanDocument>(plan.error());
}

} // namespace

CompareDesk::CompareDesk(ComparePage* page, QObject* parent) : QObject(parent), m_page(page), m_slot(new WorkSlot(this)) {}

bool CompareDesk::takes(const QStringList& files)
{
    const auto isPlan = [](const QString& name) {
        QFile file(name);
        return file.open(QIODevice::ReadOnly) && file.read(4096).contains("\"loadline.plan/");
    };
    return files.size() == 2 && isPlan(files[0]) && isPlan(files[1]);
}

void CompareDesk::setAnswer(const PlanAnswerPtr& answer)
{
    if (answer == m_answer)
        return;
    m_before = m_answer;
    m_answer = answer;
    m_stale = true;
    if (m_page->isVisible())
        refresh();
}

void CompareDesk::setPinned(const PlanAnswerPtr& pinned)
{
    m_pinned = pinned;
    m_asked = m_asked && !pinned; // who pins wants to see that one
    m_stale = true;
    if (m_page->isVisible())
        refresh();
}

void CompareDesk::refresh()
{
    if (m_asked || !m_stale)
        return;
    m_stale = false;
    const PlanAnswerPtr& a = m_pinned ? m_pinned : m_before;
    if (!a || !m_answer) {
        m_page->clear();
        return;
    }
    show(documentOf(*a), m_pinned ? tr("pinned plan") : tr("before the last change"), documentOf(*m_answer), tr("this plan"));
}

void CompareDesk::openPair(const QString& a, const QString& b, const QString& storePath)
{
    m_asked = true;
    m_slot->submit([this, a, b, storePath](const std::stop_token&, const WorkSlot::Post&) -> WorkSlot::Delivery {
        const auto first = documentNamed(a, storePath);
        const auto second = documentNamed(b, storePath);
        if (!first || !second) {
            const QString sentence = text((first ? second.error() : first.error()).message);
            return [this, sentence] {
                m_asked = false;
                emit failed(sentence);
            };
        }
        return [this, a, b, first = *first, second = *second] {
            show(first, a.section(QLatin1Char('/'), -1), second, b.section(QLatin1Char('/'), -1));
            emit opened();
        };
    });
}

void CompareDesk::show(const PlanDocument& a, const QString& nameA, const PlanDocument& b, const QString& nameB)
{
    const PlanComparison comparison = comparePlans(a, b);
    QStringList settings;
    QStringList warnings;
    for (const std::string& setting : comparison.settings) {
        settings << text(setting);
        const auto starts = [&](std::string_view what) { return setting.starts_with(what); };
        if (std::any_of(kIncomparable.begin(), kIncomparable.end(), starts))
            warnings << text(setting);
    }
    m_page->setSides({pictureOf(a), nameA}, {pictureOf(b), nameB}, settings, warnings);
    m_page->setTradeOffs(nullptr, nullptr);
    askTradeOffs(a, b);
}

void CompareDesk::askTradeOffs(const PlanDocument& a, const PlanDocument& b)
{
    m_slot->submit([this, a, b](const std::stop_token&, const WorkSlot::Post&) -> WorkSlot::Delivery {
        return [this, first = tradeOffOf(a), second = tradeOffOf(b)] { m_page->setTradeOffs(first, second); };
    });
}

} // namespace loadline
