// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/program/supervisor.hpp"

#include "profiler/device/machine.hpp"
#include "profiler/device/rendezvous.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace loadline {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kPollMilliseconds = 20;
constexpr std::chrono::seconds kNotice{2}; ///< for ranks to notice that another one failed
constexpr std::chrono::seconds kGrace{3};  ///< from SIGTERM to SIGKILL

volatile std::sig_atomic_t stopSignal = 0;

void rememberStop(int signal)
{
    stopSignal = signal;
}

struct Child {
    pid_t pid = -1;
    int output = -1;  ///< our end of its stdout
    std::string rest; ///< of a line that has not ended
    bool gone = false;
    RankEnd end;
};

/// One rank's process, from fork to exec.
class Start {
public:
    Start(const Team& team, const Listener& listener, int requestFd) : m_team(team), m_listener(listener), m_requestFd(requestFd) {}

    Result<Child> rank(int rank) const
    {
        std::array<int, 2> pipes{};
        if (pipe2(pipes.data(), O_CLOEXEC) != 0)
            return ioError(fmt::format("no pipe for rank {} ({}); raise the limit of open files", rank, std::strerror(errno)));
        Child child;
        child.end.rank = rank;
        const pid_t parent = getpid();
        child.pid = fork();
        if (child.pid == 0)
            become(rank, pipes[1], parent);
        close(pipes[1]);
        child.output = pipes[0];
        if (child.pid < 0) {
            close(pipes[0]);
            return ioError(fmt::format("rank {} cannot be started ({}); raise the limit of processes", rank, std::strerror(errno)));
        }
        fcntl(child.output, F_SETFL, O_NONBLOCK);
        return child;
    }

private:
    [[noreturn]] void become(int rank, int output, pid_t parent) const
    {
        prctl(PR_SET_PDEATHSIG, SIGKILL); // whatever ends this program ends its ranks
        if (getppid() != parent)
            _exit(kFault);
        std::signal(SIGTERM, SIG_DFL);
        std::signal(SIGINT, SIG_IGN); // the terminal's goes to all; we pass it on in order
        // A descriptor of its own, since ranks that shared one would share its place in the text.
        const std::string request = "/proc/self/fd/" + std::to_string(m_requestFd);
        const int input = open(request.c_str(), O_RDONLY);
        dup2(input, STDIN_FILENO);
        dup2(output, STDOUT_FILENO);
        if (rank != 0)
            close(m_listener.fd());
        set("RANK", rank);
        set("LOCAL_RANK", rank);
        set("WORLD_SIZE", m_team.ranks);
        set("LOCAL_WORLD_SIZE", m_team.ranks);
        set("MASTER_PORT", m_listener.port());
        setenv("MASTER_ADDR", "127.0.0.1", 1);                                     // NOLINT(concurrency-mt-unsafe): one thread
        setenv("LOADLINE_VERB", m_team.verb.c_str(), 1);                           // NOLINT(concurrency-mt-unsafe)
        set("OMP_NUM_THREADS", std::max(1, readMachine().threads / m_team.ranks)); // as many as the rank will use
        unsetenv("TORCHELASTIC_USE_AGENT_STORE");                                  // NOLINT(concurrency-mt-unsafe)
        if (rank == 0)
            set("LOADLINE_LISTEN_FD", m_listener.fd());
        else
            unsetenv("LOADLINE_LISTEN_FD"); // NOLINT(concurrency-mt-unsafe)
        execl("/proc/self/exe", "loadline-device", "rank", nullptr);
        _exit(kFault);
    }

    static void set(const char* name, int value)
    {
        setenv(name, std::to_string(value).c_str(), 1); // NOLINT(concurrency-mt-unsafe): one thread
    }

    const Team& m_team;
    const Listener& m_listener;
    int m_requestFd;
};

class Watch {
public:
    Watch(std::vector<Child>& children, const std::function<bool(int, std::string_view, const WorkerEvent&)>& onLine, double silence)
        : m_children(children), m_onLine(onLine), m_silence(silence)
    {
    }

    StopCause run()
    {
        m_heard = Clock::now();
        while (true) {
            listen();
            reap();
            if (std::all_of(m_children.begin(), m_children.end(), [](const Child& child) { return child.gone; }))
                return m_cause;
            decide();
        }
    }

private:
    void listen()
    {
        std::vector<pollfd> ends;
        for (const Child& child : m_children) {
            if (child.output >= 0)
                ends.push_back({child.output, POLLIN, 0});
        }
        poll(ends.data(), ends.size(), kPollMilliseconds);
        for (Child& child : m_children)
            drain(child);
    }

    void drain(Child& child)
    {
        std::array<char, 65536> part{};
        while (child.output >= 0) {
            const auto size = read(child.output, part.data(), part.size());
            if (size < 0)
                return; // nothing there now
            if (size == 0) {
                close(child.output);
                child.output = -1;
                take(child, child.rest);
                return;
            }
            child.rest.append(part.data(), static_cast<std::size_t>(size));
            std::size_t from = 0;
            for (auto end = child.rest.find('\n'); end != std::string::npos; end = child.rest.find('\n', from)) {
                take(child, std::string_view(child.rest).substr(from, end - from));
                from = end + 1;
            }
            child.rest.erase(0, from);
        }
    }

