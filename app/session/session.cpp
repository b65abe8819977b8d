// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/session.hpp"

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/cluster/library.hpp"
#include "core/cost/profile.hpp"
#include "core/model/reader.hpp"

#include <QTimer>

#include <algorithm>
#include <utility>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace loadline {
namespace {

constexpr int kFrame = 16;     ///< ms: answers are shown once a frame
constexpr int kPatience = 100; ///< ms: what is answered sooner feels instant

/// Where the handle rests at a step of the trade-off: the next hundredth of a GiB.
Bytes restAt(Bytes step)
{
    constexpr std::int64_t kHundredths = 100;
    const std::int64_t parts = ((step.count() % (1LL << 30)) * kHundredths + (1LL << 30) - 1) >> 30;
    return Bytes((((step.count() >> 30) + parts / kHundredths) << 30) + (((parts % kHundredths) << 30) / kHundredths));
}

QString gib(Bytes bytes)
{
    return QString::fromStdString(formatBytes(bytes));
}

} // namespace

Session::Session(QObject* parent)
    : QObject(parent), m_search(new WorkSlot(this)), m_background(new WorkSlot(this)), m_opening(new WorkSlot(this)),
      m_filling(new WorkSlot(this, WorkSlot::Priority::Background)), m_known(std::make_shared<KnownPlans>()), m_frame(new QTimer(this)),
      m_patience(new QTimer(this))
{
    for (QTimer* timer : {m_frame, m_patience})
        timer->setSingleShot(true);
    m_frame->setTimerType(Qt::PreciseTimer);
    connect(m_frame, &QTimer::timeout, this, &Session::showPreview);
    connect(m_search, &WorkSlot::busyChanged, this, &Session::watchSearch);
    connect(m_patience, &QTimer::timeout, this, [this] {
        m_saidSearching = true;
        emit searchingChanged(true);
    });
}

Session::~Session()
{
    stop();
}

void Session::stop()
{
    for (WorkSlot* slot : {m_search, m_background, m_opening, m_filling})
        slot->clear();
}

void Session::open(const QString& fileOrName)
{
    m_opening->submit([this, name = fileOrName](const std::stop_token&, const WorkSlot::Post&) -> WorkSlot::Delivery {
        auto opened = openDocument(name.toStdString());
        if (!opened)
            return [this, message = QString::fromStdString(opened.error().message)] { emit failed(message); };
        if (auto* model = std::get_if<ModelPtr>(&*opened))
            return [this, model = *model, name] { takeModel(model, name); };
        if (auto* cluster = std::get_if<Cluster>(&*opened))
            return [this, cluster = *cluster, name] { takeCluster(cluster, name); };
        if (auto* profile = std::get_if<OpenedProfile>(&*opened))
            return [this, profile = *profile] { takeProfile(profile); };
        const auto inputs = inputsOf(std::get<SavedPlan>(*opened), dataFolder().toStdString());
        if (!inputs)
            return [this, message = QString::fromStdString(inputs.error().message)] { emit failed(message); };
        return [this, inputs = *inputs, name] { takePlan(inputs, name); };
    });
}

void Session::setCluster(const QString& fileOrName)
{
    m_opening->submit([this, name = fileOrName](const std::stop_token&, const WorkSlot::Post&) -> WorkSlot::Delivery {
        const auto cluster = loadCluster(name.toStdString());
        return
            [this, cluster, name] { cluster ? takeCluster(*cluster, name) : emit failed(QString::fromStdString(cluster.error().message)); };
    });
}

