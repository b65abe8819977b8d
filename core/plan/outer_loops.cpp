// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/outer_bound.hpp"
#include "core/plan/replanner.hpp"
#include "core/plan/ways_out.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace loadline {

/// What one request's searches share.
struct ReplannerState {
    explicit ReplannerState(PlanRequest asked) : request(std::move(asked)), bounds(request), candidates(candidatesOf(request)) {}

    /// Solving for them takes longer than the search that found nothing, and they do not depend on its budget.
    std::vector<WayOut> waysOutOf(const Candidate& leanest, std::int64_t recomputed, Bytes least, const SearchLimits& limits)
    {
        const std::tuple key(leanest, recomputed, least);
        if (waysOutFor == key)
            return waysOut;
        PlanRequest asked = request;
        asked.limits = limits;
        auto found = loadline::waysOut(asked, setupOf(request.setup, leanest, recomputed), least);
        if (!limits.stop.stop_requested()) {
            waysOut = found;
            waysOutFor = key;
        }
        return found;
    }

    const PlanRequest request;
    OuterBounds bounds;
    const Result<std::vector<Candidate>> candidates;
    std::vector<WayOut> waysOut;
    std::optional<std::tuple<Candidate, std::int64_t, Bytes>> waysOutFor;
};

namespace {

double samplesPerStep(const PlanRequest& request, const Candidate& candidate)
{
    return static_cast<double>(candidate.batch) * static_cast<double>(candidate.accumulation) *
           static_cast<double>(request.setup.cluster.ranks());
}

/// A candidate whose bound is known.
struct Node {
    Candidate candidate;
    Seconds perSample; ///< no plan of the candidate needs less time per sample
};

/// Best first: the node that promises the least time per sample is looked at next, so that most candidates are never
/// solved (docs/planning.md 6).
class OuterSearch {
public:
    OuterSearch(ReplannerState& kept, Bytes budget, SearchLimits limits)
        : m_kept(kept), m_request(kept.request), m_bounds(kept.bounds), m_budget(budget), m_limits(std::move(limits))
    {
    }

    Result<PlanOutcome> run(const std::vector<Candidate>& candidates)
    {
        if (auto error = enterAll(candidates))
            return *std::move(error);
        while (!m_open.empty() && !spent()) {
            const Node node = takeBest();
            if (m_best && m_best->perSample <= node.perSample)
                break; // and so is every other one
            if (auto error = node.candidate.single() ? solve(node) : halve(node))
                return *std::move(error);
        }
        return finished();
    }

private:
    struct Found {
        PlanOutcome outcome;
        Seconds perSample;
        double samples = 1;
    };

    [[nodiscard]] bool spent()
    {
        m_cancelled = m_cancelled || m_limits.stop.stop_requested();
        return m_cancelled || (m_best && m_work >= m_limits.work);
    }

    std::optional<Error> enterAll(const std::vector<Candidate>& candidates)
    {
        std::optional<Error> firstError;
        bool any = false;
        bool fits = true; // something at the batch before, as far as is known
        std::int64_t batch = 0;
        for (const Candidate& candidate : candidates) {
            // Memory only grows with the batch; with a global batch, accumulation changes too and decides as well.
            const bool larger = candidate.batch != std::exchange(batch, candidate.batch);
            if ((larger && !fits && m_request.globalBatch == 0) || (any && m_limits.stop.stop_requested()))
                break;
            fits = fits && !larger;
            bool feasible = true;
            if (auto error = enter(candidate, feasible)) {
                firstError = firstError ? firstError : error;
                fits = true;
                continue;
            }
            any = true;
            fits = fits || feasible;
        }
        return any ? std::nullopt : firstError;
    }

    std::optional<Error> enter(const Candidate& candidate, bool& feasible)
    {
        auto bound = m_bounds.bound(candidate, m_budget);
        if (!bound)
            return bound.error();
        feasible = bound->feasible;
        if (!m_provenBelow || bound->leastBudget < *m_provenBelow) {
            m_provenBelow = bound->leastBudget;
            m_leanest = candidate;
        }
        if (feasible)
            m_open.push_back({candidate, bound->least * (1.0 / samplesPerStep(m_request, candidate))});
        return std::nullopt;
    }

    Node takeBest()
    {
        const auto best = std::min_element(m_open.begin(), m_open.end(), [](const Node& a, const Node& b) {
            return std::tie(a.perSample, a.candidate) < std::tie(b.perSample, b.candidate);
        });
        const Node node = *best;
        m_open.erase(best);
        return node;
    }

    std::optional<Error> halve(const Node& node)
    {
        Candidate fewer = node.candidate;
        Candidate more = node.candidate;
        fewer.mostRecomputed = node.candidate.fewestRecomputed + (node.candidate.mostRecomputed - node.candidate.fewestRecomputed) / 2;
        more.fewestRecomputed = fewer.mostRecomputed + 1;
        std::optional<Error> lastError;
        int failed = 0;
        for (const Candidate& half : {fewer, more}) {
            bool feasible = true;
            if (auto error = enter(half, feasible)) {
                // A pin may hold only with some counts of recomputed blocks.
                lastError = error;
                ++failed;
            }
        }
        return failed == 2 ? lastError : std::nullopt;
    }

