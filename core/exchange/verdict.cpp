// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/verdict.hpp"

#include "core/base/text.hpp"
#include "core/cost/step_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace loadline {
namespace {

constexpr double kWorthBooking = 0.005; ///< of a total: smaller errors get no cause
constexpr std::array<std::string_view, kMemoryCategories> kCategories{"parameters",  "gradients", "optimizer",
                                                                      "activations", "gathered",  "inputs"};

double median(std::vector<double> values)
{
    if (values.empty())
        return 0;
    std::sort(values.begin(), values.end());
    const auto middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double deviation(double measured, double predicted)
{
    return predicted > 0 ? measured / predicted - 1 : (measured > 0 ? std::numeric_limits<double>::infinity() : 0);
}

/// The steps that every rank finished, in order, each with its slowest rank.
std::vector<const WorkerStep*> slowestOfSteps(const RunTrace& record, std::int64_t ranks)
{
    struct Seen {
        std::vector<int> ranks;
        const WorkerStep* slowest = nullptr;
    };
    std::map<std::int64_t, Seen> steps;
    for (const auto& step : record.steps) {
        if (step.rank >= ranks)
            continue;
        auto& seen = steps[step.step];
        if (std::find(seen.ranks.begin(), seen.ranks.end(), step.rank) == seen.ranks.end())
            seen.ranks.push_back(step.rank);
        if (seen.slowest == nullptr || step.seconds > seen.slowest->seconds)
            seen.slowest = &step;
    }
    std::vector<const WorkerStep*> slowest;
    for (const auto& [number, seen] : steps)
        if (static_cast<std::int64_t>(seen.ranks.size()) == ranks)
            slowest.push_back(seen.slowest);
    return slowest;
}

/// The step of median length; the first one warms up.
const WorkerStep* middleStep(std::vector<const WorkerStep*> steps)
{
    if (steps.empty())
        return nullptr;
    if (steps.size() > 1)
        steps.erase(steps.begin());
    const auto middle = steps.begin() + static_cast<std::ptrdiff_t>((steps.size() - 1) / 2);
    std::nth_element(steps.begin(), middle, steps.end(), [](const WorkerStep* a, const WorkerStep* b) { return a->seconds < b->seconds; });
    return *middle;
}

void finishTerms(std::vector<VerdictTerm>& terms, VerdictTerm::Kind kind, double total)
{
    for (auto& term : terms) {
        if (term.kind != kind)
            continue;
        term.share = total > 0 ? (term.measured - term.predicted) / total : 0;
        if (std::abs(term.share) < kWorthBooking)
            term.cause.clear();
    }
}

/// Which operator's time is furthest off, and where its figure came from.
std::string computeCause(const CostTable& table, const RunComparison& comparison)
{
    const UnitDifference* most = nullptr;
    double worst = 0;
    for (const auto& unit : comparison.units) {
        const double error =
            std::abs((unit.measuredForward + unit.measuredBackward).value() - (unit.predictedForward + unit.predictedBackward).value());
        if (error > worst) {
            worst = error;
            most = &unit;
        }
    }
    if (most == nullptr)
        return table.setup.profile ? "operators took another time than in the profile" : "compute times are estimates: measure a profile";
    const bool estimated = table.units[most->unit].estimated;
    return fmt::format("{}, most of it at {}",
                       estimated ? "compute times that no profile row covers" : "operators against their rows in the profile", most->name);
}

void addTime(RunComparison& comparison, const CostTable& table, const StepTime& predicted, const WorkerStep& step,
             Seconds predictedOptimizer)
{
    const double computing = step.forward.value() + step.backward.value();
    const double beside = step.seconds.value() - computing - step.exposed.value() - step.optimizer.value();
    const auto kind = VerdictTerm::Kind::Time;
    const bool links = table.setup.profile && !table.setup.profile->links().empty();
    comparison.terms.push_back({kind, "forward and backward", (predicted.compute.value() - predictedOptimizer.value()), computing, 0,
                                computeCause(table, comparison)});
    comparison.terms.push_back({kind, "waiting for communication", predicted.exposed.value(), step.exposed.value(), 0,
                                links ? "links: ranks that come late, and collectives beside computing, against the measured curves"
                                      : "links: their speed is described, not measured"});
    comparison.terms.push_back({kind, "optimizer", predictedOptimizer.value(), step.optimizer.value(), 0,
                                "the optimizer's rate per parameter, and the norm where gradients are clipped"});
    comparison.terms.push_back(
        {kind, "beside the units", 0, beside, 0, "reading data and starting the next micro-step: not in the prediction"});
    finishTerms(comparison.terms, kind, predicted.overlapped.value());
}

/// `overhead`: of the setup, which no tensor holds.
void addMemory(RunComparison& comparison, Bytes overhead)
{
    if (comparison.measured.empty() || comparison.predicted.events.empty())
        return;
    const auto& predicted = comparison.predicted.events[comparison.predicted.peakEvent];
    const auto& measured = *std::max_element(comparison.measured.begin(), comparison.measured.end(),
                                             [](const TimelineEvent& a, const TimelineEvent& b) { return a.total() < b.total(); });
    for (std::size_t i = 0; i < kMemoryCategories; ++i) {
        const auto category = static_cast<MemoryCategory>(i);
        std::string cause = "states are another size than the plan's: a fault";
        if (category == MemoryCategory::Activations)
            cause = "what kernels save and need while they run, beside their forms (docs/activations.md)";
        else if (category == MemoryCategory::Gathered || category == MemoryCategory::Gradients)
            cause = "when copies and gradients are freed: the peaks lie at different moments of a unit";
        comparison.terms.push_back(
            {VerdictTerm::Kind::Memory, std::string(kCategories[i]),
             static_cast<double>((predicted.bytes[i] - (category == MemoryCategory::Overhead ? overhead : Bytes())).count()),
             static_cast<double>(measured.bytes[i].count()), 0, std::move(cause)});
    }
    finishTerms(comparison.terms, VerdictTerm::Kind::Memory, static_cast<double>(comparison.predictedPeak.count()));
}

void addUnits(RunComparison& comparison, const CostTable& table, const Choice& choice, const RunTrace& record)
{
    std::map<std::size_t, std::pair<std::vector<double>, std::vector<double>>> seconds;
    for (const auto& unit : record.units) {
        seconds[unit.unit].first.push_back(unit.forward.value());
        seconds[unit.unit].second.push_back(unit.backward.value());
    }
    for (auto& [unit, measured] : seconds) {
        if (unit >= table.units.size())
            continue;
        const auto& cost = table.options(unit)[choice[unit]];
        comparison.units.push_back({unit, table.units[unit].name, cost.forwardCompute, Seconds(median(std::move(measured.first))),
                                    cost.backwardCompute, Seconds(median(std::move(measured.second)))});
    }
}

VerdictLine lossLine(RunComparison& comparison, const RunTrace& record, double bound)
{
    VerdictLine line{VerdictLine::Kind::Loss, std::nullopt, "losses: not compared with unsharded training"};
    if (!record.result || record.result->unshardedLosses.empty())
        return line;
    const auto& losses = record.result->losses;
    const auto& unsharded = record.result->unshardedLosses;
    if (losses.size() != unsharded.size() || losses.empty()) {
        line.holds = false;
        line.text = fmt::format("losses: {} steps beside {} of unsharded training", losses.size(), unsharded.size());
        return line;
    }
    for (std::size_t i = 0; i < losses.size(); ++i) {
        const double error = std::abs(losses[i] - unsharded[i]) / std::max(std::abs(unsharded[i]), 1e-300);
        // A loss that is no number compares with nothing: it is as wrong as can be.
        comparison.largestLossError = error >= 0 ? std::max(comparison.largestLossError, error) : std::numeric_limits<double>::infinity();
    }
    line.holds = comparison.largestLossError <= bound;
    line.text = fmt::format("losses {} unsharded training's: largest difference {:.1e} of a loss in {} steps (allowed {:.0e})",
                            *line.holds ? "equal" : "differ from", comparison.largestLossError, losses.size(), bound);
    return line;
}

VerdictLine bytesLine(const CostTable& table, const Choice& choice, const RunTrace& record)
{
    VerdictLine line{VerdictLine::Kind::Bytes, std::nullopt, "bytes: no step was finished"};
    if (record.steps.empty())
        return line;
    const Traffic expected = stepTraffic(table, choice);
    const auto equal =
        std::count_if(record.steps.begin(), record.steps.end(), [&](const WorkerStep& step) { return step.traffic == expected; });
    const auto all = static_cast<std::ptrdiff_t>(record.steps.size());
    line.holds = equal == all;
    const Bytes sum = expected.allGather + expected.reduceScatter + expected.allReduce;
    line.text = fmt::format("bytes {} the plan's: {} a step and rank in collectives, equal in {} of {}",
                            *line.holds ? "equal" : "differ from", formatBytes(sum), equal, all);
    return line;
}

VerdictLine peakLine(const RunComparison& comparison, double bound)
{
    VerdictLine line{VerdictLine::Kind::Peak, std::nullopt, "peak: no step was finished"};
    if (comparison.measuredPeak.count() == 0)
        return line;
    const double off =
        deviation(static_cast<double>(comparison.measuredPeak.count()), static_cast<double>(comparison.predictedPeak.count()));
    line.holds = std::abs(off) <= bound;
    line.text = fmt::format("peak {} bounds: predicted {}, measured {}, {:+.2f} % (allowed {:.0f} %)", *line.holds ? "within" : "out of",
                            formatBytes(comparison.predictedPeak), formatBytes(comparison.measuredPeak), 100 * off, 100 * bound);
    return line;
}

VerdictLine timeLine(const RunComparison& comparison, double bound)
{
    VerdictLine line{VerdictLine::Kind::Time, std::nullopt, "time: no step was finished"};
    if (comparison.steps == 0)
        return line;
    const double off = deviation(comparison.measuredStep.value(), comparison.predictedStep.value());
    line.holds = std::abs(off) <= bound;
    line.text = fmt::format("time within {:.1f} %: predicted {}, measured {} a step (aim {:.0f} %)", 100 * std::abs(off),
                            formatSeconds(comparison.predictedStep), formatSeconds(comparison.measuredStep), 100 * bound);
    return line;
}

} // namespace

void RunTrace::take(const WorkerEvent& event)
{
    if (const auto* step = std::get_if<WorkerStep>(&event))
        steps.push_back(*step);
    else if (const auto* timeline = std::get_if<WorkerTimeline>(&event))
        timelines.push_back(*timeline);
    else if (const auto* unit = std::get_if<WorkerUnit>(&event))
        units.push_back(*unit);
    else if (const auto* last = std::get_if<WorkerResult>(&event))
        result = *last;
}

Result<RunTrace> readRunTrace(std::string_view text, std::string_view origin)
{
    RunTrace record;
    std::size_t number = 0;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto line = text.substr(0, end);
        const bool whole = end < text.size();
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        if (line.find_first_not_of(" \t\r") == std::string_view::npos)
            continue;
        const auto event = readEvent(line);
        if (!event && !whole)
            break; // cut off in the middle of a line
        if (!event)
            return Error{event.error().code, fmt::format("{}, line {}: {}", origin, number, event.error().message)};
        if (*event)
            record.take(**event);
    }
    return record;
}

