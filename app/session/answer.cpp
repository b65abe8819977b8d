// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/answer.hpp"

#include "core/base/text.hpp"
#include "core/cost/cost_table.hpp"
#include "core/plan/trade_off.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>

namespace loadline {
namespace {

constexpr int kTradeOffSteps = 96;                ///< budgets for each number of recomputed blocks
constexpr std::int64_t kTradeOffWork = 2'000'000; ///< likewise; the same on every machine

bool sameOptions(const RequestOptions& a, const RequestOptions& b)
{
    const auto key = [](const RequestOptions& o) {
        return std::tie(o.model, o.lora, o.cluster, o.nodes, o.gpusPerNode, o.sequence, o.batch, o.accumulation, o.globalBatch,
                        o.granularity, o.groups, o.recompute, o.unit, o.precision, o.attention, o.dropout, o.optimizer, o.overhead,
                        o.memory, o.time, o.runtime, o.profile, o.pins, o.work);
    };
    return key(a) == key(b);
}

/// With the batch, accumulation and recomputation that the search chose.
const Setup& shownSetup(const PlanAnswer& answer)
{
    return answer.outcome->plan ? answer.outcome->plan->table.setup : answer.resolved.request.setup;
}

/// Above it the plan no longer changes at the chosen batch; 0 if that cannot be said.
Bytes mostBudgetOf(const PlanAnswer& answer)
{
    Setup setup = shownSetup(answer);
    if (answer.resolved.request.recompute == Recompute::Auto)
        setup.recomputedBlocks = 0; // as memory grows, the last block stops being recomputed
    auto table = buildCostTable(setup);
    if (!table)
        return {};
    const auto planner = Planner::prepare(*std::move(table), answer.resolved.request.pins);
    return planner ? planner->mostBudget() : Bytes();
}

} // namespace

Bytes LeastBudget::of(const Inputs& inputs, PlanRequest request)
{
    Inputs key = inputs;
    key.budget = Bytes();
    const std::lock_guard lock(m_mutex);
    if (m_inputs && *m_inputs == key)
        return m_least;
    // What a search says that has next to nothing: it names the least that any choice needs.
    request.budget = Bytes(1);
    const auto outcome = makePlan(request);
    if (!outcome || outcome->cancelled || !outcome->infeasible)
        return {};
    m_inputs = std::move(key);
    m_least = outcome->infeasible->leastBudget;
    return m_least;
}

bool operator==(const Inputs& a, const Inputs& b)
{
    return a.model == b.model && a.budget == b.budget && sameOptions(a.options, b.options);
}

Result<PlanAnswerPtr> answerPlan(const Inputs& inputs, LeastBudget& least, const std::stop_token& stop)
{
    auto resolved = resolveRequest(inputs.options, inputs.model);
    if (!resolved)
        return resolved.error();
    PlanRequest& request = resolved->request;
    request.budget = inputs.budget;
    request.limits.stop = stop;
    auto outcome = makePlan(request);
    if (!outcome)
        return outcome.error();
    auto answer = std::make_shared<PlanAnswer>();
    answer->inputs = inputs;
    answer->device = request.setup.cluster.device.memory;
    answer->outcome = std::make_shared<const PlanOutcome>(*std::move(outcome));
    if (answer->outcome->plan)
        answer->timeline = std::make_shared<const Timeline>(playTimeline(answer->outcome->plan->table, answer->outcome->plan->choice));
    answer->least = answer->outcome->infeasible ? answer->outcome->infeasible->leastBudget : least.of(inputs, request);
    answer->resolved = *std::move(resolved);
    answer->most = mostBudgetOf(*answer);
    return PlanAnswerPtr(std::move(answer));
}

std::string granularityFlag(int most)
{
    std::string flag = "1";
    for (const int g : kGranularities) {
        if (g > 1 && g <= most)
            flag += fmt::format(",{}", g);
    }
    return flag;
}

int mostGranularity(const std::string& flag)
{
    int most = 1;
    for (const std::string& part : split(flag, ',')) {
        int value = 0;
        std::from_chars(part.data(), part.data() + part.size(), value);
        most = std::max(most, value);
    }
    return most;
}

Result<TradeOffAnswerPtr> answerTradeOff(const PlanAnswer& answer, int granularity, const TradeOffAnswerPtr& known,
                                         const std::stop_token& stop)
{
    PlanRequest request = answer.resolved.request;
    request.setup = shownSetup(answer);
    request.setup.granularities.clear();
    for (const int g : kGranularities) {
        if (g <= granularity)
            request.setup.granularities.push_back(g);
    }
    const auto table = buildCostTable(request.setup);
    if (!table)
        return table.error();
    auto result = std::make_shared<TradeOffAnswer>();
    result->granularity = granularity;
    result->baselines = baselines(*table, answer.inputs.budget);
    if (known) {
        result->stair = known->stair;
        return TradeOffAnswerPtr(std::move(result));
    }
    request.limits.work = kTradeOffWork;
    request.limits.stop = stop;
    auto stair = tradeOff(request, kTradeOffSteps);
    if (!stair)
        return stair.error();
    result->stair = *std::move(stair);
    return TradeOffAnswerPtr(std::move(result));
}

std::string tradeOffKey(const PlanAnswer& answer)
{
    RequestOptions options = answer.inputs.options;
    const Setup& setup = shownSetup(answer);
    std::string key;
    for (const std::string* part :
         {&options.cluster, &options.groups, &options.unit, &options.precision, &options.attention, &options.dropout, &options.optimizer,
          &options.overhead, &options.memory, &options.runtime, &options.profile})
        key.append(*part).append("\n");
    for (const std::string& pin : options.pins)
        key.append(pin).append("\n");
    return key + fmt::format("{} {} {} {} {}", static_cast<const void*>(answer.inputs.model.get()), setup.sequence, setup.batch,
                             setup.accumulation, options.recompute);
}

} // namespace loadline
