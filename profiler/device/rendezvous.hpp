// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "profiler/device/communicator.hpp"

#include <functional>
#include <string>

namespace loadline {

/// A socket that listens on a free port of the loopback interface. Whoever starts ranks opens it and lets rank 0 inherit it, so that no
/// other process can take the port in between. Closed with the object; children made by fork keep their copy.
class Listener {
public:
    /// Errors: the system gives no socket.
    static Result<Listener> open();
    ~Listener();
    Listener(Listener&& other) noexcept;
    Listener& operator=(Listener&& other) noexcept;

    [[nodiscard]] int fd() const { return m_fd; }
    [[nodiscard]] int port() const { return m_port; }

private:
    Listener(int fd, int port) : m_fd(fd), m_port(port) {}
    int m_fd;
    int m_port;
};

/// Reads one variable of the environment; null: not set.
using Variables = std::function<const char*(const char* name)>;

/// RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun sets them, and
/// TORCHELASTIC_USE_AGENT_STORE: then torchrun itself listens there. LOADLINE_LISTEN_FD: number of an inherited socket (Listener).
/// RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT must be there; LOCAL_RANK defaults to RANK, LOCAL_WORLD_SIZE to WORLD_SIZE.
/// Errors name the variable and what is wrong with it.
Result<Rendezvous> rendezvousFrom(const Variables& variables);
Result<Rendezvous> rendezvousFromEnvironment();

} // namespace loadline