void Session::takeModel(const ModelPtr& model, const QString& name)
{
    const bool first = !m_inputs.model;
    Inputs next = m_inputs;
    next.model = model;
    next.options.model = name.toStdString();
    next.options.sequence.reset(); // the new model's own
    next.options.pins.clear();     // they name the old model's operators
    if (first) {
        if (!m_device) { // no cluster was opened: the bundled one, which is no file
            const auto cluster = resolveCluster(next.options);
            m_device = cluster ? cluster->device.memory : Bytes();
        }
        const auto budget = parseBudget(next.options.budget, *m_device);
        if (!budget) {
            emit failed(QString::fromStdString(budget.error().message));
            return;
        }
        next.budget = *budget;
        adopt(std::move(next));
        return;
    }
    change(tr("Open %1").arg(QString::fromStdString(model->name)), std::move(next));
}

void Session::takeCluster(const Cluster& cluster, const QString& name)
{
    m_known->forget(); // the file may have been another when it was read before
    Inputs next = m_inputs;
    next.options.cluster = name.toStdString();
    next.options.nodes.reset();
    next.options.gpusPerNode.reset();
    const auto usual = [&](Bytes memory) { return parseBudget(RequestOptions().budget, memory); };
    // From the answer, not from the old cluster's file: this is the GUI's thread.
    const Bytes old = m_committed && m_committed->inputs.options.cluster == m_inputs.options.cluster ? m_committed->device : Bytes();
    const bool wasUsual = old > Bytes() && usual(old) && *usual(old) == m_inputs.budget;
    m_device = cluster.device.memory;
    if (const auto budget = usual(cluster.device.memory); budget && (wasUsual || next.budget > cluster.device.memory))
        next.budget = *budget;
    change(tr("Cluster %1").arg(QString::fromStdString(cluster.name)), std::move(next));
}

void Session::takePlan(const Inputs& inputs, const QString& name)
{
    if (!m_inputs.model)
        adopt(inputs);
    else
        change(tr("Open %1").arg(name.section(QLatin1Char('/'), -1)), inputs);
}

void Session::takeProfile(const OpenedProfile& opened)
{
    m_known->forget(); // the file may have been another when it was read before
    emit profileOpened(opened.profile);
    if (!m_inputs.model) {
        emit failed(tr("open a model first; then the profile '%1' can be used for it").arg(QString::fromStdString(opened.path)));
        return;
    }
    Inputs next = m_inputs;
    next.options.profile = opened.path;
    change(tr("Profile of %1").arg(QString::fromStdString(opened.profile->header().device)), std::move(next));
}

void Session::setProfile(const QString& file)
{
    if (file.isEmpty()) {
        Inputs next = m_inputs;
        next.options.profile.clear();
        emit profileOpened(nullptr);
        change(tr("Estimated times"), std::move(next));
        return;
    }
    open(file);
}

void Session::setMachine(const Cluster& cluster, const QString& file)
{
    m_known->forget(); // the file may have been another when it was read before
    Inputs next = m_inputs;
    next.options.cluster = file.toStdString();
    next.options.nodes.reset();
    next.options.gpusPerNode.reset();
    next.options.precision = "fp32";
    next.options.attention = "flash";
    if (const auto budget = parseBudget(RequestOptions().budget, cluster.device.memory))
        next.budget = *budget;
    change(tr("Plan for this machine"), std::move(next));
}

void Session::restore(Inputs inputs, History<Inputs> history)
{
    m_history = std::move(history);
    adopt(std::move(inputs));
}

void Session::takeWayOut(const QString& what, Bytes budget)
{
    Inputs next = m_inputs;
    next.budget = budget;
    for (const QString& change : what.split(QStringLiteral(" + "), Qt::SkipEmptyParts)) {
        const QStringList words = change.split(QLatin1Char(' '));
        if (words.value(0) == QLatin1String("granularity"))
            next.options.granularity = granularityFlag(words.value(1).toInt());
        else if (words.value(0) == QLatin1String("batch"))
            next.options.batch = words.value(1).toStdString();
        else if (words.value(0) == QLatin1String("recompute"))
            next.options.recompute = "all";
        else if (words.value(1) == QLatin1String("ranks") && m_answer)
            next.options.nodes = words.value(0).toLongLong() / m_answer->resolved.request.setup.cluster.gpusPerNode;
    }
    change(what.isEmpty() ? tr("Budget %1 \u2192 %2").arg(gib(m_inputs.budget), gib(budget)) : tr("Way out: %1").arg(what),
           std::move(next));
}

