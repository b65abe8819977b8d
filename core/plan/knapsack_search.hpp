// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/knapsack_core.hpp"
#include "core/plan/knapsack_lists.hpp"

#include <vector>

namespace loadline::knapsack {

/// Shortcuts of the search that tests turn off one by one; the ticks found must not change.
struct SearchSwitches {
    bool fixing = true;    ///< leave out deviations that cannot beat the incumbent
    bool warmStart = true; ///< greedy rounding, short first passes and multipliers carried from threshold to threshold
};

/// Best-first search over thresholds, docs/search.md, 8.
class Search {
public:
    Search(const Knapsack& knapsack, std::int64_t budget, const SearchLimits& limits, const SearchSwitches& switches);

    KnapsackPlan run();

private:
    /// A value that the largest transient may have, still able to beat the incumbent.
    struct Candidate {
        std::int64_t threshold = 0;
        double bound = 0; ///< ticks; no assignment under the threshold is faster
        Relaxation relaxation;
        std::size_t cap = 0;    ///< of the next pass; 0: none is left
        bool isRelaxed = false; ///< else `bound` comes from the walk over all thresholds
        bool isRounded = false;
        bool separate = false;
        bool closed = false;

        [[nodiscard]] bool isExhausted() const { return cap == 0; }
    };

    void findCandidates(const ThresholdBounds& bounds);
    Candidate* leastOpen();
    void relaxCandidate(Candidate& candidate);
    void tryOut(Candidate& candidate);
    void settleBounds();
    void improve(Candidate& candidate);
    void open(const Candidate& candidate);
    void round();
    void searchFewItems(bool once);
    void pass(Candidate& candidate);
    [[nodiscard]] bool isBeaten(double bound) const { return bound > static_cast<double>(m_incumbent.target()) + m_problem.slack; }
    void close(Candidate& candidate) const { candidate.closed = candidate.closed || isBeaten(candidate.bound); }
    [[nodiscard]] std::int64_t lowerBound() const;
    void fill(KnapsackPlan& plan) const;
    void handOut(KnapsackPlan& plan) const;

    const Knapsack& m_knapsack;
    const Prepared& m_problem;
    std::int64_t m_budget;
    SearchSwitches m_switches;
    Effort m_effort;
    Incumbent m_incumbent;
    Core m_core;
    PairedLists m_lists;
    std::vector<Candidate> m_candidates;
    std::vector<std::uint32_t> m_levels;
};

} // namespace loadline::knapsack
