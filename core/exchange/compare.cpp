// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/compare.hpp"

#include "core/base/json.hpp"
#include "core/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unordered_map>

namespace loadline {
namespace {

struct Placed {
    const Operator* op = nullptr;
    Strategy strategy;
};

/// Operators in execution order with the strategy of their unit; empty if nothing fitted.
std::vector<Placed> placedOperators(const PlanDocument& document)
{
    std::vector<Placed> placed;
    if (!document.outcome.plan)
        return placed;
    const auto& plan = *document.outcome.plan;
    const auto& operators = document.setup.model->operators;
    placed.resize(operators.size());
    const auto strategies = strategiesByOperator(plan.table, plan.choice);
    for (std::size_t i = 0; i < operators.size(); ++i)
        placed[i] = {&operators[i], strategies[i]};
    return placed;
}

void compareSettings(const PlanDocument& before, const PlanDocument& after, std::vector<std::string>& out)
{
    const auto text = [&](std::string_view what, const std::string& a, const std::string& b) {
        if (a != b)
            out.push_back(fmt::format("{}: {} -> {}", what, a, b));
    };
    const auto number = [&](std::string_view what, std::int64_t a, std::int64_t b) { text(what, std::to_string(a), std::to_string(b)); };
    const auto& a = before.setup;
    const auto& b = after.setup;
    text("model", a.model->name, b.model->name);
    text("device", a.cluster.device.name, b.cluster.device.name);
    number("nodes", a.cluster.nodes, b.cluster.nodes);
    number("GPUs per node", a.cluster.gpusPerNode, b.cluster.gpusPerNode);
    text("budget", formatBytes(before.outcome.budget), formatBytes(after.outcome.budget));
    number("sequence", a.sequence, b.sequence);
    number("batch", a.batch, b.batch);
    number("accumulation", a.accumulation, b.accumulation);
    text("precision", a.precision.name, b.precision.name);
    text("optimizer", a.optimizer.name, b.optimizer.name);
    text("runtime", a.rules.name, b.rules.name);
    number("recomputed blocks", a.recomputedBlocks, b.recomputedBlocks);
    text("recomputed part", std::string(recomputedPartWord(a.recomputedPart)), std::string(recomputedPartWord(b.recomputedPart)));
    text("attention", std::string(attentionWord(a.attention)), std::string(attentionWord(b.attention)));
    text("unit", std::string(unitWord(a.unit)), std::string(unitWord(b.unit)));
    text("memory", std::string(memoryWord(a.memory)), std::string(memoryWord(b.memory)));
    text("time", std::string(timeWord(a.time)), std::string(timeWord(b.time)));
    text("profile", before.provenance.profile, after.provenance.profile);
}

/// What must be equal for the figures of two plans to be about the plans.
void compareQuestions(const Setup& a, const Setup& b, std::vector<std::string>& out)
{
    const auto reason = [&](std::string_view what, const std::string& first, const std::string& second) {
        if (first != second)
            out.push_back(fmt::format("The two cannot be compared by their figures: {} ({} and {}).", what, first, second));
    };
    if (a.model->operators != b.model->operators)
        out.push_back(fmt::format("The two cannot be compared by their figures: they are of different models ({} and {}).", a.model->name,
                                  b.model->name));
    reason("they run on different devices", a.cluster.device.name, b.cluster.device.name);
    reason("they run on different numbers of ranks", std::to_string(a.cluster.ranks()), std::to_string(b.cluster.ranks()));
    reason("they have different sequence lengths", std::to_string(a.sequence), std::to_string(b.sequence));
    reason("they have different batches", fmt::format("{} x {}", a.batch, a.accumulation), fmt::format("{} x {}", b.batch, b.accumulation));
    reason("they have different precision recipes", a.precision.name, b.precision.name);
}

Json strategyJson(const std::optional<Strategy>& strategy)
{
    if (!strategy)
        return nullptr;
    return {{"group", strategy->group},
            {"slices", strategy->slices},
            {"sharded_slices", strategy->shardedSlices},
            {"recompute", strategy->recompute},
            {"reshard_after_forward", strategy->reshardAfterForward}};
}

} // namespace

PlanComparison comparePlans(const PlanDocument& before, const PlanDocument& after)
{
    PlanComparison result;
    const auto first = placedOperators(before);
    const auto second = placedOperators(after);
    std::unordered_map<std::string_view, const Placed*> later;
    for (const auto& placed : second)
        later.emplace(placed.op->name, &placed);
    for (const auto& placed : first) {
        const auto found = later.find(placed.op->name);
        if (found == later.end()) {
            result.operators.push_back({placed.op->name, placed.op->parameterCount(), placed.strategy, std::nullopt});
            continue;
        }
        if (found->second->strategy == placed.strategy)
            ++result.sameOperators;
        else
            result.operators.push_back({placed.op->name, placed.op->parameterCount(), placed.strategy, found->second->strategy});
        later.erase(found);
    }
    for (const auto& placed : second) {
        if (later.contains(placed.op->name))
            result.operators.push_back({placed.op->name, placed.op->parameterCount(), std::nullopt, placed.strategy});
    }
    compareSettings(before, after, result.settings);
    compareQuestions(before.setup, after.setup, result.incomparable);
    if (before.outcome.plan) {
        result.stepBefore = before.outcome.plan->objective;
        result.peakBefore = before.outcome.plan->peak;
    }
    if (after.outcome.plan) {
        result.stepAfter = after.outcome.plan->objective;
        result.peakAfter = after.outcome.plan->peak;
    }
    return result;
}

std::string comparisonJson(const PlanComparison& comparison)
{
    const auto seconds = [](const std::optional<Seconds>& value) { return value ? Json(value->value()) : Json(nullptr); };
    const auto bytes = [](const std::optional<Bytes>& value) { return value ? Json(value->count()) : Json(nullptr); };
    Json operators = Json::array();
    for (const auto& difference : comparison.operators)
        operators.push_back({{"name", difference.name},
                             {"parameters", difference.parameters},
                             {"before", strategyJson(difference.before)},
                             {"after", strategyJson(difference.after)}});
    Json json;
    json["format"] = "loadline.comparison/1";
    json["step_seconds"] = {{"before", seconds(comparison.stepBefore)}, {"after", seconds(comparison.stepAfter)}};
    json["peak_bytes"] = {{"before", bytes(comparison.peakBefore)}, {"after", bytes(comparison.peakAfter)}};
    json["same_operators"] = comparison.sameOperators;
    json["settings"] = comparison.settings;
    json["incomparable"] = comparison.incomparable;
    json["operators"] = std::move(operators);
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

} // namespace loadline
