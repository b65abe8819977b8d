// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/frontier.hpp"

#include "core/base/json.hpp"
#include "core/exchange/problem.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iterator>

namespace loadline {
namespace {

double samplesPerSecond(const Setup& setup, Seconds time)
{
    return time.value() > 0 ? static_cast<double>(setup.batch * setup.accumulation * setup.cluster.ranks()) / time.value() : 0;
}

} // namespace

std::string frontierJson(const Frontier& frontier)
{
    const auto& setup = frontier.setup;
    Json corners = Json::array();
    for (const auto& point : frontier.points)
        corners.push_back({{"budget_bytes", point.peak.count()},
                           {"step_seconds", point.time.value()},
                           {"samples_per_second", samplesPerSecond(setup, point.time)}});
    Json json;
    json["format"] = "loadline.frontier/1";
    json["batch"] = setup.batch;
    json["accumulation"] = setup.accumulation;
    json["sequence"] = setup.sequence;
    json["ranks"] = setup.cluster.ranks();
    json["recomputed_blocks"] = frontier.choosesRecomputation ? Json("auto") : Json(setup.recomputedBlocks);
    json["corners"] = std::move(corners);
    json["provenance"] = {{"model", frontier.provenance.model},
                          {"cluster", frontier.provenance.cluster},
                          {"profile", frontier.provenance.profile},
                          {"loadline", loadlineVersion()}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string frontierCsv(const Frontier& frontier)
{
    std::string text = "budget_bytes,step_seconds,samples_per_second\n";
    for (const auto& point : frontier.points)
        fmt::format_to(std::back_inserter(text), "{},{},{}\n", point.peak.count(), point.time.value(),
                       samplesPerSecond(frontier.setup, point.time));
    return text;
}

std::string checkJson(const SavedPlan& plan, const std::vector<std::string>& violations)
{
    Json json;
    json["format"] = "loadline.check/1";
    json["holds"] = violations.empty();
    json["status"] = statusName(plan.document.outcome.status);
    json["violations"] = violations;
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

} // namespace loadline
