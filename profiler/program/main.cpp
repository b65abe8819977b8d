// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.hpp"
#include "core/exchange/plan_document.hpp"
#include "profiler/device/device.hpp"
#include "profiler/device/machine.hpp"
#include "profiler/measure/links.hpp"
#include "profiler/measure/profile.hpp"
#include "profiler/program/rank.hpp"
#include "profiler/program/supervisor.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <map>

namespace loadline {
namespace {

constexpr int kMostRanks = 256; ///< processes on one machine
constexpr const char* kHelp = R"(loadline-device VERB < REQUEST
Measures devices and links, and trains plans; a child process of the window that can be used by hand too.

  describe      devices, driver, versions
  profile       time and memory of each distinct operator of a model
  links         all-reduce, all-gather and reduce-scatter over sizes and groups
  train         runs a plan, one process a rank
  rank [FILE]   one rank of a train, as RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT say; the request from FILE or stdin

One JSON document on stdin, JSON lines on stdout, words on stderr: docs/protocol.md.
Exit: 0 done, 1 the run failed (the last line says why), 2 wrong request, 3 fault, 4 no such device.
)";

ExitCode refuse(const Error& error)
{
    putWords(error.message);
    return error.code == ErrorCode::NotFound ? kNoDevice : kWrongRequest;
}

ExitCode describe()
{
    std::string whyNoGpu;
    for (const WorkerDevice& device : describeDevices(&whyNoGpu))
        putEvent(device);
    if (!whyNoGpu.empty())
        putWords(whyNoGpu);
    return kDone;
}

/// The device that ranks will use. Errors: another word, no such device, fewer GPUs than ranks.
Result<WorkerDevice> deviceFor(const std::string& kind, int ranks)
{
    if (ranks < 1 || ranks > kMostRanks)
        return invalidInput(fmt::format("{} ranks were asked for; this machine starts 1 to {}", ranks, kMostRanks));
    if (kind == "cpu")
        return describeCpu();
    if (kind != "cuda")
        return invalidInput(fmt::format("device '{}' is neither 'cpu' nor 'cuda'; write one of them", kind));
    std::string why;
    const auto devices = describeDevices(&why);
    if (devices.size() < 2)
        return notFound(why);
    if (devices.size() - 1 < static_cast<std::size_t>(ranks))
        return notFound(fmt::format("{} ranks need as many GPUs, but this machine has {}; use fewer ranks, or device 'cpu'", ranks,
                                    devices.size() - 1));
    return devices[1];
}

/// Where a profile's figures come from.
ProfileHeader headerOf(const WorkerDevice& device, int ranks)
{
    ProfileHeader header;
    header.device = device.name;
    header.driver = device.driver;
    header.ranks = ranks;
    header.date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
    for (const auto& version : device.versions) {
        if (!version.second.empty())
            header.versions.push_back(version);
    }
    if (device.kind == "cpu")
        header.versions.emplace_back("threads a rank", std::to_string(std::max(1, device.threads / ranks)));
    return header;
}

/// Says how it ended; also on stderr, for people.
ExitCode conclude(const Result<TeamEnd>& end, WorkerResult result, bool always)
{
    if (!end.ok()) {
        putWords(end.error().message);
        return kFault;
    }
    const bool good = result.outcome == RunOutcome::Done;
    if (!good)
        putWords(result.why);
    if (always || !good)
        putEvent(result);
    return exitCodeOf(end->ranks, result);
}

/// `profile` and `links`: a profile's first line, then what rank 0 measures.
ExitCode measure(const std::string& verb, const std::string& request, const std::string& kind, int ranks, double seconds)
{
    const auto device = deviceFor(kind, ranks);
    if (!device.ok())
        return refuse(device.error());
    putLine(profileLine(headerOf(*device, ranks)));
    // Ranks speak after every point; the longest one (an out-of-memory search, a large array) stays far below this.
    const Team team{verb, request, ranks, seconds + 120};
    const auto end = runTeam(team, [](int, std::string_view line, const WorkerEvent&) { return putLine(line); });
    return conclude(end, end.ok() ? resultOf(end->ranks, end->cause, team.silence) : WorkerResult(), false);
}

ExitCode links(const std::string& text)
{
    const auto request = readLinksRequest(text);
    if (!request.ok())
        return refuse(request.error());
    if (const auto groups = linkGroups(*request, request->ranks, request->ranks); !groups.ok())
        return refuse(groups.error());
    return measure("links", text, request->device, request->ranks, request->limit.value());
}

ExitCode profile(const std::string& text)
{
    const auto request = readProfileRequest(text);
    if (!request.ok())
        return refuse(request.error());
    if (const auto points = profilePoints(*request, request->device == "cuda"); !points.ok())
        return refuse(points.error());
    return measure("profile", text, request->device, request->ranks, request->limit.value());
}

/// Losses by step, as the ranks tell them.
class Losses {
public:
    void add(const WorkerStep& step) { m_steps[step.step].push_back(step.loss); }