void Session::setSequence(qint64 tokens)
{
    Inputs next = m_inputs;
    next.options.sequence = tokens;
    change(tr("Sequence %1").arg(tokens), std::move(next));
}

void Session::setBatch(const QString& batch)
{
    Inputs next = m_inputs;
    next.options.batch = batch.toStdString();
    change(tr("Batch %1").arg(batch), std::move(next));
}

void Session::setPrecision(const QString& name)
{
    Inputs next = m_inputs;
    next.options.precision = name.toStdString();
    change(tr("Precision %1").arg(name), std::move(next));
}

void Session::setGranularity(int most)
{
    Inputs next = m_inputs;
    next.options.granularity = granularityFlag(most);
    change(tr("Split granularity %1 \u2192 %2").arg(granularity()).arg(most), std::move(next));
}

void Session::setOptions(const QString& step, RequestOptions options)
{
    Inputs next = m_inputs;
    next.options = std::move(options);
    if (next.options.cluster != m_inputs.options.cluster || next.options.nodes != m_inputs.options.nodes)
        m_known->forget();
    change(step, std::move(next));
}

void Session::previewBudget(Bytes budget)
{
    m_previewing = true;
    Inputs asked = m_inputs;
    asked.budget = budget;
    search(asked, true);
}

void Session::commitBudget(Bytes budget, bool repeated)
{
    m_previewing = false;
    Inputs next = m_inputs;
    next.budget = budget;
    if (next == m_inputs) {
        cancelPreview();
        return;
    }
    change(tr("Budget %1 \u2192 %2").arg(gib(m_inputs.budget), gib(budget)), std::move(next),
           repeated ? QStringLiteral("budget") : QString());
}

void Session::cancelPreview()
{
    m_previewing = false;
    if (m_committed && m_committed->inputs == m_inputs)
        settle(m_committed);
    else if (m_inputs.model)
        search(m_inputs, false);
}

void Session::undo()
{
    if (auto before = m_history.undo())
        adopt(*std::move(before));
}

void Session::redo()
{
    if (auto after = m_history.redo())
        adopt(*std::move(after));
}

void Session::goTo(std::size_t done)
{
    std::optional<Inputs> state;
    while (m_history.done() > done && m_history.canUndo())
        state = m_history.undo();
    while (m_history.done() < done && m_history.canRedo())
        state = m_history.redo();
    if (state)
        adopt(*std::move(state));
}

TradeOffAnswerPtr Session::tradeOff(int granularity) const
{
    const auto found = m_tradeOffs.find(granularity);
    return found == m_tradeOffs.end() ? nullptr : found->second;
}

void Session::change(const QString& name, Inputs next, const QString& merge)
{
    if (next == m_inputs)
        return;
    m_history.push({name, m_inputs, next, merge});
    adopt(std::move(next));
}

void Session::adopt(Inputs next)
{
    m_previewing = false;
    const bool otherModel = next.model != m_inputs.model;
    const bool otherKind = !sameKind(next, m_inputs);
    m_inputs = std::move(next);
    m_preview.reset();
    if (otherKind)
        m_filling->clear();
    if (otherModel) { // answers about the old model are of no use
        m_search->clear();
        m_background->clear();
    }
    emit inputsChanged();
    emit historyChanged();
    if (m_answer && m_answer->inputs == m_inputs && !m_answer->lookedUp)
        settle(m_answer);
    else
        search(m_inputs, false);
}

void Session::search(const Inputs& asked, bool preview)
{
    m_search->submit([this, asked, preview, known = m_known](const std::stop_token& stop, const WorkSlot::Post&) -> WorkSlot::Delivery {
        const auto result = known->answer(asked, preview, stop);
        if (!result)
            return [this, error = result.error(), asked, preview] { refuse(error, asked, preview); };
        return [this, answer = *result, preview] { accept(answer, preview); };
    });
}

