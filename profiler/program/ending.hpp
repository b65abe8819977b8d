// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/exchange/worker.hpp"
#include "profiler/program/output.hpp"

#include <optional>
#include <string>
#include <vector>

namespace loadline {

/// How one rank's process ended.
struct RankEnd {
    int rank = 0;
    int code = 0;                       ///< exit code; not of a signal
    int signal = 0;                     ///< 0: it exited
    bool byUs = false;                  ///< we ended it, since it did not end by itself
    std::int64_t step = 0;              ///< in which it was; 0: not in a step
    std::optional<WorkerResult> result; ///< what it said last

    [[nodiscard]] bool good() const { return code == 0 && signal == 0; }
};

/// Why the whole run ended. `Nothing`: by itself.
enum class StopCause { Nothing, Cancelled, Silence };

/// Which of the ranks' ends is the cause: a rank that was killed or failed comes before those that lost it as a peer, one that hangs before
/// those that waited for it. `seconds`: the time limit, for the sentence.
WorkerResult resultOf(const std::vector<RankEnd>& ends, StopCause cause, double seconds);

/// The program's exit code of that.
ExitCode exitCodeOf(const std::vector<RankEnd>& ends, const WorkerResult& result);

/// "killed by signal 9 (Killed)", "ended with status 3"
std::string wordsOf(const RankEnd& end);

} // namespace loadline
