// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/traffic.hpp"

#include "core/cost/option_sizes.hpp"

#include <algorithm>

namespace loadline {
namespace {

/// Units that use each unit's parameters in one forward: itself and its borrowers.
std::vector<std::int64_t> usesOf(const CostTable& table)
{
    std::vector<std::int64_t> uses(table.units.size(), 1);
    for (const Unit& unit : table.units)
        for (const std::size_t owner : unit.borrows)
            ++uses[owner];
    return uses;
}

bool embedsOnly(const Setup& setup, const Unit& unit)
{
    return std::all_of(unit.operators.begin(), unit.operators.end(),
                       [&](std::size_t op) { return std::holds_alternative<EmbeddingTraits>(setup.model->operators[op].traits); });
}

/// How often a unit is gathered in one micro-step.
std::int64_t gathersOf(const Setup& setup, const Unit& unit, const Strategy& strategy, std::int64_t uses, bool inRoot)
{
    if (inRoot)
        return 1;
    if (!strategy.reshardAfterForward)
        return uses;
    const bool first = !setup.rules.embeddingsSkipBackward || !embedsOnly(setup, unit);
    const bool thrice = strategy.recompute && !setup.rules.recomputeKeepsGathered;
    return uses + (uses - (first ? 0 : 1)) * (thrice ? 2 : 1);
}

} // namespace

Traffic stepTraffic(const CostTable& table, const Choice& choice)
{
    const Setup& setup = table.setup;
    const auto uses = usesOf(table);
    const std::int64_t ranks = setup.cluster.ranks();
    Traffic traffic;
    for (std::size_t u = 0; u < table.units.size(); ++u) {
        const Unit& unit = table.units[u];
        const Strategy& strategy = table.options(u)[choice[u]].strategy;
        const bool rootDp = setup.rules.replicatedIsRootUnit && strategy.replicated();
        const bool inRoot = unit.root || rootDp;
        const std::int64_t gathers = gathersOf(setup, unit, strategy, uses[u], inRoot) * setup.accumulation;
        const std::int64_t scatters = (inRoot ? 1 : uses[u]) * setup.accumulation;
        for (const SliceSizes& slice : sliceSizes(setup, unit, strategy)) {
            const std::int64_t group = rootDp ? ranks : slice.sharded ? strategy.group : 1;
            const Bytes gradient = bytesOf(slice.paddedTrainable, setup.precision.reduced);
            if (group > 1) {
                traffic.allGather += bytesOf(slice.padded, setup.precision.gathered) * gathers;
                traffic.reduceScatter += gradient * scatters;
            }
            if (group < ranks)
                traffic.allReduce += Bytes(ceilDiv(gradient.count(), group));
        }
    }
    return traffic;
}

} // namespace loadline
