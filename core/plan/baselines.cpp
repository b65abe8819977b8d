// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/baselines.hpp"

#include "core/plan/baseline_osdp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace loadline {
namespace {

/// What one way asks of every unit.
struct Uniform {
    std::int64_t group = 1;
    bool reshard = true;
};

std::optional<std::uint32_t> optionOf(const CostTable& table, std::size_t unit, const Uniform& wish)
{
    const auto& options = table.options(unit);
    for (std::uint32_t i = 0; i < options.size(); ++i) {
        const Strategy& strategy = options[i].strategy;
        const bool stored = wish.group == 1 ? strategy.replicated() : strategy.group == wish.group && strategy.shardedSlices == 1;
        if (stored && strategy.slices == 1 && strategy.reshardAfterForward == wish.reshard)
            return i;
    }
    return std::nullopt;
}

/// The unit's option under `wish`; units that have nothing to shard, or no copy of their own to keep, take what they have.
std::optional<Choice> uniformChoice(const CostTable& table, const Uniform& wish)
{
    Choice choice;
    for (std::size_t unit = 0; unit < table.units.size(); ++unit) {
        auto option = optionOf(table, unit, wish);
        if (!option && !wish.reshard)
            option = optionOf(table, unit, {wish.group, true});
        if (!option && (table.units[unit].parameters == 0 || table.options(unit).size() == 1))
            option = 0;
        if (!option)
            return std::nullopt;
        choice.push_back(*option);
    }
    return choice;
}

Baseline pricedBaseline(const CostTable& table, Bytes budget, std::string name, Choice choice, std::string note)
{
    Baseline result;
    result.name = std::move(name);
    result.peak = plannedPeak(table, choice);
    result.objective = stepTime(table, choice).in(table.setup.time);
    result.shortBy = std::max(result.peak - std::max(budget, Bytes()), Bytes());
    result.choice = std::move(choice);
    result.note = std::move(note);
    return result;
}

Baseline unavailable(std::string name, std::string note)
{
    Baseline result;
    result.name = std::move(name);
    result.available = false;
    result.note = std::move(note);
    return result;
}

Baseline uniformBaseline(const CostTable& table, Bytes budget, std::string name, const Uniform& wish, std::string note)
{
    auto choice = uniformChoice(table, wish);
    if (!choice)
        return unavailable(std::move(name), fmt::format("No unit may be sharded over {} ranks; offer that group.", wish.group));
    return pricedBaseline(table, budget, std::move(name), *std::move(choice), std::move(note));
}

/// DeepCompile's selective gather (deepspeedai/DeepSpeed at edaa722, compile/passes/selective_gather.py): units in the order of gather time
/// per byte, longest first, stay gathered until the next one would exceed 0.9 x memory - peak of the sharded run; it stops at the first
/// misfit.
Choice deepCompileChoice(const CostTable& table, Bytes budget, const Choice& sharded, const Choice& kept)
{
    std::vector<std::size_t> order;
    for (std::size_t unit = 0; unit < table.units.size(); ++unit)
        if (sharded[unit] != kept[unit])
            order.push_back(unit);
    const auto secondsPerByte = [&](std::size_t unit) {
        const OptionCost& cost = table.options(unit)[sharded[unit]];
        return (cost.gatherForward + cost.gatherBackward).value() / static_cast<double>(std::max<std::int64_t>(cost.gathered.count(), 1));
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return secondsPerByte(a) > secondsPerByte(b); });

    Choice choice = sharded;
    const std::int64_t nineTenths = budget.count() / 10 * 9;
    std::int64_t left = nineTenths - plannedPeak(table, sharded).count();
    for (const std::size_t unit : order) {
        left -= table.options(unit)[sharded[unit]].gathered.count();
        if (left < 0)
            break;
        choice[unit] = kept[unit];
    }
    return choice;
}

Baseline deepCompile(const CostTable& table, Bytes budget)
{
    const std::int64_t ranks = table.setup.cluster.ranks();
    const auto sharded = uniformChoice(table, {ranks, true});
    const auto kept = uniformChoice(table, {ranks, false});
    if (!sharded || !kept)
        return unavailable("greedy (DeepCompile)", "It starts from every unit sharded over all ranks, which is not offered here.");
    if (*sharded == *kept)
        return unavailable("greedy (DeepCompile)", "No unit may keep its gathered copy under these runtime rules.");
    return pricedBaseline(table, budget, "greedy (DeepCompile)", deepCompileChoice(table, std::max(budget, Bytes()), *sharded, *kept),
                          "Everything sharded; gathered copies kept by gather time per byte until 0.9 x budget - peak is used up.");
}

} // namespace

std::vector<Baseline> baselines(const CostTable& table, Bytes budget)
{
    const std::int64_t ranks = table.setup.cluster.ranks();
    const std::int64_t perNode = table.setup.cluster.gpusPerNode;
    std::vector<Baseline> all;
    all.push_back(uniformBaseline(table, budget, "all DP", {1, true}, "Everything replicated."));
    if (ranks == 1) {
        for (const char* name : {"all ZDP (FSDP)", "ZeRO-2", "HSDP", "greedy (DeepCompile)"})
            all.push_back(unavailable(name, "One rank has nobody to share with."));
    } else {
        all.push_back(uniformBaseline(table, budget, "all ZDP (FSDP)", {ranks, true}, "Everything sharded over all ranks, unsplit."));
        all.push_back(uniformBaseline(table, budget, "ZeRO-2", {ranks, false}, "As FSDP, gathered copies kept until backward."));
        if (perNode == ranks || perNode == 1)
            all.push_back(unavailable("HSDP", perNode == 1 ? "With one GPU per node it is all DP." : "With one node it is FSDP."));
        else
            all.push_back(
                uniformBaseline(table, budget, "HSDP", {perNode, true}, fmt::format("Sharded over the {} GPUs of a node.", perNode)));
        all.push_back(deepCompile(table, budget));
    }
    const OsdpRelease release = osdpReleaseChoice(table, budget);
    if (release.choice)
        all.push_back(pricedBaseline(table, budget, "OSDP release", *release.choice, release.note));
    else
        all.push_back(unavailable("OSDP release", release.note));
    return all;
}

} // namespace loadline
