// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_program.hpp"

#include "core/cluster/library.hpp"
#include "core/exchange/plan_document.hpp"
#include "core/model/reader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace loadline::test {
namespace {

namespace fs = std::filesystem;

/// The file's descriptors are the child's stdin and stderr: no pipe can fill up.
[[noreturn]] void become(const std::vector<std::string>& arguments, const fs::path& folder, int output, const std::string& environment)
{
    dup2(open((folder / "request").c_str(), O_RDONLY), STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(open((folder / "words").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    if (const auto equals = environment.find('='); equals != std::string::npos)
        setenv(environment.substr(0, equals).c_str(), environment.substr(equals + 1).c_str(), 1);
    std::vector<std::string> words{LOADLINE_BIN_DIR "/loadline-device"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (auto& word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(pointers.front(), pointers.data());
    _exit(127);
}

void take(ProgramRun& run, const std::string& line, pid_t child, const std::function<void(const WorkerEvent&, pid_t)>& onEvent)
{
    run.lines.push_back(line);
    const auto event = readEvent(line);
    if (!event.ok() || !*event)
        return;
    run.events.push_back(**event);
    if (onEvent)
        onEvent(**event, child);
}

} // namespace

WorkerResult ProgramRun::result() const
{
    const auto* result = events.empty() ? nullptr : std::get_if<WorkerResult>(&events.back());
    return result == nullptr ? WorkerResult{RunOutcome::Failed, "no result: " + words, {}, {}} : *result;
}

ProgramRun runDevice(const std::vector<std::string>& arguments, const std::string& request,
                     const std::function<void(const WorkerEvent&, pid_t)>& onEvent, const std::string& environment)
{
    std::string pattern = (fs::temp_directory_path() / "loadline-program-XXXXXX").string();
    const fs::path folder = mkdtemp(pattern.data());
    std::ofstream(folder / "request") << request;
    std::array<int, 2> pipes{};
    if (pipe2(pipes.data(), O_CLOEXEC) != 0)
        throw std::runtime_error("no pipe");
    const pid_t child = fork();
    if (child == 0)
        become(arguments, folder, pipes[1], environment);
    close(pipes[1]);
    ProgramRun run;
    std::string rest;
    std::array<char, 4096> part{};
    for (auto size = read(pipes[0], part.data(), part.size()); size > 0; size = read(pipes[0], part.data(), part.size())) {
        rest.append(part.data(), static_cast<std::size_t>(size));
        for (auto end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
            take(run, rest.substr(0, end), child, onEvent);
            rest.erase(0, end + 1);
        }
    }
    close(pipes[0]);
    int status = 0;
    waitpid(child, &status, 0);
    run.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    std::ostringstream words;
    words << std::ifstream(folder / "words").rdbuf();
    run.words = words.str();
    fs::remove_all(folder);
    return run;
}

std::string planFor(int ranks)
{
    PlanRequest request;
    Setup& setup = request.setup;
    const auto model = loadModel(LOADLINE_SOURCE_DIR "/tests/data/train/gpt2.json");
    if (!model.ok())
        throw std::runtime_error(model.error().message);
    setup.model = std::make_shared<const Model>(*model);
    setup.cluster = bundledClusters().front();
    setup.cluster.nodes = 1;
    setup.cluster.gpusPerNode = ranks;
    setup.precision = *loadPrecision("fp32");
    setup.optimizer = *loadOptimizer("adamw");
    setup.rules = loadlineRules();
    setup.sequence = 8;
    setup.dropout = 0;
    setup.attention = AttentionKind::Flash;
    setup.overhead = Bytes(0);
    setup.granularities = {1, 2};
    request.budget = Bytes(700_KiB);
    auto outcome = makePlan(request);
    if (!outcome.ok() || !outcome->plan)
        throw std::runtime_error(outcome.ok() ? "no plan fits" : outcome.error().message);
    PlanDocument document;
    document.provenance = {"gpt2", "test", "estimated"};
    document.setup = outcome->plan->table.setup;
    document.outcome = *std::move(outcome);
    return planJson(document);
}

} // namespace loadline::test
