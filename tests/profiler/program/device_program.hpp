// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/exchange/worker.hpp"

#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace loadline::test {

/// What one run of loadline-device said and how it ended.
struct ProgramRun {
    int status = -1; ///< exit code, or 128 + signal
    std::vector<WorkerEvent> events;
    std::vector<std::string> lines;
    std::string words; ///< stderr

    template <class Event>
    [[nodiscard]] std::vector<Event> all() const
    {
        std::vector<Event> found;
        for (const auto& event : events) {
            if (const auto* one = std::get_if<Event>(&event))
                found.push_back(*one);
        }
        return found;
    }
    /// The last line; a default one if that is no result.
    [[nodiscard]] WorkerResult result() const;
};

/// Runs it with `request` on stdin. `onEvent` is called with every event as it comes and with the program's process; it may signal it.
ProgramRun runDevice(const std::vector<std::string>& arguments, const std::string& request,
                     const std::function<void(const WorkerEvent&, pid_t)>& onEvent = {}, const std::string& environment = "");

/// A plan of 4 ranks (2 or 3 too) for the small GPT in tests/data/train, found by the planner, as its document.
std::string planFor(int ranks);

} // namespace loadline::test
