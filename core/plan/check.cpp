// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/check.hpp"

#include "core/base/text.hpp"
#include "core/plan/check_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace loadline {
namespace {

/// Sums of doubles in another order may differ by this much; relative.
constexpr double kRounding = 1e-9;

bool same(double a, double b)
{
    return std::abs(a - b) <= kRounding * std::max({std::abs(a), std::abs(b), 1e-12}) && std::isfinite(a) && std::isfinite(b);
}

bool same(Seconds a, Seconds b)
{
    return same(a.value(), b.value());
}

/// Collects what does not hold.
class Checker {
public:
    explicit Checker(const PlanOutcome& outcome) : m_outcome(outcome) {}

    PlanCheck run()
    {
        if (!m_outcome.plan) {
            checkInfeasible();
            return std::move(m_check);
        }
        if (m_outcome.status == SearchStatus::Infeasible)
            complain("The plan is marked infeasible, yet there is one.");
        checkProof();
        auto rebuilt = buildCostTable(plan().table.setup);
        if (!rebuilt) {
            complain("The cost table cannot be built again: " + rebuilt.error().message);
            return std::move(m_check);
        }
        if (sameUnits(*rebuilt) && validChoice(*rebuilt))
            checkFigures(*rebuilt);
        return std::move(m_check);
    }

private:
    [[nodiscard]] const Plan& plan() const { return *m_outcome.plan; }

    void complain(std::string sentence) { m_check.violations.push_back(std::move(sentence)); }

    void compare(const char* what, Bytes stated, Bytes found)
    {
        if (stated != found)
            complain(fmt::format("{} is stated as {} bytes but comes to {}.", what, stated.count(), found.count()));
    }
    void compare(const char* what, Seconds stated, Seconds found)
    {
        if (!same(stated, found))
            complain(fmt::format("{} is stated as {:.12g} s but comes to {:.12g} s.", what, stated.value(), found.value()));
    }

    void checkInfeasible()
    {
        if (m_outcome.status != SearchStatus::Infeasible)
            complain("There is no plan, yet the outcome is not marked infeasible.");
        else if (!m_outcome.infeasible)
            complain("There is no plan and no word of the least budget.");
        else if (m_outcome.infeasible->leastBudget <= m_outcome.budget)
            complain("The budget is called too small although the least budget is not above it.");
        else if (m_outcome.infeasible->provenBelow > m_outcome.infeasible->leastBudget)
            complain("The proven part of the least budget is above the least budget.");
    }

    /// The proof's own arithmetic. That no faster plan exists can't be checked without a search.
    void checkProof()
    {
        const double objective = plan().objective.value();
        const double bound = m_outcome.lowerBound.value();
        if (!(bound >= 0) || bound > objective * (1 + kRounding))
            complain(fmt::format("The lower bound of {:.12g} s is not between 0 and the plan's {:.12g} s.", bound, objective));
        const double gap = objective > 0 ? (objective - bound) / objective : 0;
        if (!(std::abs(gap - m_outcome.gap) <= kRounding))
            complain(fmt::format("The gap is stated as {:.12g} but comes to {:.12g}.", m_outcome.gap, gap));
        if (m_outcome.status == SearchStatus::Optimal && m_outcome.gap != 0)
            complain("The plan is called optimal although its gap is not 0.");
        if (m_outcome.status == SearchStatus::WithinGap && m_outcome.gap <= 0)
            complain("The plan is called within its gap although the gap is 0.");
        if (!(m_outcome.secondsPerGib >= 0) || !std::isfinite(m_outcome.secondsPerGib))
            complain("The price of memory is negative or not a number.");
        if (plan().peak > m_outcome.budget)
            complain(fmt::format("The peak of {} is above the budget of {}.", formatBytes(plan().peak), formatBytes(m_outcome.budget)));
    }

