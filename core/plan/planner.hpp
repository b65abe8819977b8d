// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/cost/cost_table.hpp"
#include "core/cost/step_time.hpp"
#include "core/cost/timeline.hpp"
#include "core/plan/knapsack.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace loadline {

/// "Keep these as I say": units whose name matches `pattern` ('*', '?') take this strategy.
struct Pin {
    std::string pattern;
    std::string strategy; ///< "dp", "zdp", "d8", "zdp/4", "2of4", "recompute"
    friend bool operator==(const Pin&, const Pin&) = default;
};

enum class Recompute { Off, Auto, All };

struct PlanRequest {
    Setup setup; ///< its batch, accumulation and recomputedBlocks are used unless the search below chooses
    Bytes budget;
    std::vector<Pin> pins;
    bool chooseBatch = false;        ///< --batch auto
    bool chooseAccumulation = false; ///< --accumulation auto
    std::int64_t globalBatch = 0;    ///< > 0: batch x accumulation x ranks must equal it
    std::int64_t mostBatch = 64;
    Recompute recompute = Recompute::Off;
    std::vector<RecomputedPart> recomputedParts{RecomputedPart::Block}; ///< with Recompute::Auto: what of a block may be recomputed
    SearchLimits limits;
};

/// A plan and all that is shown of it. One figure, one place.
struct Plan {
    CostTable table; ///< of the chosen batch, accumulation and recomputation
    Choice choice;
    Bytes peak; ///< plannedPeak: never above the budget
    Bytes paperPeak;
    StepTime time;
    Seconds objective; ///< what was minimised: the time of the setup's time mode

    [[nodiscard]] const OptionCost& cost(std::size_t unit) const { return table.options(unit)[choice[unit]]; }
    [[nodiscard]] double samplesPerSecond() const; ///< of the whole job: batch x accumulation x ranks / step time
    [[nodiscard]] double tokensPerSecond() const;
};

/// One way to lower the least budget, tried by solving.
struct WayOut {
    std::string what;  ///< "granularity 8", "batch 1", "recompute 32 blocks", "16 ranks"
    Bytes leastBudget; ///< with it
};

struct Infeasibility {
    Bytes leastBudget;                ///< a plan exists from here on
    Bytes provenBelow;                ///< no plan exists below this; equal to `leastBudget` where that is proven to be the least
    std::vector<std::string> because; ///< one sentence each, the largest term first
    std::vector<WayOut> waysOut;      ///< by least budget, best first
};

/// A search that ran, however it ended.
struct PlanOutcome {
    SearchStatus status = SearchStatus::Infeasible;
    Bytes budget;
    std::optional<Plan> plan; ///< unless Infeasible
    Seconds lowerBound;       ///< no plan within the budget has a smaller objective
    double gap = 0;           ///< (objective - lowerBound) / objective
    double secondsPerGib = 0; ///< shadow price: step seconds saved by one more GiB here
    std::optional<Infeasibility> infeasible;
    std::int64_t work = 0;
    bool cancelled = false;
};

/// Finds the plan with the most samples per second within the budget. Errors only for a request that cannot be asked.
/// Thread-safe; stop through `request.limits.stop`.
Result<PlanOutcome> makePlan(const PlanRequest& request);

/// One corner of the drawn trade-off.
struct TradeOffPoint {
    Bytes peak;
    Seconds time;
};

struct PlannerState; // core/plan/planner_state.hpp

/// Searches again and again on one cost table (one batch, accumulation, recomputation): what dragging needs. Cheap to copy,
/// immutable, safe from many threads.
class Planner {
public:
    /// Applies the pins and prepares the search. Errors name the pin or setting.
    static Result<Planner> prepare(CostTable table, const std::vector<Pin>& pins);

    [[nodiscard]] PlanOutcome plan(Bytes budget, const SearchLimits& limits = {}) const;

    [[nodiscard]] Bytes leastBudget() const; ///< below it nothing fits
    [[nodiscard]] Bytes mostBudget() const;  ///< above it the plan no longer changes

    /// Least objective over budget as a falling stair of real plans, `steps` budgets across the range.
    [[nodiscard]] std::vector<TradeOffPoint> tradeOff(int steps, const SearchLimits& limits = {}) const;

    [[nodiscard]] const CostTable& table() const;

    /// What was prepared; for the other files of this folder.
    [[nodiscard]] const PlannerState& state() const { return *m_state; }

private:
    explicit Planner(std::shared_ptr<const PlannerState> state) : m_state(std::move(state)) {}
    std::shared_ptr<const PlannerState> m_state;
};

/// For each unit of `plan`, the least budget above the plan's at which its strategy changes; empty if it never does.
std::vector<std::optional<Bytes>> flipBudgets(const Planner& planner, const PlanOutcome& outcome, const SearchLimits& limits = {});

} // namespace loadline
