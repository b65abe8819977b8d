// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/ways_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace loadline {
namespace {

struct Change {
    std::string what;
    Setup setup;
};

void splitFiner(Setup& setup)
{
    const int finest = setup.granularities.empty() ? 1 : *std::max_element(setup.granularities.begin(), setup.granularities.end());
    setup.granularities.push_back(std::max(finest * 2, 8));
}

void doubleRanks(Setup& setup)
{
    const std::int64_t ranks = setup.cluster.ranks();
    setup.cluster.nodes *= 2;
    if (!setup.groups.empty() && std::find(setup.groups.begin(), setup.groups.end(), ranks) != setup.groups.end())
        setup.groups.push_back(2 * ranks);
}

std::vector<Change> changesOf(const PlanRequest& request, const Setup& setup)
{
    std::vector<Change> changes;
    Setup all = setup;
    const auto add = [&](std::string what, auto change) {
        Setup changed = setup;
        change(changed);
        change(all);
        changes.push_back({std::move(what), std::move(changed)});
    };
    const int finest = setup.granularities.empty() ? 1 : *std::max_element(setup.granularities.begin(), setup.granularities.end());
    if (finest < 64)
        add(fmt::format("granularity {}", std::max(finest * 2, 8)), splitFiner);
    if (setup.batch > 1 && request.globalBatch == 0)
        add("batch 1", [](Setup& changed) { changed.batch = 1; });
    const std::int64_t blocks = setup.model ? setup.model->layerCount() : 0;
    if (setup.recomputedBlocks < blocks || setup.recomputedPart != RecomputedPart::Block)
        add(fmt::format("recompute {} blocks", blocks), [blocks](Setup& changed) {
            changed.recomputedBlocks = blocks;
            changed.recomputedPart = RecomputedPart::Block;
        });
    if (setup.cluster.ranks() <= 50'000)
        add(fmt::format("{} ranks", setup.cluster.ranks() * 2), doubleRanks);
    if (changes.size() > 1) {
        std::string together;
        for (const Change& change : changes)
            together += (together.empty() ? "" : " + ") + change.what;
        changes.push_back({std::move(together), std::move(all)});
    }
    return changes;
}

std::optional<Bytes> leastBudgetOf(const Setup& setup, const std::vector<Pin>& pins)
{
    auto table = buildCostTable(setup);
    if (!table)
        return std::nullopt;
    const auto planner = Planner::prepare(*std::move(table), pins);
    if (!planner)
        return std::nullopt;
    return planner->leastBudget();
}

} // namespace

std::vector<WayOut> waysOut(const PlanRequest& request, const Setup& setup, Bytes leastBudget)
{
    std::vector<WayOut> ways;
    for (const Change& change : changesOf(request, setup)) {
        if (request.limits.stop.stop_requested())
            break;
        const auto least = leastBudgetOf(change.setup, request.pins);
        if (least && *least < leastBudget)
            ways.push_back({change.what, *least});
    }
    std::stable_sort(ways.begin(), ways.end(), [](const WayOut& a, const WayOut& b) { return a.leastBudget < b.leastBudget; });
    return ways;
}

} // namespace loadline
