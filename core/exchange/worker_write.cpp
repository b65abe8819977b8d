// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.hpp"
#include "core/exchange/worker.hpp"
#include "core/exchange/worker_words.hpp"
#include "core/model/format.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace loadline {
namespace {

std::string lineOf(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json eventOf(std::string_view name)
{
    return {{"event", name}};
}

/// Writes each kind of event.
struct EventWriter {
    std::string operator()(const WorkerHello& hello) const
    {
        return lineOf({{"loadline-device", hello.protocol}, {"version", hello.version}});
    }

    std::string operator()(const WorkerProgress& progress) const
    {
        Json json = eventOf("progress");
        json["done"] = progress.done;
        json["total"] = progress.total;
        json["what"] = progress.what;
        if (progress.left)
            json["seconds_left"] = progress.left->value();
        return lineOf(json);
    }

    std::string operator()(const WorkerDevice& device) const
    {
        Json json = eventOf("device");
        json["kind"] = device.kind;
        json["index"] = device.index;
        json["name"] = device.name;
        json["memory"] = device.memory.count();
        json["free"] = device.free.count();
        json["driver"] = device.driver;
        json["threads"] = device.threads;
        json["versions"] = Json::object();
        for (const auto& [name, version] : device.versions)
            json["versions"][name] = version;
        return lineOf(json);
    }

    std::string operator()(const WorkerRank& rank) const
    {
        Json json = eventOf("rank");
        json["rank"] = rank.rank;
        json["state"] = worker_words::wordOf(worker_words::kStates, rank.state);
        if (rank.pid != 0)
            json["pid"] = rank.pid;
        if (!rank.why.empty())
            json["why"] = rank.why;
        return lineOf(json);
    }

    std::string operator()(const WorkerStep& step) const
    {
        Json json = eventOf("step");
        json["rank"] = step.rank;
        json["step"] = step.step;
        json["loss"] = step.loss;
        json["seconds"] = step.seconds.value();
        json["forward"] = step.forward.value();
        json["backward"] = step.backward.value();
        json["optimizer"] = step.optimizer.value();
        json["exposed"] = step.exposed.value();
        json["peak"] = step.peak.count();
        json["reserved"] = step.reserved.count();
        json["traffic"] = {{"all_gather", step.traffic.allGather.count()},
                           {"reduce_scatter", step.traffic.reduceScatter.count()},
                           {"all_reduce", step.traffic.allReduce.count()}};
        return lineOf(json);
    }

    std::string operator()(const WorkerTimeline& timeline) const
    {
        Json json = eventOf("timeline");
        json["rank"] = timeline.rank;
        json["rows"] = Json::array();
        for (const auto& event : timeline.events) {
            Json bytes = Json::array();
            for (const auto category : event.bytes)
                bytes.push_back(category.count());
            json["rows"].push_back(
                {{"phase", worker_words::wordOf(worker_words::kPhases, event.phase)}, {"unit", event.unit}, {"bytes", std::move(bytes)}});
        }
        return lineOf(json);
    }

    std::string operator()(const WorkerUnit& unit) const
    {
        Json json = eventOf("unit");
        json["rank"] = unit.rank;
        json["unit"] = unit.unit;
        json["forward"] = unit.forward.value();
        json["backward"] = unit.backward.value();
        json["gather"] = unit.gather.value();
        json["reduce"] = unit.reduce.value();
        return lineOf(json);
    }

    std::string operator()(const WorkerResult& result) const
    {
        Json json = eventOf("result");
        json["outcome"] = runOutcomeWord(result.outcome);
        if (!result.why.empty())
            json["why"] = result.why;
        if (!result.losses.empty())
            json["losses"] = result.losses;
        if (!result.unshardedLosses.empty())
            json["unsharded_losses"] = result.unshardedLosses;
        return lineOf(json);
    }

    std::string operator()(const WorkerProfileLine& profile) const
    {
        std::string line = profile.line;
        while (!line.empty() && line.back() == '\n')
            line.pop_back();
        return line;
    }
};

} // namespace

std::string_view runOutcomeWord(RunOutcome outcome)
{
    return worker_words::wordOf(worker_words::kOutcomes, outcome);
}

std::string writeEvent(const WorkerEvent& event)
{
    return std::visit(EventWriter(), event);
}

std::string writeRequest(const ProfileRequest& request)
{
    Json json;
    json["model"] = modelJson(request.model);
    json["device"] = request.device;
    json["ranks"] = request.ranks;
    json["precisions"] = request.precisions;
    json["batches"] = request.batches;
    json["sequences"] = request.sequences;
    json["granularities"] = request.granularities;
    json["optimizer"] = request.optimizer;
    json["seconds"] = request.limit.value();
    return lineOf(json);
}

std::string writeRequest(const LinksRequest& request)
{
    Json json;
    json["device"] = request.device;
    json["ranks"] = request.ranks;
    if (!request.groups.empty())
        json["groups"] = request.groups;
    json["least"] = request.least.count();
    json["most"] = request.most.count();
    json["seconds"] = request.limit.value();
    return lineOf(json);
}

std::string writeRequest(const TrainRequest& request)
{
    Json json;
    auto plan = parseJson(request.plan, "the plan");
    json["plan"] = plan ? std::move(*plan) : Json(request.plan); // as text it is refused by whoever reads it
    json["device"] = request.device;
    json["steps"] = request.steps;
    json["seed"] = request.seed;
    json["data"] = request.data;
    json["learning_rate"] = request.learningRate;
    json["clip"] = request.clip;
    json["timeout_seconds"] = request.timeout.value();
    if (!request.save.empty()) {
        json["save"] = request.save;
        json["save_step"] = request.saveStep;
    }
    if (!request.resume.empty())
        json["resume"] = request.resume;
    json["compare_unsharded"] = request.compareUnsharded;
    return lineOf(json);
}

} // namespace loadline
