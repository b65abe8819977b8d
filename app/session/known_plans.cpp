// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/known_plans.hpp"

#include "core/cost/cost_table.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace loadline {
namespace {

constexpr std::int64_t kPerGib = 10; ///< steps of a hand in one GiB

/// Of `parts` steps a GiB, rounded down like the handle's.
Bytes stepAt(std::int64_t part)
{
    return Bytes(((part / kPerGib) << 30) + (((part % kPerGib) << 30) / kPerGib));
}

/// Whole steps strictly between two budgets, at most about `count` of them, coarse ones first: a usable answer everywhere soon.
std::vector<Bytes> stepsBetween(Bytes low, Bytes high, std::size_t count)
{
    std::vector<Bytes> all;
    const std::int64_t first = (low.count() * kPerGib >> 30) + 1;
    const std::int64_t last = high.count() * kPerGib >> 30;
    const std::int64_t stride = (last - first) / static_cast<std::int64_t>(count) + 1;
    for (std::int64_t part = first; part <= last; part += stride) {
        if (stepAt(part) > low && stepAt(part) < high)
            all.push_back(stepAt(part));
    }
    std::size_t gap = 1;
    while (gap < all.size())
        gap *= 2;
    std::vector<Bytes> order;
    if (!all.empty())
        order.push_back(all.front());
    for (; gap > 0; gap /= 2) {
        for (std::size_t i = gap; i < all.size(); i += 2 * gap)
            order.push_back(all[i]);
    }
    return order;
}

/// Above it the plan no longer changes at the chosen batch; 0 if that cannot be said.
Bytes mostBudgetOf(const PlanRequest& request, const Setup& shown)
{
    Setup setup = shown;
    if (request.recompute == Recompute::Auto)
        setup.recomputedBlocks = 0; // as memory grows, the last block stops being recomputed
    auto table = buildCostTable(setup);
    if (!table)
        return {};
    const auto planner = Planner::prepare(*std::move(table), request.pins);
    return planner ? planner->mostBudget() : Bytes();
}

} // namespace

bool sameKind(const Inputs& a, const Inputs& b)
{
    Inputs kind = a;
    kind.budget = b.budget;
    kind.options.granularity = b.options.granularity;
    return kind == b;
}

struct KnownPlans::Entry {
    Entry(Inputs asked, ResolvedRequest made) : inputs(std::move(asked)), resolved(std::move(made)), search(resolved.request) {}

    const Inputs inputs; ///< budget 0
    const ResolvedRequest resolved;
    Replanner search;     ///< shared with the frontier
    std::mutex searching; ///< held by whoever searches; never while `mutex` is

    std::mutex mutex; ///< of what follows
    std::shared_ptr<const PlanFrontier> frontier;
    std::optional<Bytes> least;
    std::map<std::pair<std::int64_t, std::int64_t>, Bytes> most; ///< by batch and accumulation
    std::vector<Bytes> rests;
    bool complete = false;

    std::shared_ptr<const PlanFrontier> known()
    {
        const std::lock_guard lock(mutex);
        return frontier;
    }
    Result<PlanOutcome> plan(Bytes budget, const SearchLimits& limits)
    {
        const std::lock_guard lock(searching);
        return search.plan(budget, limits);
    }
    Result<bool> learn(PlanFrontier& into, Bytes budget, const SearchLimits& limits)
    {
        const std::lock_guard lock(searching);
        return into.learnAt(budget, limits);
    }
    void rest()
    {
        const std::lock_guard lock(searching);
        search.forget();
    }
    Bytes leastOf(const PlanOutcome& outcome, const SearchLimits& limits);
    Bytes mostOf(const Setup& shown);
};

// The lock is not held while something is worked out: the window asks what is known.

Bytes KnownPlans::Entry::leastOf(const PlanOutcome& outcome, const SearchLimits& limits)
{
    std::optional<Bytes> known;
    if (outcome.infeasible && !outcome.cancelled) {
        known = outcome.infeasible->leastBudget;
    } else {
        const std::lock_guard lock(mutex);
        known = least;
    }
    if (!known) {
        // What a search says that has next to nothing: it names the least that any choice needs.
        const auto none = plan(Bytes(1), limits);
        if (none && !none->cancelled && none->infeasible)
            known = none->infeasible->leastBudget;
    }
    const std::lock_guard lock(mutex);
    least = known;
    return known.value_or(Bytes());
}