    void take(Child& child, std::string_view line)
    {
        if (line.empty())
            return;
        m_heard = Clock::now();
        const auto event = readEvent(line);
        if (!event.ok() || !*event) {
            putWords(fmt::format("rank {}: {}", child.end.rank, line));
            return;
        }
        if (const auto* result = std::get_if<WorkerResult>(&**event)) {
            child.end.result = *result;
            return;
        }
        if (const auto* ready = std::get_if<WorkerRank>(&**event); ready != nullptr && ready->state == RankState::Ready)
            child.end.step = 1;
        if (const auto* step = std::get_if<WorkerStep>(&**event))
            child.end.step = step->step + 1;
        if (!m_onLine(child.end.rank, line, **event))
            stop(StopCause::Cancelled);
    }

    void reap()
    {
        for (Child& child : m_children) {
            int status = 0;
            if (child.gone || waitpid(child.pid, &status, WNOHANG) != child.pid)
                continue;
            drain(child);
            if (child.output >= 0)
                close(std::exchange(child.output, -1));
            child.gone = true;
            child.end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
            child.end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
            WorkerRank told;
            told.rank = child.end.rank;
            told.pid = child.pid;
            told.state = child.end.good() ? RankState::Done : RankState::Died;
            if (!child.end.good()) {
                told.why = child.end.result ? child.end.result->why : wordsOf(child.end);
                m_failed = m_failed.value_or(Clock::now());
            }
            if (!m_onLine(child.end.rank, writeEvent(told), told))
                stop(StopCause::Cancelled);
        }
    }

    void decide()
    {
        const auto now = Clock::now();
        if (stopSignal != 0)
            stop(StopCause::Cancelled);
        else if (std::chrono::duration<double>(now - m_heard).count() > m_silence)
            stop(StopCause::Silence);
        else if (m_failed && now - *m_failed > kNotice)
            stop(StopCause::Nothing);
        if (m_stopped && now - *m_stopped > kGrace)
            signalAll(SIGKILL);
    }

    void stop(StopCause cause)
    {
        if (m_stopped)
            return;
        m_cause = cause;
        m_stopped = Clock::now();
        signalAll(SIGTERM);
    }

    void signalAll(int signal)
    {
        for (Child& child : m_children) {
            if (child.gone)
                continue;
            child.end.byUs = true;
            kill(child.pid, signal);
        }
    }

    std::vector<Child>& m_children;
    const std::function<bool(int, std::string_view, const WorkerEvent&)>& m_onLine;
    double m_silence;
    Clock::time_point m_heard;
    std::optional<Clock::time_point> m_failed;
    std::optional<Clock::time_point> m_stopped;
    StopCause m_cause = StopCause::Nothing;
};

/// A file without a name that holds the request, so that its length does not matter; -1 if there is none.
int requestFile(const std::string& request)
{
    const int fd = memfd_create("request", MFD_CLOEXEC);
    std::string_view rest = request;
    while (fd >= 0 && !rest.empty()) {
        const auto written = write(fd, rest.data(), rest.size());
        if (written <= 0)
            break;
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    return fd;
}

} // namespace

void catchStopSignals()
{
    std::signal(SIGTERM, rememberStop);
    std::signal(SIGINT, rememberStop);
    std::signal(SIGPIPE, SIG_IGN);
}

bool stopAsked()
{
    return stopSignal != 0;
}

Result<TeamEnd> runTeam(const Team& team, const std::function<bool(int rank, std::string_view line, const WorkerEvent& event)>& onLine)
{
    const auto listener = Listener::open();
    if (!listener.ok())
        return listener.error();
    const int request = requestFile(team.request);
    if (request < 0)
        return ioError(fmt::format("the request cannot be kept for the ranks ({}); free some memory", std::strerror(errno)));
    const Start start(team, *listener, request);
    std::vector<Child> children;
    std::optional<Error> fault;
    for (int rank = 0; rank < team.ranks && !fault; ++rank) {
        auto child = start.rank(rank);
        if (!child.ok()) {
            fault = child.error();
            break;
        }
        onLine(rank, writeEvent(WorkerRank{rank, RankState::Starting, child->pid, ""}),
               WorkerRank{rank, RankState::Starting, child->pid, ""});
        children.push_back(*std::move(child));
    }
    close(request);
    if (fault) {
        for (const Child& child : children) {
            kill(child.pid, SIGKILL);
            waitpid(child.pid, nullptr, 0);
            close(child.output);
        }
        return *fault;
    }
    TeamEnd end;
    end.cause = Watch(children, onLine, team.silence).run();
    for (Child& child : children)
        end.ranks.push_back(std::move(child.end));
    return end;
}

} // namespace loadline
