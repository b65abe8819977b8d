// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "profiler/device/communicator.hpp"
#include "profiler/device/rendezvous.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <functional>
#include <stdexcept>
#include <vector>

namespace loadline {

inline constexpr int kThrew = 71; ///< exit status of a rank whose body threw

/// Runs `body` in `ranks` processes over Gloo; returns each exit status (a signal as 128 + its number). Call it before this process has
/// threads of its own: children are forks.
inline std::vector<int> inProcesses(int ranks, std::chrono::milliseconds timeout, const std::function<int(Communicator&)>& body)
{
    auto listener = Listener::open();
    if (!listener.ok())
        throw std::runtime_error(listener.error().message);
    std::vector<pid_t> children;
    for (int rank = 0; rank < ranks; ++rank) {
        const pid_t child = fork();
        if (child == 0) {
            int status = 70;
            try {
                Rendezvous rendezvous;
                rendezvous.port = listener->port();
                rendezvous.listenFd = rank == 0 ? listener->fd() : -1;
                rendezvous.rank = rank;
                rendezvous.ranks = ranks;
                rendezvous.timeout = timeout;
                const auto communicator = joinGloo(rendezvous);
                status = body(*communicator);
            } catch (const std::exception&) {
                status = kThrew;
            }
            _exit(status);
        }
        children.push_back(child);
    }
    std::vector<int> statuses;
    for (const pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        statuses.push_back(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    }
    return statuses;
}

} // namespace loadline
