// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/candidates.hpp"
#include "core/plan/memory_form.hpp"

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

/// Cost tables, bounds and prepared searches of the outer loops, each made once: what a budget adds is little beside them. What is
/// kept is given up whole when it grows beyond `kMostKeptUnits`. Not thread-safe; `request` must outlive it.
class OuterBounds {
public:
    static constexpr std::size_t kMostKeptUnits = 60'000; ///< of all kept together: some tens of MB

    explicit OuterBounds(const PlanRequest& request) : m_request(request) {}

    /// With a range of recomputed blocks still open, each unit may take the options of either end: as a unit is either
    /// recomputed or not, that is at least what any count between offers.
    Result<OuterBound> bound(const Candidate& candidate, Bytes budget);
    Result<OuterBound> bound(const Candidate& candidate) { return bound(candidate, m_request.budget); }

    Result<std::shared_ptr<const CostTable>> table(const Candidate& candidate, std::int64_t recomputed);
    Result<Planner> planner(const Candidate& candidate, std::int64_t recomputed);

    /// Gives up the bare tables, from which everything else is made: the largest part of what is kept.
    void dropTables() { m_tables.clear(); }
    void dropAll();

private:
    /// A candidate's options of both ends and its bounds, whatever the budget.
    struct Relaxed {
        std::vector<MemoryForm> forms;
        double ticksPerSecond = 1;
        std::optional<SearchSpace> space; ///< for overlapped time
    };
    Result<std::shared_ptr<const Relaxed>> relaxed(const Candidate& candidate);
    void makeRoomFor(std::size_t units);

    const PlanRequest& m_request;
    std::map<Candidate, std::shared_ptr<const CostTable>> m_tables;
    std::map<Candidate, std::shared_ptr<const Relaxed>> m_relaxed;
    std::map<Candidate, Planner> m_planners;
    std::size_t m_keptUnits = 0;
};

/// A table in which each unit has the options of both. Units must agree by position.
CostTable unionTable(const CostTable& a, const CostTable& b);

} // namespace loadline