    std::optional<Error> solve(const Node& node)
    {
        auto planner = m_bounds.planner(node.candidate, node.candidate.fewestRecomputed);
        if (!planner)
            return planner.error();
        SearchLimits limits = m_limits;
        limits.work = std::max<std::int64_t>(m_limits.work - m_work, 0);
        if (m_request.setup.time == TimeMode::Overlap) // several candidates share the work: what one cannot close, another may rule out
            limits.work = std::min(limits.work, m_request.limits.work / 8);
        PlanOutcome outcome = planner->plan(m_budget, limits);
        m_work += outcome.work;
        m_cancelled = m_cancelled || outcome.cancelled;
        const double samples = samplesPerStep(m_request, node.candidate);
        if (!outcome.plan) {
            if (!m_fallback || outcome.infeasible->leastBudget < m_fallback->infeasible->leastBudget)
                m_fallback = std::move(outcome);
            return std::nullopt;
        }
        const Seconds perSample = outcome.plan->objective * (1.0 / samples);
        const Seconds bound = std::max(outcome.lowerBound * (1.0 / samples), node.perSample);
        if (outcome.status != SearchStatus::Optimal)
            m_unproven = m_unproven ? std::min(*m_unproven, bound) : bound;
        if (!m_best || perSample < m_best->perSample)
            m_best = Found{std::move(outcome), perSample, samples};
        return std::nullopt;
    }

    /// The least time per sample that is not yet ruled out.
    [[nodiscard]] Seconds overallBound() const
    {
        Seconds bound = m_best->perSample;
        if (m_unproven)
            bound = std::min(bound, *m_unproven);
        for (const Node& node : m_open)
            bound = std::min(bound, node.perSample);
        return bound;
    }

    Result<PlanOutcome> finished()
    {
        if (!m_best)
            return nothingFits();
        PlanOutcome outcome = std::move(m_best->outcome);
        outcome.work = m_work;
        outcome.cancelled = m_cancelled;
        const Seconds bound = overallBound();
        if (bound < m_best->perSample) {
            outcome.status = SearchStatus::WithinGap;
            outcome.lowerBound = std::min(bound * m_best->samples, outcome.plan->objective);
            outcome.gap = (outcome.plan->objective - outcome.lowerBound).value() / outcome.plan->objective.value();
        } else {
            outcome.status = SearchStatus::Optimal;
            outcome.lowerBound = outcome.plan->objective;
            outcome.gap = 0;
        }
        return outcome;
    }

    Result<PlanOutcome> nothingFits()
    {
        PlanOutcome outcome;
        const Candidate leanest = m_leanest.value_or(Candidate{});
        const std::int64_t recomputed = leanest.mostRecomputed;
        auto table = m_bounds.table(leanest, recomputed);
        if (!table)
            return table.error();
        auto planner = m_bounds.planner(leanest, recomputed);
        if (planner && (!m_fallback || planner->leastBudget() < m_fallback->infeasible->leastBudget))
            m_fallback = planner->plan(std::min(m_budget, planner->leastBudget() - Bytes(1)), m_limits);
        if (!m_fallback)
            return planner.error();
        outcome = *std::move(m_fallback);
        outcome.budget = m_budget;
        outcome.work += m_work;
        outcome.cancelled = m_cancelled;
        outcome.infeasible->provenBelow = std::min(m_provenBelow.value_or(Bytes()), outcome.infeasible->leastBudget);
        outcome.infeasible->waysOut = m_kept.waysOutOf(leanest, recomputed, outcome.infeasible->leastBudget, m_limits);
        return outcome;
    }

    ReplannerState& m_kept;
    const PlanRequest& m_request;
    OuterBounds& m_bounds;
    Bytes m_budget;
    SearchLimits m_limits;
    std::vector<Node> m_open;
    std::optional<Found> m_best;
    std::optional<Seconds> m_unproven; ///< least bound among solved candidates without a proof
    std::optional<PlanOutcome> m_fallback;
    std::optional<Bytes> m_provenBelow;
    std::optional<Candidate> m_leanest;
    std::int64_t m_work = 0;
    bool m_cancelled = false;
};

} // namespace

Replanner::Replanner(PlanRequest request)
{
    request.budget = Bytes();
    m_state = std::make_shared<ReplannerState>(std::move(request));
}

Result<PlanOutcome> Replanner::plan(Bytes budget, const SearchLimits& limits)
{
    if (budget < Bytes())
        return invalidInput("--budget must not be negative.");
    if (!m_state->candidates)
        return m_state->candidates.error();
    auto outcome = OuterSearch(*m_state, budget, limits).run(*m_state->candidates);
    m_state->bounds.dropTables();
    return outcome;
}

void Replanner::forget()
{
    m_state->bounds.dropAll();
}

Result<PlanOutcome> makePlan(const PlanRequest& request)
{
    return Replanner(request).plan(request.budget, request.limits);
}

} // namespace loadline
