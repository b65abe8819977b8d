// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/candidates.hpp"

#include <map>
#include <memory>
#include <optional>

namespace loadline {

/// What no plan of a candidate can beat.
struct OuterBound {
    Seconds least;        ///< step time
    Bytes leastBudget;    ///< memory
    bool feasible = true; ///< false: proven that no plan of the candidate fits the budget
};

/// Cost tables and bounds of the outer loops, each table built once.
class OuterBounds {
public:
    explicit OuterBounds(const PlanRequest& request) : m_request(request) {}

    /// With a range of recomputed blocks still open, each unit may take the options of either end: as a unit is either
    /// recomputed or not, that is at least what any count between offers.
    Result<OuterBound> bound(const Candidate& candidate);

    Result<std::shared_ptr<const CostTable>> table(const Candidate& candidate, std::int64_t recomputed);

private:
    const PlanRequest& m_request;
    std::map<Candidate, std::shared_ptr<const CostTable>> m_tables;
};

/// A table in which each unit has the options of both. Units must agree by position.
CostTable unionTable(const CostTable& a, const CostTable& b);

} // namespace loadline
