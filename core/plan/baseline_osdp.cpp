// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/baseline_osdp.hpp"

#include "core/plan/knapsack.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace loadline {
namespace {

constexpr Bytes kOverhead = 800_MiB; ///< the release's extra_overhead
constexpr std::uint32_t kLevels = 4;

bool isLinear(const Operator& op)
{
    return std::holds_alternative<LinearTraits>(op.traits) || std::holds_alternative<ExpertsTraits>(op.traits);
}

/// Bit 0: attention's linears, bit 1: the MLP's; both where a unit holds both.
std::uint32_t levelBits(const CostTable& table, std::size_t unit)
{
    std::uint32_t bits = 0;
    for (const std::size_t index : table.units[unit].operators) {
        const Operator& op = table.setup.model->operators[index];
        if (isLinear(op))
            bits |= op.part == "mlp" ? 2U : 1U;
    }
    return bits;
}

std::optional<std::uint32_t> plainOption(const CostTable& table, std::size_t unit, bool sharded)
{
    const std::int64_t ranks = table.setup.cluster.ranks();
    const auto& options = table.options(unit);
    for (std::uint32_t i = 0; i < options.size(); ++i) {
        const Strategy& strategy = options[i].strategy;
        if (strategy.slices == 1 && strategy.reshardAfterForward && (sharded ? strategy.group == ranks : strategy.replicated()))
            return i;
    }
    return table.units[unit].parameters == 0 ? std::optional<std::uint32_t>(0) : std::nullopt;
}

/// One block's units and what they take at each level.
struct Block {
    std::vector<std::size_t> units;
    std::array<std::vector<std::uint32_t>, kLevels> choices;
    std::array<std::int64_t, kLevels> mebibytes{};
    std::array<std::int64_t, kLevels> ticks{};
};

bool priceBlock(const CostTable& table, Block& block)
{
    for (std::uint32_t level = 0; level < kLevels; ++level) {
        Bytes bytes;
        double seconds = 0;
        for (const std::size_t unit : block.units) {
            const std::uint32_t bits = levelBits(table, unit);
            const auto option = plainOption(table, unit, bits != 0 && (bits & level) == bits);
            if (!option)
                return false;
            const OptionCost& cost = table.options(unit)[*option];
            bytes += cost.persistent();
            seconds += cost.serial().value();
            block.choices[level].push_back(*option);
        }
        block.mebibytes[level] = bytes.count() / (1_MiB).count();
        block.ticks[level] = std::llround(std::min(seconds, 1e3) * 1e12);
    }
    return true;
}

std::map<int, Block> blocksOf(const CostTable& table)
{
    std::map<int, Block> blocks;
    for (std::size_t unit = 0; unit < table.units.size(); ++unit)
        if (table.units[unit].layer >= 0 && !table.units[unit].root)
            blocks[table.units[unit].layer].units.push_back(unit);
    return blocks;
}

std::optional<Choice> replicatedEverywhere(const CostTable& table)
{
    Choice choice;
    for (std::size_t unit = 0; unit < table.units.size(); ++unit) {
        const auto option = plainOption(table, unit, false);
        if (!option)
            return std::nullopt;
        choice.push_back(*option);
    }
    return choice;
}

} // namespace

OsdpRelease osdpReleaseChoice(const CostTable& table, Bytes budget)
{
    if (!table.setup.model)
        return {std::nullopt, "The table has no model behind it, so attention and MLP can't be told apart."};
    if (table.setup.cluster.ranks() == 1)
        return {std::nullopt, "One rank has nobody to share with."};
    auto choice = replicatedEverywhere(table);
    auto blocks = blocksOf(table);
    if (!choice || blocks.empty())
        return {std::nullopt, "It needs blocks whose units may be replicated or sharded over all ranks."};

    std::vector<KnapsackClass> classes;
    for (auto& [layer, block] : blocks) {
        if (!priceBlock(table, block))
            return {std::nullopt, "It needs blocks whose units may be replicated or sharded over all ranks."};
        KnapsackClass& added = classes.emplace_back();
        for (std::uint32_t level = 0; level < kLevels; ++level)
            added.options.push_back({block.mebibytes[level], 0, block.ticks[level]});
    }
    const auto problem = Knapsack::prepare(std::move(classes));
    if (!problem)
        return {std::nullopt, problem.error().message};
    const std::int64_t limit = (budget - kOverhead).count() / (1_MiB).count();
    const KnapsackPlan plan = problem->solve(limit);
    if (plan.status == SearchStatus::Infeasible)
        return {std::nullopt, "It finds no plan: the blocks alone exceed the budget less 800 MiB, even fully sharded."};
    std::size_t index = 0;
    for (const auto& [layer, block] : blocks) {
        const std::uint32_t level = plan.picks[index++].front().first;
        for (std::size_t i = 0; i < block.units.size(); ++i)
            (*choice)[block.units[i]] = block.choices[level][i];
    }
    return {std::move(choice), "Levels DP, attention, MLP, both per block by whole MiB within the budget less 800 MiB; all else DP; this "
                               "plan's batch instead of its own loop over 1 to 3; our DP instead of its root unit."};
}

} // namespace loadline