Bytes KnownPlans::Entry::mostOf(const Setup& shown)
{
    const std::pair batch(shown.batch, shown.accumulation);
    {
        const std::lock_guard lock(mutex);
        if (const auto known = most.find(batch); known != most.end())
            return known->second;
    }
    const Bytes found = mostBudgetOf(resolved.request, shown);
    const std::lock_guard lock(mutex);
    return most[batch] = found;
}

KnownPlans::KnownPlans() = default;
KnownPlans::~KnownPlans() = default;

KnownPlans::EntryPtr KnownPlans::findEntry(const Inputs& inputs) const
{
    Inputs key = inputs;
    key.budget = Bytes();
    const std::lock_guard lock(m_mutex);
    const auto found = std::find_if(m_entries.begin(), m_entries.end(), [&](const EntryPtr& entry) { return entry->inputs == key; });
    return found == m_entries.end() ? nullptr : *found;
}

Result<KnownPlans::EntryPtr> KnownPlans::entryOf(const Inputs& inputs)
{
    if (EntryPtr entry = findEntry(inputs))
        return entry;
    auto resolved = resolveRequest(inputs.options, inputs.model);
    if (!resolved)
        return resolved.error();
    Inputs key = inputs;
    key.budget = Bytes();
    auto entry = std::make_shared<Entry>(std::move(key), *std::move(resolved));
    const std::lock_guard lock(m_mutex);
    m_entries.erase(
        std::remove_if(m_entries.begin(), m_entries.end(),
                       [&](const EntryPtr& other) { return !sameKind(other->inputs, inputs) || other->inputs == entry->inputs; }),
        m_entries.end());
    m_entries.push_back(entry);
    for (auto& [asked, budgets] : m_rests) {
        if (asked == entry->inputs)
            entry->rests = budgets;
    }
    m_rests.erase(std::remove_if(m_rests.begin(), m_rests.end(),
                                 [&](const auto& rests) { return !sameKind(rests.first, inputs) || rests.first == entry->inputs; }),
                  m_rests.end());
    return entry;
}

void KnownPlans::forget()
{
    const std::lock_guard lock(m_mutex);
    m_entries.clear();
    m_rests.clear();
}

bool KnownPlans::knows(const Inputs& inputs) const
{
    const EntryPtr entry = findEntry(inputs);
    const auto frontier = entry ? entry->known() : nullptr;
    const auto gap = frontier ? frontier->gapAt(inputs.budget) : std::nullopt;
    return gap && *gap <= kNearEnough;
}

bool KnownPlans::complete(const Inputs& inputs) const
{
    const EntryPtr entry = findEntry(inputs);
    if (!entry)
        return false;
    const std::lock_guard lock(entry->mutex);
    return entry->complete;
}

bool KnownPlans::addRests(const Inputs& inputs, std::vector<Bytes> budgets)
{
    Inputs key = inputs;
    key.budget = Bytes();
    const EntryPtr entry = findEntry(inputs);
    if (!entry) {
        const std::lock_guard lock(m_mutex);
        m_rests.emplace_back(std::move(key), std::move(budgets));
        return true;
    }
    const std::lock_guard lock(entry->mutex);
    if (budgets == entry->rests)
        return false;
    entry->complete = false;
    entry->rests = std::move(budgets);
    return true;
}

