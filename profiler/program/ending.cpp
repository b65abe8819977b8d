// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/program/ending.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <functional>

namespace loadline {
namespace {

std::string inStep(const RankEnd& end)
{
    return end.step > 0 ? fmt::format(" in step {}", end.step) : std::string(" before the first step");
}

const RankEnd* first(const std::vector<RankEnd>& ends, const std::function<bool(const RankEnd&)>& is)
{
    const auto found = std::find_if(ends.begin(), ends.end(), is);
    return found == ends.end() ? nullptr : &*found;
}

const RankEnd* firstSaying(const std::vector<RankEnd>& ends, RunOutcome outcome)
{
    return first(ends, [outcome](const RankEnd& end) { return end.result && end.result->outcome == outcome; });
}

WorkerResult failure(RunOutcome outcome, std::string why)
{
    WorkerResult result;
    result.outcome = outcome;
    result.why = std::move(why);
    return result;
}

/// Of ranks that we had to end: they were waited for in vain.
std::string silentRanks(const std::vector<RankEnd>& ends)
{
    std::string names;
    for (const RankEnd& end : ends) {
        if (end.byUs)
            names += (names.empty() ? "" : ", ") + std::to_string(end.rank);
    }
    return names;
}

} // namespace

std::string wordsOf(const RankEnd& end)
{
    if (end.signal != 0)
        return fmt::format("was killed by signal {} ({})", end.signal, strsignal(end.signal)); // NOLINT(concurrency-mt-unsafe): one thread
    return fmt::format("ended with status {}", end.code);
}

WorkerResult resultOf(const std::vector<RankEnd>& ends, StopCause cause, double seconds)
{
    if (std::all_of(ends.begin(), ends.end(), [](const RankEnd& end) { return end.good(); }))
        return {};
    if (cause == StopCause::Cancelled)
        return failure(RunOutcome::Cancelled, "stopped on request");
    if (const auto* killed = first(ends, [](const RankEnd& end) { return end.signal != 0 && !end.byUs; }))
        return failure(RunOutcome::RankDied,
                       fmt::format("rank {} {}{}{}", killed->rank, wordsOf(*killed), inStep(*killed),
                                   killed->signal == SIGKILL ? "; if nobody did, this machine ran out of memory" : ""));
    if (const auto* full = firstSaying(ends, RunOutcome::OutOfMemory))
        return failure(RunOutcome::OutOfMemory,
                       fmt::format("rank {} ran out of memory{}: {}", full->rank, inStep(*full), full->result->why));
    if (const auto* failed = firstSaying(ends, RunOutcome::Failed))
        return failure(RunOutcome::Failed, failed->result->why);
    const auto silent = silentRanks(ends);
    if (cause == StopCause::Silence)
        return failure(RunOutcome::TimedOut, fmt::format("no rank said anything for {:.0f} s", seconds));
    if (const auto* late = firstSaying(ends, RunOutcome::TimedOut))
        return failure(RunOutcome::TimedOut, silent.empty()
                                                 ? fmt::format("rank {} waited more than {:.0f} s{}", late->rank, seconds, inStep(*late))
                                                 : fmt::format("rank {} did not answer within {:.0f} s{}", silent, seconds, inStep(*late)));
    if (const auto* ended = first(ends, [](const RankEnd& end) { return !end.good() && !end.byUs && !end.result; }))
        return failure(RunOutcome::RankDied, fmt::format("rank {} {}{}", ended->rank, wordsOf(*ended), inStep(*ended)));
    const auto* lost = first(ends, [](const RankEnd& end) { return !end.good(); });
    return failure(RunOutcome::RankDied, lost->result ? lost->result->why : fmt::format("rank {} {}", lost->rank, wordsOf(*lost)));
}

ExitCode exitCodeOf(const std::vector<RankEnd>& ends, const WorkerResult& result)
{
    if (result.outcome == RunOutcome::Done)
        return kDone;
    for (const ExitCode code : {kNoDevice, kWrongRequest}) {
        if (std::any_of(ends.begin(), ends.end(), [code](const RankEnd& end) { return end.signal == 0 && end.code == code; }))
            return code;
    }
    return kFailed;
}

} // namespace loadline