    /// Means over the ranks, of steps that all `ranks` have done.
    [[nodiscard]] std::vector<double> means(std::size_t ranks) const
    {
        std::vector<double> means;
        for (const auto& [step, losses] : m_steps) {
            if (losses.size() < ranks)
                break;
            double sum = 0;
            for (const double loss : losses)
                sum += loss;
            means.push_back(sum / static_cast<double>(losses.size()));
        }
        return means;
    }

private:
    std::map<std::int64_t, std::vector<double>> m_steps;
};

/// How far a training is, for the progress event.
class TrainingProgress {
public:
    explicit TrainingProgress(std::int64_t total) : m_total(total), m_start(std::chrono::steady_clock::now()) {}

    bool tell(std::string what)
    {
        const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
        ++m_done;
        return putEvent(WorkerProgress{m_done, m_total, std::move(what),
                                       Seconds(passed / static_cast<double>(m_done) * static_cast<double>(m_total - m_done))});
    }

private:
    std::int64_t m_done = 0;
    std::int64_t m_total;
    std::chrono::steady_clock::time_point m_start;
};

ExitCode train(const std::string& text)
{
    const auto request = readTrainRequest(text);
    if (!request.ok())
        return refuse(request.error());
    const auto saved = readPlan(request->plan, "the plan");
    if (!saved.ok())
        return refuse(saved.error());
    const auto ranks = saved->document.setup.cluster.ranks();
    const auto device = deviceFor(request->device, static_cast<int>(std::min<std::int64_t>(ranks, kMostRanks + 1)));
    if (!device.ok())
        return refuse(device.error());

    TrainingProgress progress(request->steps * (request->compareUnsharded ? 2 : 1));
    Losses losses;
    const double timeout = request->timeout.value();
    auto end =
        runTeam({"train", text, static_cast<int>(ranks), timeout + 30}, [&](int rank, std::string_view line, const WorkerEvent& event) {
            const auto* step = std::get_if<WorkerStep>(&event);
            if (step != nullptr)
                losses.add(*step);
            return putLine(line) && (step == nullptr || rank != 0 || progress.tell(fmt::format("step {}", step->step)));
        });
    if (!end.ok())
        return conclude(end, {}, true);
    WorkerResult result = resultOf(end->ranks, end->cause, timeout);
    result.losses = losses.means(static_cast<std::size_t>(ranks));
    if (result.outcome != RunOutcome::Done || !request->compareUnsharded)
        return conclude(end, std::move(result), true);

    // One process does the work of all of them, so it may take as much longer.
    Losses unsharded;
    end = runTeam({"unsharded", text, 1, timeout * static_cast<double>(ranks) + 30}, [&](int, std::string_view, const WorkerEvent& event) {
        const auto* step = std::get_if<WorkerStep>(&event);
        if (step == nullptr)
            return true;
        unsharded.add(*step);
        return progress.tell(fmt::format("step {} in one process", step->step));
    });
    if (!end.ok())
        return conclude(end, {}, true);
    const WorkerResult alone = resultOf(end->ranks, end->cause, timeout);
    result.outcome = alone.outcome;
    result.why = alone.why.empty() ? "" : "training in one process, for comparison: " + alone.why;
    result.unshardedLosses = unsharded.means(1);
    return conclude(end, std::move(result), true);
}

ExitCode rank(int count, char** words)
{
    std::string request;
    if (count > 0) {
        const auto text = readFile(words[0]);
        if (!text.ok())
            return refuse(invalidInput(text.error().message));
        request = *text;
    } else {
        request = readInput();
    }
    return runRank(request);
}

ExitCode run(int count, char** words)
{
    const std::string verb = count > 1 ? words[1] : "--help";
    if (verb == "--help" || verb == "--version") {
        const std::string text = verb == "--help" ? kHelp : fmt::format("loadline-device {}", loadlineVersion());
        putLine(text);
        return count > 1 ? kDone : kWrongRequest;
    }
    // A rank that this program started speaks through it.
    const bool supervised = verb == "rank" && std::getenv("LOADLINE_VERB") != nullptr; // NOLINT(concurrency-mt-unsafe): one thread
    if (!supervised)
        putEvent(WorkerHello{kWorkerProtocol, std::string(loadlineVersion())});
    if (verb == "rank")
        return rank(count - 2, words + 2);
    catchStopSignals();
    if (verb == "describe")
        return describe();
    if (verb == "profile")
        return profile(readInput());
    if (verb == "links")
        return links(readInput());
    if (verb == "train")
        return train(readInput());
    putWords(fmt::format("'{}' is no verb; use describe, profile, links, train or rank", verb.substr(0, 60)));
    return kWrongRequest;
}

} // namespace
} // namespace loadline

/// What a step frees is kept for the next one: handed back to the system it would return page by page, each a fault of its own, up to a
/// tenth of a step of a small model, and not evenly. What tensors hold is counted by the meter, so no figure of memory sees it.
static void keepFreedMemory()
{
    constexpr int kMostOfOneBlock = 32 << 20; // more is refused
    mallopt(M_MMAP_THRESHOLD, kMostOfOneBlock);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 64 << 20);
}

int main(int count, char** words)
{
    keepFreedMemory();
    try {
        return loadline::run(count, words);
    } catch (const std::exception& exception) {
        loadline::putWords(exception.what());
        return loadline::kFault;
    }
}
