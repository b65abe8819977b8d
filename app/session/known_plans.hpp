// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/session/answer.hpp"
#include "core/plan/plan_frontier.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

namespace loadline {

/// They differ in nothing but budget and granularity: one KnownPlans serves both.
bool sameKind(const Inputs& a, const Inputs& b);

/// What is known of the plans that the inputs may have at other budgets and granularities, so that moving a handle is a look-up:
/// one frontier a granularity, filled by one worker and read by others, and the prepared searches that both share. Of other inputs
/// nothing is kept. Thread-safe.
class KnownPlans {
public:
    static constexpr double kNearEnough = 1e-3;       ///< a known plan proven this near to the fastest needs no search while a hand moves
    static constexpr std::size_t kMostBudgets = 800;  ///< of one granularity: every 0.1 GiB of an 80 GB device
    static constexpr std::size_t kFewestBudgets = 40; ///< of the longest models
    static constexpr std::size_t kMostChoices = 1u << 20; ///< of one granularity: budgets x operators

    KnownPlans();
    ~KnownPlans();

    /// The answer to `inputs` as loadline-plan gives it; with `preview` a known plan that is near enough will do. Searches only
    /// where nothing is known. Errors: a request that cannot be asked. Takes microseconds to seconds; polls `stop`.
    Result<PlanAnswerPtr> answer(const Inputs& inputs, bool preview, const std::stop_token& stop);

    /// Searches at every budget that a hand can reach, for each granularity of the slider, `first.options.granularity` and
    /// `first.budget` first. Returns early, with what it has, for `stop` and where a search fails.
    void fill(const Inputs& first, const std::stop_token& stop);
    /// Budgets at which the handle rests, for a later fill(). True: they are new.
    bool addRests(const Inputs& inputs, std::vector<Bytes> budgets);

    /// A preview of `inputs` starts no search.
    [[nodiscard]] bool knows(const Inputs& inputs) const;
    /// fill() has nothing left to do for the granularity of `inputs`.
    [[nodiscard]] bool complete(const Inputs& inputs) const;
    /// Searches that answer() has started so far; fill()'s are not among them.
    [[nodiscard]] std::int64_t searches() const { return m_searches; }

    /// Files behind the inputs may have changed.
    void forget();

private:
    struct Entry; ///< of one granularity
    using EntryPtr = std::shared_ptr<Entry>;

    Result<EntryPtr> entryOf(const Inputs& inputs);
    [[nodiscard]] EntryPtr findEntry(const Inputs& inputs) const;
    /// Searches at these budgets: those that are not known exactly, or all that were not asked about. False: it has to end here.
    static bool learnAll(Entry& entry, const std::vector<Bytes>& budgets, bool exactly, const std::stop_token& stop);
    static bool fillOne(Entry& entry, const std::stop_token& stop);

    mutable std::mutex m_mutex; ///< of the list
    std::vector<EntryPtr> m_entries;
    std::vector<std::pair<Inputs, std::vector<Bytes>>> m_rests; ///< of entries that are not there yet
    std::atomic<std::int64_t> m_searches = 0;
};

} // namespace loadline
