// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/units.hpp"
#include "core/cost/traffic.hpp"
#include "core/export/run_log.hpp"
#include "core/plan/planner.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace loadline {

/// One rank's run: medians over the steps after the first, which warms caches up (of the first if there is no other).
struct RankResult {
    std::int64_t rank = 0;
    Seconds seconds;
    std::optional<Bytes> peakAllocated; ///< the most over all steps
    std::optional<Bytes> peakReserved;
    Traffic traffic;                   ///< of one step
    std::vector<std::string> outliers; ///< one sentence each
};

/// A run beside what its plan predicted.
struct RunCheck {
    std::int64_t steps = 0;
    Seconds predictedSeconds;
    Seconds seconds; ///< median over ranks
    Bytes predictedAllocated;
    std::optional<Bytes> allocated; ///< of the rank that took most
    Traffic predictedTraffic;
    bool trafficEqual = true; ///< every rank, every step
    std::vector<RankResult> ranks;
    std::vector<double> losses;     ///< by step
    std::vector<std::string> notes; ///< one sentence each: what keeps the two from being compared
};

/// A rank is an outlier if its time is more than 10 % over the median of all ranks, or its peak more than 2 % off the prediction, or its
/// bytes differ from the prediction at all. `plan` must be under the runtime's rules (fsdp2Plan).
RunCheck checkRun(const Plan& plan, const RunLog& log);

/// The document "loadline.run-check/1" (docs/export.md).
std::string runCheckJson(const RunCheck& check, const RunLog& log);

} // namespace loadline
