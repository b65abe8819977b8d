// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/run_check.hpp"

#include "core/base/json.hpp"
#include "core/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace loadline {
namespace {

constexpr double kSlow = 1.10;      ///< over the median rank's time
constexpr double kPeakShare = 0.02; ///< of the predicted peak, either way

Seconds medianOf(std::vector<Seconds> values)
{
    if (values.empty())
        return {};
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

Traffic trafficOf(const RunRow& row)
{
    return {row.allGather, row.reduceScatter, row.allReduce};
}

void raise(std::optional<Bytes>& most, const std::optional<Bytes>& value)
{
    if (value && (!most || *value > *most))
        most = value;
}

/// One result a rank, in order of rank.
std::vector<RankResult> resultsByRank(const RunLog& log)
{
    std::map<std::int64_t, std::pair<RankResult, std::vector<Seconds>>> found;
    std::int64_t last = 0;
    for (const RunRow& row : log.rows)
        last = std::max(last, row.step);
    for (const RunRow& row : log.rows) {
        auto& [result, seconds] = found[row.rank];
        result.rank = row.rank;
        if (row.step > 1 || last == 1)
            seconds.push_back(row.seconds);
        raise(result.peakAllocated, row.peakAllocated);
        raise(result.peakReserved, row.peakReserved);
        result.traffic = trafficOf(row);
    }
    std::vector<RankResult> results;
    for (auto& [rank, entry] : found) {
        entry.first.seconds = medianOf(std::move(entry.second));
        results.push_back(std::move(entry.first));
    }
    return results;
}

void nameOutliers(RunCheck& check)
{
    const double typical = check.seconds.value();
    const auto predicted = static_cast<double>(check.predictedAllocated.count());
    for (RankResult& rank : check.ranks) {
        if (typical > 0 && rank.seconds.value() > kSlow * typical)
            rank.outliers.push_back(fmt::format("Rank {} takes {}, {:.1f} % longer than the median rank.", rank.rank,
                                                formatSeconds(rank.seconds), 100 * (rank.seconds.value() / typical - 1)));
        if (rank.peakAllocated && predicted > 0) {
            const double off = static_cast<double>(rank.peakAllocated->count()) / predicted - 1;
            if (off > kPeakShare || off < -kPeakShare)
                rank.outliers.push_back(fmt::format("Rank {} allocates {}, {:+.1f} % of the prediction.", rank.rank,
                                                    formatBytes(*rank.peakAllocated), 100 * off));
        }
        if (rank.traffic != check.predictedTraffic)
            rank.outliers.push_back(
                fmt::format("Rank {} moves other bytes than predicted: its program does not run this plan.", rank.rank));
    }
}

void compareSettings(RunCheck& check, const Setup& setup, const RunLog& log)
{
    const auto differs = [&](std::string_view what, std::int64_t planned, std::int64_t ran) {
        if (planned != ran)
            check.notes.push_back(fmt::format("The run's {} is {}, and the plan's {}: they cannot be compared.", what, ran, planned));
    };
    differs("number of ranks", setup.cluster.ranks(), log.ranks);
    differs("batch", setup.batch, log.batch);
    differs("accumulation", setup.accumulation, log.accumulation);
    differs("sequence", setup.sequence, log.sequence);
    if (!log.model.empty() && log.model != setup.model->name)
        check.notes.push_back(
            fmt::format("The run is of the model {}, and the plan of {}: they cannot be compared.", log.model, setup.model->name));
    if (log.reference)
        check.notes.push_back("The run is a reference in one process: only its losses can be compared.");
    if (!check.allocated)
        check.notes.push_back("The run's device does not say how much memory it allocated.");
    const auto missing = setup.cluster.ranks() - static_cast<std::int64_t>(check.ranks.size());
    if (missing > 0 && !log.reference)
        check.notes.push_back(fmt::format("{} ranks reported nothing.", missing));
}

Json trafficJson(const Traffic& traffic)
{
    return {{"all_gather_bytes", traffic.allGather.count()},
            {"reduce_scatter_bytes", traffic.reduceScatter.count()},
            {"all_reduce_bytes", traffic.allReduce.count()}};
}

Json bytesJson(const std::optional<Bytes>& bytes)
{
    return bytes ? Json(bytes->count()) : Json(nullptr);
}

} // namespace

RunCheck checkRun(const Plan& plan, const RunLog& log)
{
    RunCheck check;
    check.predictedSeconds = plan.time.overlapped;
    check.predictedAllocated = plan.peak - plan.table.overhead;
    check.predictedTraffic = stepTraffic(plan.table, plan.choice);
    check.ranks = resultsByRank(log);
    std::map<std::int64_t, double> losses;
    for (const RunRow& row : log.rows) {
        losses[row.step] = row.loss;
        check.trafficEqual = check.trafficEqual && trafficOf(row) == check.predictedTraffic;
    }
    for (const auto& [step, loss] : losses)
        check.losses.push_back(loss);
    check.steps = static_cast<std::int64_t>(losses.size());
    check.trafficEqual = check.trafficEqual && check.steps > 0;
    std::vector<Seconds> seconds;
    for (const RankResult& rank : check.ranks) {
        seconds.push_back(rank.seconds);
        raise(check.allocated, rank.peakAllocated);
    }
    check.seconds = medianOf(std::move(seconds));
    if (!log.reference)
        nameOutliers(check);
    compareSettings(check, plan.table.setup, log);
    check.notes.insert(check.notes.end(), log.notes.begin(), log.notes.end());
    return check;
}

std::string runCheckJson(const RunCheck& check, const RunLog& log)
{
    Json ranks = Json::array();
    for (const RankResult& rank : check.ranks)
        ranks.push_back(
            {{"rank", rank.rank},
             {"device",
              static_cast<std::size_t>(rank.rank) < log.devices.size() ? log.devices[static_cast<std::size_t>(rank.rank)] : std::string()},
             {"seconds", rank.seconds.value()},
             {"peak_allocated_bytes", bytesJson(rank.peakAllocated)},
             {"peak_reserved_bytes", bytesJson(rank.peakReserved)},
             {"traffic", trafficJson(rank.traffic)},
             {"outliers", rank.outliers}});
    Json versions = Json::object();
    for (const auto& [name, version] : log.versions)
        versions[name] = version;
    Json json;
    json["format"] = "loadline.run-check/1";
    json["model"] = log.model;
    json["finished"] = log.finished;
    json["steps"] = check.steps;
    json["predicted"] = {{"step_seconds", check.predictedSeconds.value()},
                         {"peak_allocated_bytes", check.predictedAllocated.count()},
                         {"traffic", trafficJson(check.predictedTraffic)}};
    json["measured"] = {{"step_seconds", check.seconds.value()},
                        {"peak_allocated_bytes", bytesJson(check.allocated)},
                        {"traffic_equal", check.trafficEqual}};
    json["losses"] = check.losses;
    json["ranks"] = std::move(ranks);
    json["versions"] = std::move(versions);
    json["notes"] = check.notes;
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

} // namespace loadline
