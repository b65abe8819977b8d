// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/knapsack.hpp"
#include "core/plan/memory_terms.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace loadline {

/// One knapsack that stands for the memory of a step: `constant` + sum of persist + largest transient.
///
/// Made from the terms of core/plan/memory_terms.hpp it never exceeds the planned peak of any choice, so what its knapsack
/// proves about a budget holds for the true question too. Immutable; safe from many threads.
class MemoryForm {
public:
    /// `scale`: the terms are those of as many steps; a weighted sum of events is compared with as many budgets.
    /// Errors: numbers that the search cannot add up.
    static Result<MemoryForm> make(const SearchSpace& space, const MemoryTerms& terms, std::int64_t scale = 1);

    struct Solution {
        KnapsackPlan plan;           ///< its multiplier per byte of one budget
        std::vector<Choice> choices; ///< the picks laid out over the units in different orders; empty if infeasible
    };
    [[nodiscard]] Solution solve(const SearchSpace& space, Bytes budget, const SearchLimits& limits) const;

    /// The form's value for one choice, of `scale` steps.
    [[nodiscard]] Bytes value(const SearchSpace& space, const Choice& choice) const;

    /// Units of one class have equal terms. Options stand in the order of the unit's group.
    [[nodiscard]] std::size_t classOf(std::size_t unit) const { return m_classOfUnit[unit]; }
    [[nodiscard]] const std::vector<KnapsackOption>& optionsOf(std::size_t unit) const
    {
        return m_knapsack.classes()[m_classOfUnit[unit]].options;
    }
    [[nodiscard]] std::int64_t scale() const { return m_scale; }
    /// What sum of persist + largest transient may come to; -1: nothing fits.
    [[nodiscard]] std::int64_t capacity(Bytes budget) const { return std::max((budget * m_scale - m_constant).count(), std::int64_t{-1}); }

    /// No choice needs less; from the form alone.
    [[nodiscard]] Bytes leastBudget() const { return m_least; }

    /// Knapsack::relaxedBound.
    [[nodiscard]] std::int64_t relaxedBound(Bytes budget) const;

private:
    explicit MemoryForm(Knapsack knapsack) : m_knapsack(std::move(knapsack)) {}

    std::int64_t m_scale = 1;
    Bytes m_constant;
    Bytes m_least;
    Knapsack m_knapsack;
    std::vector<std::vector<std::size_t>> m_members; ///< units of each knapsack class, ascending
    std::vector<std::size_t> m_classOfUnit;
};

} // namespace loadline
