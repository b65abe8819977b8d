// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/planner.hpp"
#include "core/plan/replanner.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace loadline {

/// The plans of one request over all budgets up to `most`, as far as they are known: a budget in it is answered without a search.
///
/// A plan found for budget B with peak P is the answer for every budget in [P, B]: what is infeasible or slower at B is so below.
/// The frontier is a row of such stretches. `refine` searches where most is unknown, so that after a few searches every budget has
/// a usable answer with a known gap, and in the end all of them are exact to `kSteps` steps of the range or until the list is full.
///
/// An answer is the fastest of *all* known plans that fit, so within one frontier more memory never lowers throughput, also where
/// the search could not prove its plans.
///
/// A value: copies share what is known and are cheap to read from other threads while the original is refined.
class PlanFrontier {
public:
    static constexpr std::int64_t kSteps = 4096;       ///< the range in steps: narrower unknown stretches are closed from above
    static constexpr std::size_t kMostAnswers = 4'096; ///< a choice each: a few MB for the longest models

    /// `request.budget` is not looked at. `most`: the largest budget that will be asked about, in bytes.
    PlanFrontier(PlanRequest request, Bytes most);
    /// The same with searches that others use too, which then take turns with `refine` and `learnAt`.
    PlanFrontier(Replanner search, Bytes most);

    /// One more search where most is unknown. False: nothing is left to do, or it was stopped, and nothing was searched.
    /// Errors: as makePlan. Stop through `limits.stop`.
    Result<bool> refine(const SearchLimits& limits);

    /// One search at `budget`, for budgets that a hand can reach. False: it was searched before, the list is full, or the search
    /// was stopped. Errors and stopping as `refine`.
    Result<bool> learnAt(Bytes budget, const SearchLimits& limits);

    /// What makePlan said at just this budget, if it was asked.
    [[nodiscard]] std::optional<PlanOutcome> searched(Bytes budget) const;

    /// How far `approximate` may be from the fastest plan, as a share of its time: 0 for what is known exactly, also that nothing fits.
    /// Empty: nothing is known. Takes microseconds.
    [[nodiscard]] std::optional<double> gapAt(Bytes budget) const;

    /// The answer to `budget` without a search, if it is known: makePlan's, or a faster one where makePlan's is unproven.
    [[nodiscard]] std::optional<PlanOutcome> find(Bytes budget) const;

    /// The best known plan for `budget` with its proven gap, without a search: usable before `find` knows more. Empty: no
    /// plan that fits is known and none is excluded.
    [[nodiscard]] std::optional<PlanOutcome> approximate(Bytes budget) const;

    /// Adds an answer that makePlan gave to this request elsewhere. Ignored: answers of searches that were cancelled, and what
    /// does not go beyond `most`.
    void learn(const PlanOutcome& outcome);

    /// Corners for a chart: peak and step time, falling. Of several batches, seconds per sample differ: compare by `samplesPerSecond`.
    [[nodiscard]] std::vector<TradeOffPoint> stair() const;

    [[nodiscard]] bool complete() const { return !widestUnknown().has_value(); }
    [[nodiscard]] Bytes unknown() const; ///< budgets without an exact answer
    [[nodiscard]] std::size_t answers() const { return m_answers.size(); }

private:
    struct Answer;  ///< enough to make the plan again
    struct Setting; ///< of batch, accumulation and recomputation
    struct Stretch {
        Bytes low;  ///< first budget in it
        Bytes high; ///< last budget in it
    };

    Result<bool> searchAt(Bytes budget, const SearchLimits& limits);
    std::shared_ptr<const Setting> settingOf(const CostTable& table);
    [[nodiscard]] std::vector<Stretch> unknownStretches() const;
    [[nodiscard]] std::optional<Stretch> widestUnknown() const;
    /// Of an answer at a budget: the least time per sample that is not ruled out, and whether that is its own.
    struct Proof {
        Seconds bound;
        bool proven = false;
    };
    [[nodiscard]] Proof proofOf(const Answer& answer, Bytes budget) const;
    [[nodiscard]] std::shared_ptr<const Answer> fastest(Bytes budget) const;
    [[nodiscard]] PlanOutcome outcomeOf(const Answer& answer, Bytes budget) const;
    [[nodiscard]] PlanOutcome infeasibleAt(Bytes budget) const;

    Replanner m_search; ///< shared by copies
    Bytes m_most;
    std::vector<std::shared_ptr<const Answer>> m_answers;   ///< by budget, ascending
    std::vector<std::shared_ptr<const Setting>> m_settings; ///< of the plans, each once
    std::shared_ptr<const PlanOutcome> m_infeasible;        ///< of the largest budget that nothing fits
};

} // namespace loadline
