// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

namespace loadline {

/// One choice of one class. Integers only, so that sums do not depend on their order.
struct KnapsackOption {
    std::int64_t persist = 0;   ///< bytes that stay
    std::int64_t transient = 0; ///< bytes while it runs; only the largest over all picks counts
    std::int64_t ticks = 0;     ///< picoseconds
    friend auto operator<=>(const KnapsackOption&, const KnapsackOption&) = default;
};

/// `count` interchangeable operators, each taking one option.
struct KnapsackClass {
    std::vector<KnapsackOption> options;
    std::int64_t count = 1;
};

struct SearchLimits {
    std::int64_t work = 50'000'000; ///< states merged; the same on every machine. Never a clock
    std::int64_t listCap = 1 << 20; ///< most states in one list
    double gapTolerance = 0;        ///< stop once (best - bound) / best is at most this
    std::stop_token stop;           ///< polled at least every 5 ms
};

enum class SearchStatus { Optimal, WithinGap, Infeasible };

struct KnapsackPlan {
    SearchStatus status = SearchStatus::Infeasible;
    std::int64_t ticks = 0;
    std::int64_t lowerBound = 0; ///< no assignment within the budget is faster
    std::int64_t persist = 0;
    std::int64_t transient = 0;
    std::int64_t leastBudget = 0; ///< the least budget that any assignment fits, set always
    double multiplier = 0;        ///< shadow price at the bound: ticks per byte
    std::int64_t work = 0;
    bool cancelled = false;
    /// picks[class] = (option index, how many), option indices ascending.
    std::vector<std::vector<std::pair<std::uint32_t, std::int64_t>>> picks;
};

namespace knapsack {
struct Prepared; // knapsack_prepared.hpp
}

/// Prepared classes: dominance and hulls done once, then solved for any budget. Immutable; safe from many threads.
class Knapsack {
public:
    /// Errors: no classes, a class without options, negative numbers, sums that overflow.
    static Result<Knapsack> prepare(std::vector<KnapsackClass> classes);

    [[nodiscard]] const std::vector<KnapsackClass>& classes() const { return m_classes; }

    /// Minimises the sum of ticks subject to sum of persist + largest transient <= budget.
    [[nodiscard]] KnapsackPlan solve(std::int64_t budget, const SearchLimits& limits = {}) const;

    /// A valid lower bound for every assignment within the budget (LP relaxation per transient threshold); cheap.
    /// INT64_MAX if nothing fits.
    [[nodiscard]] std::int64_t relaxedBound(std::int64_t budget) const;

    /// The least budget that any assignment fits.
    [[nodiscard]] std::int64_t leastBudget() const;

    /// For the search's own parts and their tests: knapsack_prepared.hpp, knapsack_search.hpp.
    [[nodiscard]] const knapsack::Prepared& prepared() const { return *m_prepared; }
    Knapsack(std::vector<KnapsackClass> classes, std::shared_ptr<const knapsack::Prepared> prepared)
        : m_classes(std::move(classes)), m_prepared(std::move(prepared))
    {
    }

private:
    std::vector<KnapsackClass> m_classes;
    std::shared_ptr<const knapsack::Prepared> m_prepared;
};

/// One corner of the trade-off: from `bytes` on, `ticks` can be had.
struct FrontierPoint {
    std::int64_t bytes = 0;
    std::int64_t ticks = 0;
    friend auto operator<=>(const FrontierPoint&, const FrontierPoint&) = default;
};

struct KnapsackFrontier {
    std::vector<FrontierPoint> points; ///< bytes strictly ascending, ticks strictly descending
    bool exact = false;                ///< every corner is there; else a usable stair of real assignments
    std::int64_t work = 0;
};

/// A stair from lists of at most `states`; milliseconds.
KnapsackFrontier approximateFrontier(const Knapsack& problem, std::int64_t states, const SearchLimits& limits = {});

/// Every corner, unless a limit stops it (`exact` says).
KnapsackFrontier exactFrontier(const Knapsack& problem, const SearchLimits& limits = {});

} // namespace loadline
