// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plan/stored.hpp"
#include "app/plan/table.hpp"
#include "app/plan/verbs.hpp"

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/exchange/plan_document.hpp"
#include "core/export/bundle.hpp"
#include "core/export/memory_snapshot.hpp"
#include "core/export/run_check.hpp"
#include "core/export/run_log.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <fstream>
#include <limits>

namespace loadline {
namespace {

constexpr std::size_t kMostRanksShown = 64;

std::string bytesText(const std::optional<Bytes>& bytes)
{
    return bytes ? formatBytes(*bytes) : std::string("not said");
}

std::string ranksText(const RunCheck& check)
{
    TextTable table({{"rank", TextTable::Align::Right},
                     {"step", TextTable::Align::Right},
                     {"allocated", TextTable::Align::Right},
                     {"reserved", TextTable::Align::Right},
                     {"bytes moved", TextTable::Align::Left}});
    for (std::size_t i = 0; i < check.ranks.size() && i < kMostRanksShown; ++i) {
        const RankResult& rank = check.ranks[i];
        table.add({std::to_string(rank.rank), formatSeconds(rank.seconds), bytesText(rank.peakAllocated), bytesText(rank.peakReserved),
                   rank.traffic == check.predictedTraffic ? "as predicted" : "other than predicted"});
    }
    std::string text = table.text();
    if (check.ranks.size() > kMostRanksShown)
        text += fmt::format("and {} more ranks (--json has all)\n", check.ranks.size() - kMostRanksShown);
    return text;
}

std::string checkText(const RunCheck& check, const RunLog& log)
{
    std::string text = fmt::format("{} steps of {} on {} ranks", check.steps, log.model.empty() ? "a model" : log.model, log.ranks);
    for (const auto& [name, version] : log.versions)
        text += fmt::format(", {} {}", name, version);
    text += '\n';
    const auto deviation = [](double measured, double predicted) {
        return predicted > 0 ? fmt::format(" ({:+.1f} %)", 100 * (measured / predicted - 1)) : std::string();
    };
    text += fmt::format("step: predicted {}, measured {}{}\n", formatSeconds(check.predictedSeconds), formatSeconds(check.seconds),
                        deviation(check.seconds.value(), check.predictedSeconds.value()));
    text += fmt::format(
        "peak: predicted {}, measured {}{}\n", formatBytes(check.predictedAllocated), bytesText(check.allocated),
        check.allocated ? deviation(static_cast<double>(check.allocated->count()), static_cast<double>(check.predictedAllocated.count()))
                        : std::string());
    text += fmt::format("bytes moved: {}\n", check.trafficEqual ? "as predicted, in every step on every rank" : "other than predicted");
    if (!check.losses.empty())
        text += fmt::format("loss: {:.6g} at first, {:.6g} at last\n", check.losses.front(), check.losses.back());
    text += '\n' + ranksText(check);
    std::string outliers;
    for (const RankResult& rank : check.ranks)
        for (const auto& outlier : rank.outliers)
            outliers += wrapped("- " + outlier, "  ");
    text += outliers.empty() ? "No rank stands out.\n" : "Ranks that stand out:\n" + outliers;
    for (const auto& note : check.notes)
        text += wrapped(note, "");
    return text;
}

/// What the bundle does not measure is NaN, which the store keeps as "not said".
std::vector<StepMetric> metricsOf(const RunLog& log)
{
    const Seconds notSaid(std::numeric_limits<double>::quiet_NaN());
    std::vector<StepMetric> metrics;
    metrics.reserve(log.rows.size());
    for (const auto& row : log.rows)
        metrics.push_back({row.step, row.rank, row.loss, row.seconds, notSaid, notSaid, notSaid, notSaid,
                           row.peakAllocated.value_or(Bytes()), row.peakReserved.value_or(Bytes()), row.allGather, row.reduceScatter,
                           row.allReduce});
    return metrics;
}

RunRecord runOf(const RunCheck& check, const RunLog& log, const PlanDocument& document)
{
    RunRecord run;
    run.kind = RunRecord::Kind::Imported;
    run.started = unixNow();
    run.ranks = log.ranks;
    run.outcome = log.finished ? "done" : "failed";
    run.why = log.finished ? "" : "the lines end before the last step";
    run.predictedStep = check.predictedSeconds;
    run.measuredStep = check.seconds;
    run.predictedPeak = check.predictedAllocated;
    run.measuredPeak = check.allocated;
    run.plan = planJson(document);
    run.result = runCheckJson(check, log);
    return run;
}

bool isPickle(const std::string& file)
{
    std::ifstream in(file, std::ios::binary);
    return in.get() == 0x80; // the opcode that each pickle of these protocols begins with, and no text in UTF-8
}

std::string snapshotText(const MemorySnapshot& snapshot, Bytes predicted)
{
    TextTable table({{"device", TextTable::Align::Right},
                     {"peak", TextTable::Align::Right},
                     {"of the prediction", TextTable::Align::Right},
                     {"at start", TextTable::Align::Right},
                     {"at end", TextTable::Align::Right},
                     {"reserved", TextTable::Align::Right},
                     {"events", TextTable::Align::Right}});
    for (const DeviceMemory& device : snapshot.devices)
        table.add(
            {std::to_string(device.device), formatBytes(device.peak),
             predicted > Bytes()
                 ? fmt::format("{:+.1f} %", 100 * (static_cast<double>(device.peak.count()) / static_cast<double>(predicted.count()) - 1))
                 : std::string("-"),
             formatBytes(device.atStart), formatBytes(device.atEnd), formatBytes(device.reserved),
             std::to_string(device.events) + (device.outOfMemory ? ", out of memory" : "")});
    std::string text = fmt::format("memory: predicted peak {}\n\n", formatBytes(predicted)) + table.text();
    for (const auto& note : snapshot.notes)
        text += wrapped(note, "");
    return text;
}

std::string snapshotJson(const MemorySnapshot& snapshot, Bytes predicted)
{
    Json devices = Json::array();
    for (const DeviceMemory& device : snapshot.devices) {
        Json curve = Json::array();
        for (const MemorySpan& span : device.curve)
            curve.push_back({span.firstEvent, span.at.value(), span.least.count(), span.most.count()});
        devices.push_back({{"device", device.device},
                           {"peak_bytes", device.peak.count()},
                           {"start_bytes", device.atStart.count()},
                           {"end_bytes", device.atEnd.count()},
                           {"reserved_bytes", device.reserved.count()},
                           {"events", device.events},
                           {"out_of_memory", device.outOfMemory},
                           {"curve", std::move(curve)}});
    }
    const Json json = {{"format", "loadline.memory/1"},
                       {"predicted_peak_bytes", predicted.count()},
                       {"devices", std::move(devices)},
                       {"notes", snapshot.notes}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

/// A memory snapshot beside the predicted peak. It is no run: nothing is kept with the session.
Result<Answer> importSnapshot(const Arguments& arguments, const Plan& plan, Answer answer)
{
    std::ifstream in(arguments.files[1], std::ios::binary);
    const auto snapshot = readMemorySnapshot(in, fmt::format("'{}'", arguments.files[1]));
    if (!snapshot)
        return snapshot.error();
    const Bytes predicted = plan.peak - plan.table.overhead;
    answer.text = arguments.json ? snapshotJson(*snapshot, predicted) : snapshotText(*snapshot, predicted);
    return answer;
}

} // namespace

Result<Answer> runImportRun(const Arguments& arguments)
{
    Answer answer;
    SessionId session = 0;
    const auto saved = loadPlanOrSession(arguments.files[0], arguments, answer.words, &session);
    if (!saved)
        return saved.error();
    const auto plan = fsdp2Plan(saved->document);
    if (!plan)
        return plan.error();
    if (isPickle(arguments.files[1]))
        return importSnapshot(arguments, plan->plan, std::move(answer));
    const auto text = readFile(arguments.files[1]);
    if (!text)
        return text.error();
    const auto log = readRunLog(*text, fmt::format("'{}'", arguments.files[1]));
    if (!log)
        return log.error();
    const RunCheck check = checkRun(plan->plan, *log);
    answer.text = arguments.json ? runCheckJson(check, *log) : checkText(check, *log);
    if (session == 0)
        return answer;
    auto run = runOf(check, *log, saved->document);
    run.session = session;
    const auto kept = saveImportedRun(arguments, std::move(run), metricsOf(*log));
    if (!kept)
        return kept.error();
    answer.words.push_back(*kept);
    return answer;
}

} // namespace loadline
