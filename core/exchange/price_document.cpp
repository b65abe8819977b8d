// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/price_document.hpp"

#include "core/base/json.hpp"
#include "core/exchange/problem.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace loadline {
namespace {

Json costJson(const Plan& plan)
{
    const auto parts = peakParts(plan);
    Json json;
    json["step_seconds"] = plan.objective.value();
    json["serial_seconds"] = plan.time.serial.value();
    json["overlapped_seconds"] = plan.time.overlapped.value();
    json["exposed_seconds"] = plan.time.exposed.value();
    json["samples_per_second"] = plan.samplesPerSecond();
    json["tokens_per_second"] = plan.tokensPerSecond();
    json["batch"] = plan.table.setup.batch;
    json["accumulation"] = plan.table.setup.accumulation;
    json["peak_bytes"] = plan.peak.count();
    json["states_bytes"] = parts.states.count();
    json["activation_bytes"] = parts.activations.count();
    json["transient_bytes"] = parts.transient.count();
    json["overhead_bytes"] = parts.overhead.count();
    return json;
}

Json operatorsJson(const Plan& plan)
{
    const auto& operators = plan.table.setup.model->operators;
    const auto strategies = strategiesByOperator(plan.table, plan.choice);
    Json list = Json::array();
    for (std::size_t i = 0; i < operators.size(); ++i)
        list.push_back({{"name", operators[i].name},
                        {"parameters", operators[i].parameterCount()},
                        {"group", strategies[i].group},
                        {"slices", strategies[i].slices},
                        {"sharded_slices", strategies[i].shardedSlices},
                        {"recompute", strategies[i].recompute},
                        {"reshard_after_forward", strategies[i].reshardAfterForward}});
    return list;
}

} // namespace

double PriceDocument::distance() const
{
    const double best = optimum ? optimum->samplesPerSecond() : 0;
    return best > 0 ? 1 - plan.samplesPerSecond() / best : 0;
}

std::string priceJson(const PriceDocument& document)
{
    const auto over = document.plan.peak.count() - document.budget.count();
    Json json;
    json["format"] = "loadline.price/1";
    json["configuration"] = document.kind;
    json["fits"] = over <= 0;
    json["budget_bytes"] = document.budget.count();
    json["short_by_bytes"] = std::max<std::int64_t>(0, over);
    json["cost"] = costJson(document.plan);
    json["optimum"] = document.optimum ? costJson(*document.optimum) : Json(nullptr);
    json["optimum_status"] = statusName(document.optimumStatus);
    json["distance_to_optimum"] = document.optimum ? Json(document.distance()) : Json(nullptr);
    json["least_budget_bytes"] = document.optimum ? Json(nullptr) : Json(document.leastBudget.count());
    json["sequence"] = document.plan.table.setup.sequence;
    json["ranks"] = document.plan.table.setup.cluster.ranks();
    json["precision"] = document.plan.table.setup.precision.name;
    json["optimizer"] = document.plan.table.setup.optimizer.name;
    json["recomputed_blocks"] = document.plan.table.setup.recomputedBlocks;
    json["recomputed_part"] = recomputedPartWord(document.plan.table.setup.recomputedPart);
    json["notes"] = document.notes;
    json["operators"] = operatorsJson(document.plan);
    json["provenance"] = {{"model", document.provenance.model},
                          {"cluster", document.provenance.cluster},
                          {"profile", document.provenance.profile},
                          {"loadline", loadlineVersion()}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

} // namespace loadline
