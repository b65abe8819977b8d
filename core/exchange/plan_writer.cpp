// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/plan_document.hpp"
#include "core/exchange/problem.hpp"
#include "core/exchange/setup_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace loadline {
namespace {

PeakParts paperParts(const Plan& plan)
{
    PeakParts parts;
    for (std::size_t unit = 0; unit < plan.choice.size(); ++unit) {
        const auto& cost = plan.cost(unit);
        parts.states += cost.states();
        parts.activations += cost.saved;
    }
    parts.overhead = plan.table.overhead;
    parts.transient = plan.peak - parts.states - parts.activations - parts.overhead;
    return parts;
}

Json memoryJson(const PlanOutcome& outcome)
{
    Json json;
    json["budget_bytes"] = outcome.budget.count();
    if (!outcome.plan) {
        const auto least = outcome.infeasible ? outcome.infeasible->leastBudget.count() : 0;
        json["peak_bytes"] = least; // the smallest peak that any plan has
        for (const auto* key : {"states_bytes", "activation_bytes", "transient_bytes", "overhead_bytes"})
            json[key] = nullptr;
        return json;
    }
    const auto parts = peakParts(*outcome.plan);
    json["peak_bytes"] = outcome.plan->peak.count();
    json["states_bytes"] = parts.states.count();
    json["activation_bytes"] = parts.activations.count();
    json["transient_bytes"] = parts.transient.count();
    json["overhead_bytes"] = parts.overhead.count();
    json["paper_bound_bytes"] = outcome.plan->paperPeak.count();
    return json;
}

Json operatorsJson(const Plan& plan)
{
    const auto& model = *plan.table.setup.model;
    const auto strategies = strategiesByOperator(plan.table, plan.choice);
    Json list = Json::array();
    for (std::size_t i = 0; i < model.operators.size(); ++i) {
        const Strategy& strategy = strategies[i];
        Json entry;
        entry["name"] = model.operators[i].name;
        entry["parameters"] = model.operators[i].parameterCount();
        entry["group"] = strategy.group;
        entry["slices"] = strategy.slices;
        entry["sharded_slices"] = strategy.shardedSlices;
        entry["recompute"] = strategy.recompute;
        entry["reshard_after_forward"] = strategy.reshardAfterForward;
        list.push_back(std::move(entry));
    }
    return list;
}

Json infeasibleJson(const Infeasibility& why)
{
    Json ways = Json::array();
    for (const auto& way : why.waysOut)
        ways.push_back({{"what", way.what}, {"least_budget_bytes", way.leastBudget.count()}});
    Json json;
    json["least_budget_bytes"] = why.leastBudget.count();
    json["because"] = why.because;
    json["ways_out"] = std::move(ways);
    return json;
}

Json timeJson(const Plan& plan)
{
    Json json;
    json["mode"] = timeWord(plan.table.setup.time);
    json["serial_seconds"] = plan.time.serial.value();
    json["overlapped_seconds"] = plan.time.overlapped.value();
    json["compute_seconds"] = plan.time.compute.value();
    json["communication_seconds"] = plan.time.communication.value();
    json["exposed_seconds"] = plan.time.exposed.value();
    return json;
}

Json baselinesJson(const std::vector<Baseline>& list)
{
    Json json = Json::array();
    for (const auto& baseline : list) {
        Json entry;
        entry["name"] = baseline.name;
        entry["available"] = baseline.available;
        if (baseline.available) {
            entry["peak_bytes"] = baseline.peak.count();
            entry["step_seconds"] = baseline.objective.value();
            entry["short_by_bytes"] = std::max<std::int64_t>(0, baseline.shortBy.count());
        }
        entry["note"] = baseline.note;
        json.push_back(std::move(entry));
    }
    return json;
}

} // namespace

std::string_view loadlineVersion()
{
    return LOADLINE_VERSION;
}

PeakParts peakParts(const Plan& plan)
{
    if (plan.table.setup.memory == MemoryMode::Paper)
        return paperParts(plan);
    const auto timeline = playTimeline(plan.table, plan.choice);
    PeakParts parts;
    if (timeline.events.empty())
        return parts;
    const auto& bytes = timeline.events[timeline.peakEvent].bytes;
    const auto of = [&](MemoryCategory category) { return bytes[static_cast<std::size_t>(category)]; };
    parts.states = of(MemoryCategory::Parameters) + of(MemoryCategory::Gradients) + of(MemoryCategory::Optimizer);
    parts.activations = of(MemoryCategory::Activations);
    parts.transient = of(MemoryCategory::Gathered);
    parts.overhead = of(MemoryCategory::Overhead);
    return parts;
}

std::vector<Strategy> strategiesByOperator(const CostTable& table, const Choice& choice)
{
    std::vector<Strategy> strategies(table.setup.model->operators.size());
    const auto of = [&](std::size_t unit) -> const Strategy& { return table.options(unit)[choice[unit]].strategy; };
    for (std::size_t unit = 0; unit < table.units.size(); ++unit) {
        for (const auto index : table.units[unit].holds)
            strategies[index] = of(unit);
    }
    for (std::size_t unit = 0; unit < table.units.size(); ++unit) {
        for (const auto index : table.units[unit].operators)
            strategies[index].recompute = of(unit).recompute;
    }
    return strategies;
}

std::string planJson(const PlanDocument& document)
{
    const auto& outcome = document.outcome;
    const auto& setup = document.setup;
    const auto figure = [&](double value) { return outcome.plan ? Json(value) : Json(nullptr); };
    Json json;
    json["format"] = "loadline.plan/1";
    json["status"] = statusName(outcome.status);
    json["step_seconds"] = figure(outcome.plan ? outcome.plan->objective.value() : 0);
    json["lower_bound_seconds"] = figure(outcome.lowerBound.value());
    json["gap"] = figure(outcome.gap);
    json["samples_per_second"] = figure(outcome.plan ? outcome.plan->samplesPerSecond() : 0);
    json["tokens_per_second"] = figure(outcome.plan ? outcome.plan->tokensPerSecond() : 0);
    json["batch"] = setup.batch;
    json["accumulation"] = setup.accumulation;
    json["sequence"] = setup.sequence;
    json["ranks"] = setup.cluster.ranks();
    json["memory"] = memoryJson(outcome);
    json["time"] = outcome.plan ? timeJson(*outcome.plan) : Json(nullptr);
    json["operators"] = outcome.plan ? operatorsJson(*outcome.plan) : Json::array();
    json["shadow_price_seconds_per_gib"] = figure(outcome.secondsPerGib);
    json["infeasible"] = outcome.infeasible ? infeasibleJson(*outcome.infeasible) : Json(nullptr);
    json["baselines"] = baselinesJson(document.baselines);
    json["work"] = outcome.work;
    json["provenance"] = {{"model", document.provenance.model},
                          {"cluster", document.provenance.cluster},
                          {"profile", document.provenance.profile},
                          {"loadline", loadlineVersion()}};
    json["setup"] = setupJson(setup, document.pins);
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

} // namespace loadline
