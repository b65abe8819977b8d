// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/overlap_chain.hpp"
#include "core/plan/planner_state.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace loadline {

/// A choice as places among each unit's allowed options.
using Places = std::vector<std::uint32_t>;

/// The fastest choice of one search whose true peak fits the budget.
class OverlapIncumbent {
public:
    OverlapIncumbent(const PlannerState& state, Bytes budget) : m_state(state), m_chain(*state.chain), m_budget(budget) {}

    /// Keeps it if it is faster and its planned peak fits; returns the seconds of the best.
    double offer(const Places& places);
    /// Offers single changes of the best choice, as long as one helps and `trials` last.
    void improve(std::int64_t trials);

    [[nodiscard]] bool found() const { return !m_best.empty(); }
    [[nodiscard]] double seconds() const { return m_seconds; }
    [[nodiscard]] const Places& best() const { return m_best; }
    [[nodiscard]] std::int64_t work() const { return m_work; }

    [[nodiscard]] Places placesOf(const Choice& choice) const;
    [[nodiscard]] Choice choiceOf(const Places& places) const;
    /// Bytes above the budget; negative below.
    [[nodiscard]] Bytes over(const Places& places) const;

private:
    const PlannerState& m_state;
    const OverlapChain& m_chain;
    Bytes m_budget;
    Places m_best;
    double m_seconds = std::numeric_limits<double>::infinity();
    std::int64_t m_work = 0; ///< in steps that cost about as much as a label
};

} // namespace loadline