Result<PlanAnswerPtr> KnownPlans::answer(const Inputs& inputs, bool preview, const std::stop_token& stop)
{
    const auto found = entryOf(inputs);
    if (!found)
        return found.error();
    Entry& entry = **found;
    const PlanRequest& request = entry.resolved.request;
    auto made = std::make_shared<PlanAnswer>();
    std::optional<PlanOutcome> known;
    if (const auto frontier = entry.known()) {
        const auto gap = frontier->gapAt(inputs.budget);
        if (preview && gap && *gap <= kNearEnough) {
            known = frontier->approximate(inputs.budget);
            made->lookedUp = true;
        } else if (!preview && gap == 0.0) {
            known = frontier->searched(inputs.budget);
            if (known && known->status == SearchStatus::WithinGap) // others may have bettered its proof: not what the terminal says
                known.reset();
        }
    }
    SearchLimits limits = request.limits;
    limits.stop = stop;
    if (!known) {
        ++m_searches;
        auto outcome = entry.plan(inputs.budget, limits);
        if (!outcome)
            return outcome.error();
        known = *std::move(outcome);
    }
    made->inputs = inputs;
    made->resolved = entry.resolved;
    made->resolved.request.budget = inputs.budget;
    made->device = request.setup.cluster.device.memory;
    made->outcome = std::make_shared<const PlanOutcome>(*std::move(known));
    const PlanOutcome& outcome = *made->outcome;
    if (outcome.plan)
        made->timeline = std::make_shared<const Timeline>(playTimeline(outcome.plan->table, outcome.plan->choice));
    const Setup& shown = outcome.plan ? outcome.plan->table.setup : request.setup;
    made->least = entry.leastOf(outcome, limits);
    made->most = entry.mostOf(shown);
    return PlanAnswerPtr(std::move(made));
}

void KnownPlans::fill(const Inputs& first, const std::stop_token& stop)
{
    std::vector<std::string> flags{first.options.granularity};
    for (const int most : kGranularities) {
        if (std::string flag = granularityFlag(most); flag != flags.front())
            flags.push_back(std::move(flag));
    }
    // First what a move of the slider asks for, then what a move of the line does.
    std::vector<EntryPtr> entries;
    for (const std::string& flag : flags) {
        Inputs inputs = first;
        inputs.options.granularity = flag;
        auto entry = entryOf(inputs);
        if (!entry || !learnAll(**entry, {first.budget}, true, stop))
            return;
        if (!entries.empty()) // the first one serves the hand
            (*entry)->rest();
        entries.push_back(*std::move(entry));
    }
    for (const EntryPtr& entry : entries) {
        const bool done = fillOne(*entry, stop);
        entry->rest(); // what is left to ask is little
        if (!done)
            return;
    }
}

bool KnownPlans::learnAll(Entry& entry, const std::vector<Bytes>& budgets, bool exactly, const std::stop_token& stop)
{
    SearchLimits limits = entry.resolved.request.limits;
    limits.stop = stop;
    const Bytes device = entry.resolved.request.setup.cluster.device.memory;
    const auto before = entry.known();
    PlanFrontier frontier = before ? *before : PlanFrontier(entry.search, std::max(device, budgets.empty() ? Bytes() : budgets.front()));
    for (const Bytes budget : budgets) {
        if (!exactly && frontier.gapAt(budget) == 0.0)
            continue;
        const auto went = entry.learn(frontier, budget, limits);
        if (!went || stop.stop_requested())
            return false;
        if (*went) {
            const std::lock_guard lock(entry.mutex);
            entry.frontier = std::make_shared<const PlanFrontier>(frontier);
        }
    }
    return true;
}

bool KnownPlans::fillOne(Entry& entry, const std::stop_token& stop)
{
    std::vector<Bytes> rests;
    {
        const std::lock_guard lock(entry.mutex);
        if (entry.complete)
            return true;
        rests = entry.rests;
    }
    const Bytes device = entry.resolved.request.setup.cluster.device.memory;
    if (!learnAll(entry, {device, Bytes(1)}, true, stop))
        return false;
    const auto none = entry.known()->searched(Bytes(1));
    const auto all = entry.known()->approximate(device);
    const Bytes least = none && none->infeasible ? none->infeasible->leastBudget : Bytes(1);
    if (least > Bytes(1) && !learnAll(entry, {least - Bytes(1), least}, true, stop))
        return false;
    std::vector<Bytes> steps;
    if (all && all->plan) {
        const std::size_t units = std::max<std::size_t>(all->plan->choice.size(), 1);
        steps = stepsBetween(least, all->plan->peak, std::clamp(kMostChoices / units, kFewestBudgets, kMostBudgets));
    }
    if (!learnAll(entry, steps, false, stop) || !learnAll(entry, rests, false, stop))
        return false;
    const std::lock_guard lock(entry.mutex);
    entry.complete = entry.rests == rests;
    return true;
}

} // namespace loadline
