// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cluster/fields.hpp"
#include "core/exchange/worker.hpp"
#include "core/exchange/worker_words.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace loadline {
namespace {

constexpr std::int64_t kMostCount = std::numeric_limits<std::int64_t>::max();
constexpr int kMostRank = 1'000'000;
constexpr double kMostSeconds = 1e9;
constexpr std::size_t kMostUnits = 1'000'000;
constexpr std::size_t kMostRows = 4'000'000;
constexpr std::size_t kMostSteps = 10'000'000;
constexpr std::size_t kMostVersions = 64;
constexpr std::string_view kOrigin = "loadline-device";

Bytes bytesAt(Fields& fields, std::string_view key, bool required = false)
{
    return Bytes(required ? fields.whole(key, 0, kMostCount) : fields.whole(key, 0, kMostCount, 0));
}

Seconds secondsAt(Fields& fields, std::string_view key)
{
    return Seconds(fields.number(key, 0, kMostSeconds, 0.0));
}

/// A number, or null for one that was not finite.
double lossOf(const Json& value, Fields& fields, std::string_view key)
{
    if (value.is_number())
        return value.get<double>();
    if (!value.is_null())
        fields.fail(key, "is not a number; write one");
    return std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> lossesAt(Fields& fields, std::string_view key)
{
    std::vector<double> losses;
    for (const auto& value : fields.list(key, kMostSteps))
        losses.push_back(lossOf(value, fields, key));
    return losses;
}

/// Text that may be empty.
std::string wordsAt(Fields& fields, const Json& json, std::string_view key)
{
    const auto found = json.find(std::string(key));
    if (found != json.end() && found->is_string() && found->get_ref<const std::string&>().empty())
        return {};
    return fields.text(key, "");
}

int rankAt(Fields& fields)
{
    return static_cast<int>(fields.whole("rank", 0, kMostRank));
}

WorkerHello readHello(Fields& fields, const Json& json)
{
    return {static_cast<int>(fields.whole("loadline-device", 1, std::numeric_limits<int>::max())), wordsAt(fields, json, "version")};
}

WorkerProgress readProgress(Fields& fields, const Json& json)
{
    WorkerProgress progress;
    progress.done = fields.whole("done", 0, kMostCount);
    progress.total = fields.whole("total", 0, kMostCount);
    progress.what = wordsAt(fields, json, "what");
    if (fields.has("seconds_left"))
        progress.left = secondsAt(fields, "seconds_left");
    return progress;
}

WorkerDevice readDevice(Fields& fields, const Json& json)
{
    WorkerDevice device;
    device.kind = fields.text("kind");
    device.index = static_cast<int>(fields.whole("index", 0, kMostRank, 0));
    device.name = wordsAt(fields, json, "name");
    device.memory = bytesAt(fields, "memory");
    device.free = bytesAt(fields, "free");
    device.driver = wordsAt(fields, json, "driver");
    device.threads = static_cast<int>(fields.whole("threads", 1, kMostRank, 1));
    if (!fields.has("versions"))
        return device;
    auto versions = fields.object("versions");
    fields.adopt(versions);
    if (fields.fault())
        return device;
    const auto& object = json.at("versions");
    if (object.size() > kMostVersions)
        fields.fail("versions", fmt::format("has more than {} entries; remove some", kMostVersions));
    for (const auto& [name, value] : object.items())
        if (!fields.fault())
            device.versions.emplace_back(name, wordsAt(versions, object, name));
    fields.adopt(versions);
    return device;
}

WorkerRank readRank(Fields& fields, const Json& json)
{
    WorkerRank rank;
    rank.rank = rankAt(fields);
    const auto state = worker_words::valueOf(worker_words::kStates, fields.text("state"));
    if (!state)
        fields.fail("state", "is none of starting, ready, done, died; write one of them");
    rank.state = state.value_or(RankState::Starting);
    rank.pid = fields.whole("pid", 0, kMostCount, 0);
    rank.why = wordsAt(fields, json, "why");
    return rank;
}

WorkerStep readStep(Fields& fields, const Json& json)
{
    WorkerStep step;
    step.rank = rankAt(fields);
    step.step = fields.whole("step", 1, kMostCount);
    const auto loss = json.find("loss");
    step.loss = lossOf(loss == json.end() ? Json() : *loss, fields, "loss");
    step.seconds = Seconds(fields.number("seconds", 0, kMostSeconds));
    step.forward = secondsAt(fields, "forward");
    step.backward = secondsAt(fields, "backward");
    step.optimizer = secondsAt(fields, "optimizer");
    step.exposed = secondsAt(fields, "exposed");
    step.peak = bytesAt(fields, "peak", true);
    step.reserved = bytesAt(fields, "reserved");
    auto traffic = fields.object("traffic");
    step.traffic = {bytesAt(traffic, "all_gather"), bytesAt(traffic, "reduce_scatter"), bytesAt(traffic, "all_reduce")};
    fields.adopt(traffic);
    return step;
}

TimelineEvent readRow(const Json& json, Fields& outer)
{
    Fields fields(json, "loadline-device: an entry of 'rows'");
    TimelineEvent event;
    const auto phase = worker_words::valueOf(worker_words::kPhases, fields.text("phase"));
    if (!phase)
        fields.fail("phase", "is none of forward, recompute, backward, step; write one of them");
    event.phase = phase.value_or(Phase::Forward);
    event.unit = static_cast<std::size_t>(fields.whole("unit", 0, kMostUnits));
    const auto bytes = fields.wholes("bytes", 0, kMostCount, {});
    if (bytes.size() != kMemoryCategories)
        fields.fail("bytes", fmt::format("has not {} entries; write one a category", kMemoryCategories));
    for (std::size_t i = 0; i < kMemoryCategories && i < bytes.size(); ++i)
        event.bytes[i] = Bytes(bytes[i]);
    outer.adopt(fields);
    return event;
}

WorkerTimeline readTimeline(Fields& fields)
{
    WorkerTimeline timeline;
    timeline.rank = rankAt(fields);
    for (const auto& row : fields.list("rows", kMostRows)) {
        timeline.events.push_back(readRow(row, fields));
        if (fields.fault())
            break;
    }
    return timeline;
}

WorkerUnit readUnit(Fields& fields)
{
    WorkerUnit unit;
    unit.rank = rankAt(fields);
    unit.unit = static_cast<std::size_t>(fields.whole("unit", 0, kMostUnits));
    unit.forward = secondsAt(fields, "forward");
    unit.backward = secondsAt(fields, "backward");
    unit.gather = secondsAt(fields, "gather");
    unit.reduce = secondsAt(fields, "reduce");
    return unit;
}

WorkerResult readResult(Fields& fields, const Json& json)
{
    WorkerResult result;
    const auto outcome = runOutcomeOf(fields.text("outcome"));
    if (!outcome)
        fields.fail("outcome", "is none of done, out_of_memory, rank_died, timed_out, cancelled, failed; write one of them");
    result.outcome = outcome ? *outcome : RunOutcome::Failed;
    result.why = wordsAt(fields, json, "why");
    result.losses = lossesAt(fields, "losses");
    result.unshardedLosses = lossesAt(fields, "unsharded_losses");
    return result;
}

std::optional<WorkerEvent> readKind(std::string_view kind, Fields& fields, const Json& json)
{
    if (kind == "progress")
        return readProgress(fields, json);
    if (kind == "device")
        return readDevice(fields, json);
    if (kind == "rank")
        return readRank(fields, json);
    if (kind == "step")
        return readStep(fields, json);
    if (kind == "timeline")
        return readTimeline(fields);
    if (kind == "unit")
        return readUnit(fields);
    if (kind == "result")
        return readResult(fields, json);
    return std::nullopt;
}

} // namespace

Result<RunOutcome> runOutcomeOf(std::string_view word)
{
    if (const auto outcome = worker_words::valueOf(worker_words::kOutcomes, word))
        return *outcome;
    return invalidInput(fmt::format("'{}' is no outcome of a run", word.substr(0, 60)));
}

Result<std::optional<WorkerEvent>> readEvent(std::string_view line)
{
    const auto parsed = parseJson(line, kOrigin);
    if (!parsed)
        return parsed.error();
    const Json& json = *parsed;
    Fields fields(json, std::string(kOrigin));
    if (fields.fault())
        return *fields.fault();
    if (json.contains("format") || json.contains("row"))
        return std::optional<WorkerEvent>(WorkerProfileLine{std::string(line)});
    std::optional<WorkerEvent> event;
    if (json.contains("loadline-device")) {
        const auto hello = readHello(fields, json);
        if (!fields.fault() && hello.protocol != kWorkerProtocol)
            return unsupported(
                fmt::format("loadline-device {} speaks protocol {}, but this Loadline speaks {}; install both from one version",
                            hello.version, hello.protocol, kWorkerProtocol));
        event = hello;
    } else {
        event = readKind(fields.text("event"), fields, json);
    }
    if (fields.fault())
        return *fields.fault();
    return event;
}

} // namespace loadline
