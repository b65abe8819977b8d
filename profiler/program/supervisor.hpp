// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "profiler/program/ending.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace loadline {

/// Ranks to start: this program again, with verb `rank`, each told by its environment who it is.
struct Team {
    std::string verb;    ///< what the ranks do: "profile", "links", "train", "unsharded"
    std::string request; ///< each gets it on stdin
    int ranks = 1;
    double silence = 60; ///< seconds without a line of any rank, after which all are ended
};

struct TeamEnd {
    std::vector<RankEnd> ranks;
    StopCause cause = StopCause::Nothing;
};

/// From here on SIGTERM and SIGINT are remembered instead of ending this process; `runTeam` looks for them. Before the first thread.
void catchStopSignals();
bool stopAsked();

/// Starts the ranks and waits for all of them. `onLine` gets each line of a rank that is an event or a profile's line; other text goes to
/// stderr. If `onLine` returns false (nobody reads our output), or a stop signal comes, all are ended: SIGTERM, and SIGKILL three
/// seconds later. When one rank fails, the others get two seconds to notice by themselves. No process is left behind, also if this one is
/// killed. Errors: no port, no process can be started.
Result<TeamEnd> runTeam(const Team& team, const std::function<bool(int rank, std::string_view line, const WorkerEvent& event)>& onLine);

} // namespace loadline
