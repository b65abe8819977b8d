// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/exchange/request.hpp"
#include "core/plan/baselines.hpp"
#include "core/plan/planner.hpp"

#include <memory>
#include <stop_token>
#include <vector>

namespace loadline {

/// What a person has set: the flags of loadline-plan, the model they mean, and the budget in bytes.
struct Inputs {
    RequestOptions options;
    std::shared_ptr<const Model> model; ///< read once, so that undo does not depend on the file
    Bytes budget;
    friend bool operator==(const Inputs& a, const Inputs& b);
};

/// One question answered, ready to show. Shared and const.
struct PlanAnswer {
    Inputs inputs;
    ResolvedRequest resolved;
    std::shared_ptr<const PlanOutcome> outcome;
    std::shared_ptr<const Timeline> timeline; ///< of the plan; empty if nothing fits
    Bytes least;                              ///< least budget of these inputs
    Bytes most;                               ///< above it the plan no longer changes
    Bytes device;
    bool lookedUp = false; ///< a known plan, near enough to show while a hand moves; not yet loadline-plan's answer
};
using PlanAnswerPtr = std::shared_ptr<const PlanAnswer>;

/// The trade-off of one granularity and the baselines, at the batch and accumulation of `answer`'s plan;
/// the stair leaves recomputation as open as the request does.
struct TradeOffAnswer {
    int granularity = 1;
    std::vector<TradeOffPoint> stair;
    std::vector<Baseline> baselines;
};
using TradeOffAnswerPtr = std::shared_ptr<const TradeOffAnswer>;

/// Granularities that the slider offers: the most slices per operator. Each allows itself and all below.
inline constexpr int kGranularities[] = {1, 2, 4, 8, 16};

/// "1,2,4" for 4: what the slider means as a flag.
std::string granularityFlag(int most);
/// The largest of "1,2,4,8".
int mostGranularity(const std::string& flag);

/// `known`: the same stair from an earlier budget, so that only the baselines are new; may be null. Thread-safe.
Result<TradeOffAnswerPtr> answerTradeOff(const PlanAnswer& answer, int granularity, const TradeOffAnswerPtr& known,
                                         const std::stop_token& stop);

/// Two answers with equal keys have equal stairs.
std::string tradeOffKey(const PlanAnswer& answer);

} // namespace loadline
