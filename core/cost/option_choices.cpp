// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/option_choices.hpp"

#include "core/cost/unit.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace loadline {

Result<std::vector<std::int64_t>> offeredGroups(const Setup& setup)
{
    const std::int64_t ranks = setup.cluster.ranks();
    std::vector<std::int64_t> groups = setup.groups;
    if (groups.empty())
        groups = {1, setup.cluster.gpusPerNode, ranks};
    for (const std::int64_t group : groups)
        if (group < 1 || group > ranks || ranks % group != 0)
            return invalidInput(fmt::format("A shard group of {} does not divide the cluster's {} ranks; offer a divisor.", group, ranks));
    std::sort(groups.begin(), groups.end());
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    return groups;
}

const LinearTraits* splittableLinear(const Setup& setup, const Unit& unit)
{
    if (unit.root || unit.operators.size() != 1 || unit.holds != unit.operators || !unit.borrows.empty())
        return nullptr;
    return std::get_if<LinearTraits>(&setup.model->operators[unit.operators.front()].traits);
}

std::vector<Strategy> offeredStrategies(const Setup& setup, const Unit& unit, bool shared, const std::vector<std::int64_t>& groups)
{
    std::vector<Strategy> strategies;
    Strategy strategy;
    strategy.recompute = isRecomputed(setup, unit);
    if (unit.parameters == 0)
        return {strategy};
    const LinearTraits* linear = shared ? nullptr : splittableLinear(setup, unit);
    std::vector<int> granularities = setup.granularities;
    std::sort(granularities.begin(), granularities.end());
    granularities.erase(std::unique(granularities.begin(), granularities.end()), granularities.end());

    for (const std::int64_t group : groups) {
        strategy.group = group;
        strategy.slices = 1;
        strategy.shardedSlices = group == 1 ? 0 : 1;
        strategies.push_back(strategy);
        if (group == 1)
            continue;
        if (!unit.root && !setup.rules.replicatedIsRootUnit) {
            strategy.reshardAfterForward = false;
            strategies.push_back(strategy);
            strategy.reshardAfterForward = true;
        }
        for (const int slices : granularities) {
            if (slices < 2 || !linear || linear->in < slices)
                continue;
            strategy.slices = slices;
            for (strategy.shardedSlices = 1; strategy.shardedSlices <= slices; ++strategy.shardedSlices)
                strategies.push_back(strategy);
        }
    }
    return strategies;
}

} // namespace loadline
