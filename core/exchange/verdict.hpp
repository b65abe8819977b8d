// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/cost/cost_table.hpp"
#include "core/cost/profile.hpp"
#include "core/cost/timeline.hpp"
#include "core/exchange/worker.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Predicted against measured: a plan laid beside what its training told (docs/verification.md). Values only; the window draws them and
/// the terminal prints them.
namespace loadline {

/// What a run told so far.
struct RunTrace {
    std::vector<WorkerStep> steps; ///< of all ranks, as they came
    std::vector<WorkerTimeline> timelines;
    std::vector<WorkerUnit> units;
    std::optional<WorkerResult> result;

    /// Keeps what a comparison needs; other events are nothing to it.
    void take(const WorkerEvent& event);
};

/// Reads what `loadline-device train` wrote. A run that broke off is read as far as it goes. Errors: as readEvent, with `origin` and line.
Result<RunTrace> readRunTrace(std::string_view text, std::string_view origin);

/// Figures of one unit in one optimizer step: medians over ranks.
struct UnitDifference {
    std::size_t unit = 0;
    std::string name;
    Seconds predictedForward;
    Seconds measuredForward;
    Seconds predictedBackward; ///< with what is recomputed
    Seconds measuredBackward;
};

/// One part of a total with its error. The terms of a kind sum to its total.
struct VerdictTerm {
    enum class Kind { Time, Memory };
    Kind kind = Kind::Time;
    std::string name;
    double predicted = 0; ///< seconds or bytes
    double measured = 0;
    double share = 0;  ///< of the predicted total: (measured - predicted) / total
    std::string cause; ///< what the error is booked to, in words; empty where there is none to speak of
};

/// One sentence of the verdict.
struct VerdictLine {
    enum class Kind { Loss, Bytes, Peak, Time };
    Kind kind = Kind::Loss;
    std::optional<bool> holds; ///< empty: the run has no figure for it
    std::string text;
};

/// How far apart figures may be.
struct VerdictBounds {
    double loss = 1e-5; ///< relative, of a step's mean loss: fp32 sums in another order (docs/verification.md)
    double peak = 0.03; ///< of the predicted peak
    double time = 0.15; ///< of the predicted step
};
/// 1e-5 for fp32, 5e-3 for formats with bf16 gradients.
VerdictBounds verdictBounds(const Setup& setup);

struct RunComparison {
    std::vector<VerdictLine> lines; ///< loss, bytes, peak, time
    std::vector<VerdictTerm> terms; ///< of time, then of memory at the peak
    std::vector<UnitDifference> units;
    Timeline predicted;
    std::vector<TimelineEvent> measured; ///< of the rank with the highest peak; empty if none told its timeline
    Seconds predictedStep;               ///< two streams under the runtime's rules
    Seconds measuredStep;                ///< median over steps of the slowest rank, the first step left out where there are more
    Bytes predictedPeak;                 ///< of tensors: without the setup's overhead
    Bytes measuredPeak;                  ///< of the rank with the most
    std::int64_t steps = 0;              ///< that every rank finished
    double largestLossError = 0;         ///< relative

    /// Losses and bytes are equal and the peak is within bounds; time is told, not held.
    [[nodiscard]] bool holds() const;
};

/// `table` and `choice` as they were run. Figures of ranks and units that the plan does not have are left out. O(steps x ranks + units).
RunComparison compareRun(const CostTable& table, const Choice& choice, const RunTrace& record, const VerdictBounds& bounds);

/// As words for the terminal; `mostUnits` operators with the largest differences.
std::string comparisonText(const RunComparison& comparison, std::size_t mostUnits);
/// The four lines as one: what `packaging/tour` ends with.
std::string verdictText(const RunComparison& comparison);
/// The document "loadline.verdict/1".
std::string verdictJson(const RunComparison& comparison);

/// `base` (may be null) with the run's own times of its operators and optimizer in place of its rows for them: "Calibrate from this run".
/// Times of a unit of several operators are shared out as predicted. `device` and `date` say where and when, if there is no base.
Profile calibratedProfile(const Profile* base, const CostTable& table, const Choice& choice, const RunTrace& record,
                          const std::string& device, const std::string& date);

} // namespace loadline
