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

} // namespace

bool operator==(const Inputs& a, const Inputs& b)
{
    return a.model == b.model && a.budget == b.budget && sameOptions(a.options, b.options);
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