VerdictBounds verdictBounds(const Setup& setup)
{
    VerdictBounds bounds;
    if (setup.precision.compute != ComputeMode::Fp32 || setup.precision.reduced < 4)
        bounds.loss = 5e-3;
    return bounds;
}

bool RunComparison::holds() const
{
    return !lines.empty() && std::all_of(lines.begin(), lines.end(), [](const VerdictLine& line) {
        return line.kind == VerdictLine::Kind::Time || line.holds.value_or(false);
    });
}

RunComparison compareRun(const CostTable& table, const Choice& choice, const RunTrace& record, const VerdictBounds& bounds)
{
    RunComparison comparison;
    const auto ranks = table.setup.cluster.ranks();
    comparison.predicted = playTimeline(table, choice);
    comparison.predictedPeak = comparison.predicted.peak - table.overhead;
    const StepTime time = stepTime(table, choice);
    comparison.predictedStep = time.overlapped;
    int highest = 0;
    for (const auto& step : record.steps) {
        if (step.peak > comparison.measuredPeak) {
            comparison.measuredPeak = step.peak;
            highest = step.rank;
        }
    }
    for (const auto& timeline : record.timelines)
        if (comparison.measured.empty() || timeline.rank == highest)
            comparison.measured = timeline.events;
    addUnits(comparison, table, choice, record);
    const auto steps = slowestOfSteps(record, ranks);
    comparison.steps = static_cast<std::int64_t>(steps.size());
    if (const WorkerStep* middle = middleStep(steps)) {
        Seconds optimizer;
        for (std::size_t unit = 0; unit < table.units.size(); ++unit)
            optimizer += table.options(unit)[choice[unit]].step;
        comparison.measuredStep = middle->seconds;
        addTime(comparison, table, time, *middle, optimizer);
    }
    addMemory(comparison, table.overhead);
    comparison.lines.push_back(lossLine(comparison, record, bounds.loss));
    comparison.lines.push_back(bytesLine(table, choice, record));
    comparison.lines.push_back(peakLine(comparison, bounds.peak));
    comparison.lines.push_back(timeLine(comparison, bounds.time));
    return comparison;
}

} // namespace loadline
