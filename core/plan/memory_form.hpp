// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/knapsack.hpp"
#include "core/plan/search_space.hpp"

#include <cstdint>
#include <vector>

namespace loadline {

/// One knapsack that stands for the memory of a step: `constant` + sum of persist + largest transient.
///
/// The forms of `pivotForm` and `stepForm` never exceed the true peak of any choice (docs/planning.md), so what their
/// knapsack proves about a budget holds for the true question too. Immutable once made.
class MemoryForm {
public:
    /// Start of backward seen from unit `pivot`: units up to it still hold their saved activations, those after it already
    /// hold gradients. `pivot` = last unit: the end of forward; `pivot` = -1: the end of backward.
    static Result<MemoryForm> pivotForm(const SearchSpace& space, std::ptrdiff_t pivot);

    /// The optimizer step: states and what the step adds.
    static Result<MemoryForm> stepForm(const SearchSpace& space);

    /// The paper's bound, equal to `paperPeak` for every choice.
    static Result<MemoryForm> paperForm(const SearchSpace& space);

    struct Solution {
        KnapsackPlan plan;
        std::vector<Choice> choices; ///< the picks laid out over the units in different orders; empty if infeasible
    };
    [[nodiscard]] Solution solve(const SearchSpace& space, Bytes budget, const SearchLimits& limits) const;

    /// No choice needs less; from the form alone.
    [[nodiscard]] Bytes leastBudget() const { return m_least; }

    [[nodiscard]] std::int64_t relaxedBound(Bytes budget) const;

private:
    /// What one unit adds under one of its options.
    struct Terms {
        std::int64_t persist = 0;
        std::int64_t transient = 0;
        auto operator<=>(const Terms&) const = default;
    };
    using UnitTerms = std::vector<Terms>; ///< one entry per allowed option

    static Result<MemoryForm> make(const SearchSpace& space, const std::vector<UnitTerms>& terms);

    explicit MemoryForm(Knapsack knapsack) : m_knapsack(std::move(knapsack)) {}

    Bytes m_constant;
    Bytes m_least;
    Knapsack m_knapsack;
    std::vector<std::vector<std::size_t>> m_members; ///< units of each knapsack class, ascending
};

} // namespace loadline
