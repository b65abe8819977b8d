// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/device/rendezvous.hpp"

#include <fmt/format.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

namespace loadline {
namespace {

constexpr int kMostRanks = 1'000'000;
constexpr int kBacklog = 1024; ///< ranks that may knock at once

/// Whole numbers out of variables; the first fault stays.
class Reader {
public:
    explicit Reader(const Variables& variables) : m_variables(variables) {}

    int whole(const char* name, int least, int most, std::optional<int> otherwise = {})
    {
        const char* text = m_variables(name);
        if (text == nullptr || *text == '\0') {
            if (!otherwise)
                fail(fmt::format("{} is not set; torchrun sets it, or set it by hand", name));
            return otherwise.value_or(least);
        }
        int value = 0;
        const char* end = text + std::strlen(text);
        const auto read = std::from_chars(text, end, value);
        if (read.ec != std::errc() || read.ptr != end || value < least || value > most)
            fail(fmt::format("{} is '{}'; it must be a whole number from {} to {}", name, std::string_view(text).substr(0, 40), least,
                             most));
        return value;
    }

    std::string text(const char* name)
    {
        const char* text = m_variables(name);
        if (text == nullptr || *text == '\0')
            fail(fmt::format("{} is not set; torchrun sets it, or set it by hand", name));
        return text == nullptr ? std::string() : text;
    }

    void fail(std::string message)
    {
        if (!m_fault)
            m_fault = invalidInput(std::move(message));
    }

    [[nodiscard]] const std::optional<Error>& fault() const { return m_fault; }

private:
    const Variables& m_variables;
    std::optional<Error> m_fault;
};

} // namespace

Result<Listener> Listener::open()
{
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    Listener listener(fd, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (fd < 0 || bind(fd, generic, size) != 0 || listen(fd, kBacklog) != 0 || getsockname(fd, generic, &size) != 0)
        return ioError(fmt::format("no port of the loopback interface can be opened ({}); close some programs", std::strerror(errno)));
    listener.m_port = ntohs(address.sin_port);
    return listener;
}

Listener::~Listener()
{
    if (m_fd >= 0)
        close(m_fd);
}

Listener::Listener(Listener&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)), m_port(other.m_port) {}

Listener& Listener::operator=(Listener&& other) noexcept
{
    std::swap(m_fd, other.m_fd);
    std::swap(m_port, other.m_port);
    return *this;
}

Result<Rendezvous> rendezvousFrom(const Variables& variables)
{
    Reader reader(variables);
    Rendezvous rendezvous;
    rendezvous.ranks = reader.whole("WORLD_SIZE", 1, kMostRanks);
    rendezvous.rank = reader.whole("RANK", 0, kMostRanks - 1);
    rendezvous.localRanks = reader.whole("LOCAL_WORLD_SIZE", 1, kMostRanks, rendezvous.ranks);
    rendezvous.localRank = reader.whole("LOCAL_RANK", 0, kMostRanks - 1, rendezvous.rank % rendezvous.localRanks);
    rendezvous.host = reader.text("MASTER_ADDR");
    rendezvous.port = reader.whole("MASTER_PORT", 1, 65535);
    rendezvous.listenFd = reader.whole("LOADLINE_LISTEN_FD", 0, 1 << 20, -1);
    const char* agent = variables("TORCHELASTIC_USE_AGENT_STORE");
    rendezvous.storeElsewhere = agent != nullptr && std::string_view(agent) == "True";
    if (rendezvous.rank >= rendezvous.ranks)
        reader.fail(fmt::format("RANK is {}, but WORLD_SIZE is {}; ranks count from 0", rendezvous.rank, rendezvous.ranks));
    if (rendezvous.localRank >= rendezvous.localRanks || rendezvous.localRanks > rendezvous.ranks)
        reader.fail(fmt::format("LOCAL_RANK is {} of LOCAL_WORLD_SIZE {}, with WORLD_SIZE {}; they do not fit together",
                                rendezvous.localRank, rendezvous.localRanks, rendezvous.ranks));
    if (reader.fault())
        return *reader.fault();
    return rendezvous;
}

Result<Rendezvous> rendezvousFromEnvironment()
{
    return rendezvousFrom([](const char* name) { return std::getenv(name); }); // NOLINT(concurrency-mt-unsafe): read at start
}

} // namespace loadline
