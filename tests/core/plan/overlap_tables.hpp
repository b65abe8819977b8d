// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/step_time.hpp"
#include "core/cost/timeline.hpp"
#include "tests/support/cost_table_builder.hpp"

#include <algorithm>
#include <functional>
#include <limits>

namespace loadline::testing {

/// Small tables whose transfers hide behind computing to different degrees: periodic or not, with and without contention, accumulation,
/// gathers of no length, and both orders of gathering.
class RandomOverlapTables {
public:
    explicit RandomOverlapTables(std::uint64_t seed) : m_tables(seed) {}

    CostTable next(int mostUnits, int mostOptions)
    {
        RuntimeRules rules = number(0, 2) == 0 ? fsdp2Rules() : loadlineRules();
        rules.gatherAheadForward = static_cast<int>(number(0, 1));
        rules.gatherAheadBackward = number(0, 4) == 0 ? 0 : 1;
        CostTable table = m_tables.next(mostUnits, mostOptions, rules);
        if (number(0, 1) == 0)
            repeat(table, mostUnits);
        const double transfers = static_cast<double>(number(1, 6)) * 0.25; // slow links or fast ones
        for (auto& options : table.classOptions)
            for (OptionCost& cost : options)
                setTimes(cost, transfers);
        table.setup.accumulation = number(0, 2) == 0 ? number(2, 4) : 1;
        if (number(0, 2) == 0) {
            table.setup.cluster.overlapCompute = 1 + static_cast<double>(number(0, 5)) * 0.1;
            table.setup.cluster.overlapTransfer = 1 + static_cast<double>(number(0, 5)) * 0.1;
        }
        table.setup.time = TimeMode::Overlap;
        if (number(0, 3) == 0)
            table.setup.memory = MemoryMode::Paper;
        return table;
    }

    std::int64_t number(std::int64_t low, std::int64_t high) { return m_tables.number(low, high); }

private:
    void repeat(CostTable& table, int units)
    {
        const auto period = static_cast<std::size_t>(number(1, 3));
        while (table.units.size() < static_cast<std::size_t>(units))
            table.units.push_back(table.units[table.units.size() % std::min(period, table.units.size())]);
        for (std::size_t unit = period; unit < table.units.size(); ++unit)
            table.units[unit].costClass = table.units[unit % period].costClass;
    }

    void setTimes(OptionCost& cost, double transfers)
    {
        const auto some = [&](std::int64_t most) { return Seconds(static_cast<double>(number(0, most)) * 1e-3); };
        const bool gathers = !cost.strategy.replicated();
        cost.forwardCompute = some(30) + Seconds(1e-3);
        cost.backwardCompute = some(60) + Seconds(1e-3);
        cost.gatherForward = gathers ? some(30) * transfers : Seconds();
        cost.gatherBackward = gathers && number(0, 3) > 0 ? some(30) * transfers : Seconds();
        cost.scatter = gathers ? some(30) * transfers : Seconds();
        cost.reduce = cost.scatter + (number(0, 2) == 0 || !gathers ? some(40) * transfers : Seconds());
        cost.step = some(5);
    }

    RandomTables m_tables;
};

inline void forEachChoiceOf(const CostTable& table, const std::function<void(const Choice&)>& visit)
{
    Choice choice(table.units.size());
    while (true) {
        visit(choice);
        std::size_t unit = 0;
        while (unit < choice.size() && ++choice[unit] == table.options(unit).size())
            choice[unit++] = 0;
        if (unit == choice.size())
            return;
    }
}

/// Least overlapped time within a budget; infinite if nothing fits.
inline double leastOverlapped(const CostTable& table, Bytes budget)
{
    double least = std::numeric_limits<double>::infinity();
    forEachChoiceOf(table, [&](const Choice& choice) {
        if (plannedPeak(table, choice) <= budget)
            least = std::min(least, stepTime(table, choice).overlapped.value());
    });
    return least;
}

} // namespace loadline::testing
