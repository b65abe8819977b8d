// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/program/rank.hpp"

#include "core/exchange/plan_document.hpp"
#include "profiler/device/failure.hpp"
#include "profiler/device/machine.hpp"
#include "profiler/measure/links.hpp"
#include "profiler/measure/profile.hpp"

#include <ATen/Parallel.h>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>

namespace loadline {
namespace {

std::atomic<bool> asked{false};

void remember(int)
{
    asked.store(true, std::memory_order_relaxed);
}

RunOutcome outcomeOf(Failure failure)
{
    switch (failure) {
    case Failure::OutOfMemory:
        return RunOutcome::OutOfMemory;
    case Failure::PeerLost:
        return RunOutcome::RankDied;
    case Failure::TimedOut:
        return RunOutcome::TimedOut;
    case Failure::Other:
        break;
    }
    return RunOutcome::Failed;
}

std::string verb()
{
    const char* verb = std::getenv("LOADLINE_VERB"); // NOLINT(concurrency-mt-unsafe): read at start
    return verb == nullptr ? "train" : verb;
}

void sayReady(const Rendezvous& rendezvous)
{
    putEvent(WorkerRank{rendezvous.rank, RankState::Ready, getpid(), ""});
}

/// Threads of this machine divided among its ranks, as a run will have them.
void divideThreads(const Rendezvous& rendezvous)
{
    const int local = rendezvous.localRanks > 0 ? rendezvous.localRanks : rendezvous.ranks;
    at::set_num_threads(std::max(1, readMachine().threads / local));
}

ExitCode linksRank(const LinksRequest& request, const Rendezvous& rendezvous, ComputeDevice& device)
{
    const auto groups = linkGroups(request, rendezvous.ranks, rendezvous.localRanks > 0 ? rendezvous.localRanks : rendezvous.ranks);
    if (!groups.ok())
        return failRank(groups.error());
    const auto world = device.join(rendezvous);
    sayReady(rendezvous);
    LinkSink sink;
    sink.link = [](const LinkRow& row) { putLine(profileLine(row)); };
    sink.overlap = [](const OverlapRow& row) { putLine(profileLine(row)); };
    sink.progress = [](const WorkerProgress& progress) { putEvent(progress); };
    sink.cancelled = rankStopAsked;
    measureLinks(*world, device, request, *groups, sink);
    world->barrier(); // nobody leaves while another one still listens
    return rankStopAsked() ? failRank(RunOutcome::Cancelled, "stopped on request", kFailed) : kDone;
}

ExitCode profileRank(const ProfileRequest& request, const Rendezvous& rendezvous, ComputeDevice& device)
{
    const auto points = profilePoints(request, !device.shared());
    if (!points.ok())
        return failRank(points.error());
    const auto world = device.join(rendezvous);
    sayReady(rendezvous);
    ProfileSink sink;
    sink.op = [](const OperatorRow& row) { putLine(profileLine(row)); };
    sink.step = [](const StepRow& row) { putLine(profileLine(row)); };
    sink.progress = [](const WorkerProgress& progress) { putEvent(progress); };
    sink.cancelled = rankStopAsked;
    measureProfile(*world, device, request, *points, sink);
    world->barrier(); // nobody leaves while another one still listens
    return rankStopAsked() ? failRank(RunOutcome::Cancelled, "stopped on request", kFailed) : kDone;
}

/// Reads the request of a verb, opens its device, and does it.
template <class Request, class Act>
ExitCode withDevice(const Result<Request>& request, const Rendezvous& rendezvous, const Act& act)
{
    if (!request.ok())
        return failRank(request.error());
    const auto device = openDevice(request->device, rendezvous.localRank);
    if (!device.ok())
        return failRank(device.error());
    divideThreads(rendezvous);
    return act(*request, **device);
}

ExitCode act(const std::string& request, Rendezvous& rendezvous)
{
    const std::string what = verb();
    if (what == "profile")
        return withDevice(readProfileRequest(request), rendezvous,
                          [&](const ProfileRequest& profile, ComputeDevice& device) { return profileRank(profile, rendezvous, device); });
    if (what == "links")
        return withDevice(readLinksRequest(request), rendezvous,
                          [&](const LinksRequest& links, ComputeDevice& device) { return linksRank(links, rendezvous, device); });
    if (what == "train" || what == "unsharded")
        return withDevice(readTrainRequest(request), rendezvous, [&](const TrainRequest& train, ComputeDevice& device) {
            rendezvous.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(train.timeout.value() * 1e3));
            return trainRank(train, rendezvous, device, what == "unsharded");
        });
    return failRank(invalidInput(fmt::format("LOADLINE_VERB is '{}'; it must be profile, links or train", what)));
}

} // namespace

bool rankStopAsked()
{
    return asked.load(std::memory_order_relaxed);
}

ExitCode failRank(RunOutcome outcome, const std::string& why, ExitCode code)
{
    WorkerResult result;
    result.outcome = outcome;
    result.why = why;
    putEvent(result);
    if (std::getenv("LOADLINE_VERB") == nullptr) // NOLINT(concurrency-mt-unsafe): nothing writes the environment
        putWords(why);
    return code;
}

ExitCode failRank(const Error& error)
{
    return failRank(RunOutcome::Failed, error.message, error.code == ErrorCode::NotFound ? kNoDevice : kWrongRequest);
}

ExitCode runRank(const std::string& request)
{
    std::signal(SIGTERM, remember);
    std::signal(SIGPIPE, SIG_IGN);
    auto rendezvous = rendezvousFromEnvironment();
    if (!rendezvous.ok())
        return failRank(rendezvous.error());
    try {
        return act(request, *rendezvous);
    } catch (const std::exception& exception) {
        return failRank(outcomeOf(failureOf(exception)), oneSentence(exception), kFailed);
    }
}

} // namespace loadline