    bool sameUnits(const CostTable& rebuilt)
    {
        const CostTable& stated = plan().table;
        compare("The overhead", stated.overhead, rebuilt.overhead);
        compare("The constant part", stated.constant, rebuilt.constant);
        if (stated.units.size() != rebuilt.units.size()) {
            complain(fmt::format("The plan has {} units but the model makes {}.", stated.units.size(), rebuilt.units.size()));
            return false;
        }
        for (std::size_t i = 0; i < rebuilt.units.size(); ++i)
            if (stated.units[i].name != rebuilt.units[i].name || stated.units[i].parameters != rebuilt.units[i].parameters) {
                complain(fmt::format("Unit {} of the plan is {}, of the model {}.", i, stated.units[i].name, rebuilt.units[i].name));
                return false;
            }
        return true;
    }

    bool validChoice(const CostTable& rebuilt)
    {
        if (plan().choice.size() != rebuilt.units.size()) {
            complain(fmt::format("The plan decides about {} units of {}.", plan().choice.size(), rebuilt.units.size()));
            return false;
        }
        for (std::size_t i = 0; i < rebuilt.units.size(); ++i) {
            const std::uint32_t index = plan().choice[i];
            if (plan().table.units[i].costClass >= plan().table.classOptions.size() || index >= plan().table.options(i).size() ||
                index >= rebuilt.options(i).size()) {
                complain(fmt::format("Unit {} takes option {}, which it does not have.", rebuilt.units[i].name, index));
                return false;
            }
            if (plan().cost(i) != rebuilt.options(i)[index])
                complain(fmt::format("The costs of unit {} are not those of its strategy.", rebuilt.units[i].name));
        }
        return true;
    }

    void checkFigures(const CostTable& table)
    {
        const Choice& choice = plan().choice;
        const Bytes paper = paperPeak(table, choice);
        m_check.peak = table.setup.memory == MemoryMode::Paper ? paper : replayedPeak(table, choice);
        Seconds compute;
        Seconds communication;
        for (std::size_t i = 0; i < choice.size(); ++i) {
            const OptionCost& cost = table.options(i)[choice[i]];
            compute += cost.forwardCompute + cost.backwardCompute + cost.step;
            communication += cost.gatherForward + cost.gatherBackward + cost.reduce;
        }
        m_check.serial = compute + communication;
        const StepTime time = stepTime(table, choice);
        m_check.overlapped = time.overlapped;

        compare("The peak", plan().peak, m_check.peak);
        compare("The paper's bound", plan().paperPeak, paper);
        compare("The time of compute", plan().time.compute, compute);
        compare("The time of communication", plan().time.communication, communication);
        compare("The serial step time", plan().time.serial, m_check.serial);
        compare("The objective", plan().objective, table.setup.time == TimeMode::Overlap ? m_check.overlapped : m_check.serial);
        compare("The overlapped step time", plan().time.overlapped, m_check.overlapped);
        compare("The exposed communication", plan().time.exposed, time.exposed);
        if (m_check.peak > m_outcome.budget)
            complain(fmt::format("The plan needs {} at its peak, more than the budget of {}.", formatBytes(m_check.peak),
                                 formatBytes(m_outcome.budget)));
        checkExposed(table, time);
    }

    void checkExposed(const CostTable& table, const StepTime& time)
    {
        const auto& stated = plan().time.exposedByUnit;
        if (stated.size() != time.exposedByUnit.size()) {
            complain("Exposed communication is not given for each unit.");
            return;
        }
        for (std::size_t i = 0; i < stated.size(); ++i)
            if (!(std::abs((stated[i] - time.exposedByUnit[i]).value()) <= kRounding * std::max(time.overlapped.value(), 1e-12)))
                complain(fmt::format("The exposed communication of {} is not what its schedule gives.", table.units[i].name));
    }

    const PlanOutcome& m_outcome;
    PlanCheck m_check;
};

} // namespace

PlanCheck checkPlan(const PlanOutcome& outcome)
{
    return Checker(outcome).run();
}

} // namespace loadline
