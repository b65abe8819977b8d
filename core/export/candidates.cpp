// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/candidates.hpp"

#include "core/base/text.hpp"
#include "core/exchange/plan_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace loadline {
namespace {

std::optional<std::uint32_t> optionFor(const std::vector<OptionCost>& options, const Unit& unit, const Storage& storage)
{
    for (const bool strict : {true, false})
        for (std::size_t i = 0; i < options.size(); ++i) {
            const Strategy& strategy = options[i].strategy;
            const bool reshard = storage.group == 1 || strategy.reshardAfterForward == storage.reshard || (!strict && unit.root);
            if (strategy.slices == 1 && strategy.group == storage.group && reshard)
                return static_cast<std::uint32_t>(i);
        }
    return options.size() == 1 ? std::optional<std::uint32_t>(0) : std::nullopt;
}

std::optional<Plan> priced(const Candidate& candidate)
{
    auto table = buildCostTable(candidate.setup);
    if (!table)
        return {};
    Choice choice;
    for (std::size_t u = 0; u < table->units.size(); ++u) {
        const auto option = optionFor(table->options(u), table->units[u], candidate.storage(table->units[u]));
        if (!option)
            return {};
        choice.push_back(*option);
    }
    return pricedPlan(std::move(*table), std::move(choice));
}

bool better(const Plan& a, const Plan& b, Bytes budget)
{
    const bool fits = a.peak <= budget;
    if (fits != (b.peak <= budget))
        return fits;
    return fits ? a.objective < b.objective : a.peak < b.peak;
}

} // namespace

Result<ChosenCandidate> bestCandidate(const std::vector<Candidate>& candidates, Bytes budget)
{
    std::optional<ChosenCandidate> best;
    for (const Candidate& candidate : candidates)
        if (auto plan = priced(candidate); plan && (!best || better(*plan, best->plan, budget)))
            best = ChosenCandidate{candidate.text, std::move(*plan)};
    if (!best)
        return unsupported("Nothing that this format can say is on offer under the plan's --groups; plan with --groups auto");
    return std::move(*best);
}

std::vector<std::string> lostDecisions(const Plan& before, const Plan& after, Bytes budget, std::string_view program)
{
    const auto& operators = before.table.setup.model->operators;
    const auto planned = strategiesByOperator(before.table, before.choice);
    const auto written = strategiesByOperator(after.table, after.choice);
    std::int64_t groups = 0;
    std::int64_t slices = 0;
    std::int64_t kept = 0;
    std::int64_t recomputed = 0;
    for (std::size_t i = 0; i < operators.size(); ++i) {
        recomputed += planned[i].recompute != written[i].recompute ? 1 : 0;
        if (operators[i].parameters.empty())
            continue;
        groups += planned[i].group != written[i].group ? 1 : 0;
        slices += planned[i].slices != written[i].slices ? 1 : 0;
        kept += planned[i].group > 1 && written[i].group > 1 && planned[i].reshardAfterForward != written[i].reshardAfterForward ? 1 : 0;
    }
    std::vector<std::string> lost;
    const auto say = [&](std::int64_t count, std::string_view words) {
        if (count > 0)
            lost.push_back(fmt::format("{} cannot say {} of {} operators as planned.", program, words, count));
    };
    say(slices, "the slices");
    say(groups, "the shard group");
    say(kept, "whether the copy is kept after forward");
    say(recomputed, "the recomputation");
    lost.push_back(lost.empty() ? fmt::format("{} says the whole plan.", program)
                                : fmt::format("All of that costs {}.", costInWords(before, after)));
    if (after.peak > budget)
        lost.push_back(fmt::format("It does not fit: the peak is {} and the budget {}.", formatBytes(after.peak), formatBytes(budget)));
    return lost;
}

} // namespace loadline
