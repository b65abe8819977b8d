// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/projection.hpp"

#include "core/base/text.hpp"
#include "core/exchange/plan_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace loadline {
namespace {

/// The strategies that a unit's operators had, with the parameters that had them.
struct Wanted {
    Strategy strategy;
    std::int64_t others = 0; ///< operators that had another one
};

Wanted wantedOf(const Unit& unit, const Model& model, const std::vector<Strategy>& before)
{
    std::map<Strategy, std::pair<std::int64_t, std::int64_t>> found; // parameters, operators
    for (const std::size_t op : unit.holds) {
        Strategy strategy = before[op];
        strategy.recompute = false; // a setting of the layer, the same before and after
        auto& [parameters, operators] = found[strategy];
        parameters += model.operators[op].parameterCount();
        ++operators;
    }
    Wanted wanted;
    std::int64_t most = -1;
    std::int64_t operators = 0;
    for (const auto& [strategy, counts] : found) {
        operators += counts.second;
        if (counts.first > most) {
            most = counts.first;
            wanted.strategy = strategy;
            wanted.others = -counts.second;
        }
    }
    wanted.others += operators;
    return wanted;
}

bool sameStorage(const Strategy& a, Strategy b)
{
    b.recompute = a.recompute;
    return a == b;
}

/// How far a decision had to be weakened: 0 not at all, then each step drops one more part of it.
constexpr std::array kWeakenings{"", "{} units could not be split there and are whole, with the same shard group",
                                 "{} units give their gathered copy back after forward",
                                 "{} units take another shard group, since theirs is not offered"};

Strategy weakened(Strategy strategy, std::size_t level)
{
    if (level >= 1 && strategy.slices > 1) {
        strategy.slices = 1;
        strategy.shardedSlices = strategy.group > 1 ? 1 : 0;
    }
    if (level >= 2)
        strategy.reshardAfterForward = true;
    return strategy;
}

std::uint32_t closest(const std::vector<OptionCost>& options, const Strategy& wanted, std::size_t& level)
{
    for (level = 0; level + 1 < kWeakenings.size(); ++level) {
        const Strategy strategy = weakened(wanted, level);
        for (std::size_t i = 0; i < options.size(); ++i)
            if (sameStorage(options[i].strategy, strategy))
                return static_cast<std::uint32_t>(i);
    }
    return 0;
}

} // namespace

Plan pricedPlan(CostTable table, Choice choice)
{
    Plan plan;
    plan.table = std::move(table);
    plan.choice = std::move(choice);
    plan.peak = plannedPeak(plan.table, plan.choice);
    plan.paperPeak = paperPeak(plan.table, plan.choice);
    plan.time = stepTime(plan.table, plan.choice);
    plan.objective = plan.table.setup.time == TimeMode::Overlap ? plan.time.overlapped : plan.time.serial;
    return plan;
}

Result<Projection> project(const Plan& plan, const Setup& setup)
{
    auto table = buildCostTable(setup);
    if (!table)
        return table.error();
    const auto before = strategiesByOperator(plan.table, plan.choice);
    Choice choice(table->units.size(), 0);
    std::array<std::int64_t, kWeakenings.size()> counts{};
    Projection projection;
    for (std::size_t u = 0; u < table->units.size(); ++u) {
        const Unit& unit = table->units[u];
        if (unit.holds.empty())
            continue;
        const Wanted wanted = wantedOf(unit, *setup.model, before);
        std::size_t level = 0;
        choice[u] = closest(table->options(u), wanted.strategy, level);
        ++counts[level];
        if (wanted.others > 0)
            projection.notes.push_back(
                fmt::format("The unit {} is one: all of it is {}, though {} of its operators were planned otherwise.", unit.name,
                            strategyLabel(table->options(u)[choice[u]].strategy, setup.cluster.ranks()), wanted.others));
    }
    for (std::size_t level = 1; level < counts.size(); ++level)
        if (counts[level] > 0)
            projection.notes.push_back(fmt::format(fmt::runtime(kWeakenings[level]), counts[level]) + ".");
    projection.plan = pricedPlan(std::move(*table), std::move(choice));
    return projection;
}

std::string costInWords(const Plan& before, const Plan& after)
{
    const Bytes bytes = after.peak - before.peak;
    const Seconds seconds = after.objective - before.objective;
    const auto more = [](bool up) { return up ? "more" : "less"; };
    const Bytes absolute = bytes < Bytes(0) ? Bytes(0) - bytes : bytes;
    const Seconds time = seconds < Seconds(0) ? Seconds(0) - seconds : seconds;
    return fmt::format("{} {} at the peak and {} {} a step", formatBytes(absolute), more(bytes >= Bytes(0)), formatSeconds(time),
                       more(seconds >= Seconds(0)));
}

} // namespace loadline