void Session::accept(const PlanAnswerPtr& answer, bool preview)
{
    if (answer->inputs == m_inputs && !m_previewing && !answer->lookedUp) {
        settle(answer);
        return;
    }
    if (answer->inputs == m_inputs && !answer->lookedUp)
        m_committed = answer; // a hand moves again already: what to go back to, not what to show
    // Late answers are worth showing while a hand moves, as long as they differ in nothing but the budget.
    Inputs sameBudget = m_inputs;
    sameBudget.budget = answer->inputs.budget;
    if (!preview || !m_previewing || answer->inputs != sameBudget)
        return;
    m_preview = answer;
    if (!m_frame->isActive())
        showPreview();
}

void Session::showPreview()
{
    if (!m_preview)
        return;
    m_answer = std::exchange(m_preview, nullptr);
    m_frame->start(kFrame);
    emit answered(m_answer, true);
}

void Session::watchSearch(bool busy)
{
    if (busy) {
        m_patience->start(kPatience);
        return;
    }
    m_patience->stop();
    if (std::exchange(m_saidSearching, false))
        emit searchingChanged(false);
}

void Session::addRests(const TradeOffAnswer& stair)
{
    Inputs inputs = m_committed->inputs;
    if (stair.granularity != granularity())
        inputs.options.granularity = granularityFlag(stair.granularity);
    std::vector<Bytes> rests;
    rests.reserve(stair.stair.size());
    for (const TradeOffPoint& point : stair.stair)
        rests.push_back(restAt(point.peak));
    if (m_known->addRests(inputs, std::move(rests)))
        fillKnown();
}

void Session::fillKnown()
{
    m_filling->submit(
        [inputs = m_committed->inputs, known = m_known](const std::stop_token& stop, const WorkSlot::Post&) -> WorkSlot::Delivery {
            known->fill(inputs, stop);
#ifdef __GLIBC__
            malloc_trim(0); // what the searches needed is given back
#endif
            return {};
        });
}

void Session::refuse(const Error& error, const Inputs& asked, bool preview)
{
    if (!preview && asked == m_inputs) {
        if (auto before = m_history.dropLast())
            adopt(*std::move(before));
    }
    emit failed(QString::fromStdString(error.message));
}

void Session::settle(const PlanAnswerPtr& answer)
{
    if (m_search->busy()) // what is still asked for is a place where the hand has been
        m_search->clear();
    m_answer = answer;
    m_committed = answer;
    m_preview.reset();
    emit answered(answer, false);
    computeTradeOffs();
    fillKnown();
}

void Session::computeTradeOffs()
{
    const std::string key = tradeOffKey(*m_committed);
    if (key != m_tradeOffKey) {
        m_background->clear();
        m_tradeOffKey = key;
        m_tradeOffs.clear();
        emit tradeOffChanged(granularity());
    }
    // The one on show first, then the slider's others, so that both handles become look-ups.
    std::vector<int> order{granularity()};
    for (const int g : kGranularities) {
        if (g != order.front())
            order.push_back(g);
    }
    m_background->submit([this, key, order, answer = m_committed, known = m_tradeOffs](const std::stop_token& stop,
                                                                                       const WorkSlot::Post& post) -> WorkSlot::Delivery {
        for (const int g : order) {
            const auto have = known.find(g);
            if (have != known.end() && g != order.front())
                continue;
            const auto made = answerTradeOff(*answer, g, have == known.end() ? nullptr : have->second, stop);
            if (!made || stop.stop_requested())
                break;
            post([this, key, stair = *made] {
                if (key != m_tradeOffKey)
                    return;
                m_tradeOffs[stair->granularity] = stair;
                addRests(*stair);
                emit tradeOffChanged(stair->granularity);
            });
        }
        return {};
    });
}

} // namespace loadline
