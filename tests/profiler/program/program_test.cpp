// SPDX-License-Identifier: GPL-3.0-or-later
// The real loadline-device with real processes: what it answers, and what it does when things go wrong.
#include "device_program.hpp"

#include "core/base/json.hpp"
#include "core/cost/profile.hpp"
#include "core/exchange/plan_document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

using namespace loadline;
using namespace loadline::test;
using testing::HasSubstr;

namespace {

TrainRequest training(int ranks, std::int64_t steps)
{
    TrainRequest request;
    request.plan = planFor(ranks);
    request.steps = steps;
    request.timeout = Seconds(20);
    return request;
}

std::set<pid_t> pidsOf(const ProgramRun& run)
{
    std::set<pid_t> pids;
    for (const auto& rank : run.all<WorkerRank>()) {
        if (rank.state == RankState::Starting)
            pids.insert(static_cast<pid_t>(rank.pid));
    }
    return pids;
}

/// No rank is left; ranks are not our children, so a dead one is gone once its parent has waited for it.
void expectNobodyLeft(const ProgramRun& run)
{
    for (const pid_t pid : pidsOf(run))
        EXPECT_TRUE(kill(pid, 0) != 0 && errno == ESRCH) << pid;
}

/// A socket that listens and never answers, and its port; {-1, 0} if there is none.
std::pair<int, int> takenPort()
{
    const int taken = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (taken < 0 || bind(taken, any, size) != 0 || listen(taken, 8) != 0 || getsockname(taken, any, &size) != 0)
        return {-1, 0};
    return {taken, ntohs(address.sin_port)};
}

} // namespace

TEST(DeviceProgram, SaysHelloAndDescribesTheCpu)
{
    const auto run = runDevice({"describe"}, "");
    EXPECT_EQ(run.status, 0) << run.words;
    ASSERT_FALSE(run.events.empty());
    const auto* hello = std::get_if<WorkerHello>(&run.events.front());
    ASSERT_NE(hello, nullptr);
    EXPECT_EQ(hello->version, loadlineVersion());
    ASSERT_FALSE(run.all<WorkerDevice>().empty());
    EXPECT_EQ(run.all<WorkerDevice>().front().kind, "cpu");
}

TEST(DeviceProgram, WrongWordsAreExitTwo)
{
    EXPECT_EQ(runDevice({"fly"}, "").status, 2);
    for (const char* verb : {"links", "train"}) {
        for (const char* request : {"", "{", "[]", R"({"device": 3})", R"({"ranks": 0})", R"({"surprise": 1})"}) {
            const auto run = runDevice({verb}, request);
            EXPECT_EQ(run.status, 2) << verb << ' ' << request << run.words;
            EXPECT_THAT(run.words, HasSubstr("loadline-device: "));
        }
    }
    EXPECT_EQ(runDevice({"links"}, R"({"ranks": 4, "groups": [3]})").status, 2);
    EXPECT_EQ(runDevice({"rank"}, "{}").status, 2); // no RANK
}

TEST(DeviceProgram, LinksAreAProfile)
{
    LinksRequest request;
    request.ranks = 2;
    request.most = Bytes(4096);
    const auto run = runDevice({"links"}, writeRequest(request));
    EXPECT_EQ(run.status, 0) << run.words;
    std::string text;
    for (const auto& line : run.all<WorkerProfileLine>())
        text += line.line + "\n";
    const auto profile = readProfile(text, "links");
    ASSERT_TRUE(profile.ok()) << profile.error().message;
    EXPECT_EQ(profile->header().ranks, 2);
    EXPECT_EQ(profile->links().size(), 9U); // 1, 2 and 4 KiB of three collectives
    EXPECT_FALSE(run.all<WorkerProgress>().empty());
    expectNobodyLeft(run);
}

TEST(DeviceProgram, TrainsAPlanAndComparesItWithOneProcess)
{
    const auto run = runDevice({"train"}, writeRequest(training(4, 3)));
    EXPECT_EQ(run.status, 0) << run.words;
    const auto result = run.result();
    EXPECT_EQ(result.outcome, RunOutcome::Done) << result.why;
    ASSERT_EQ(result.losses.size(), 3U);
    ASSERT_EQ(result.unshardedLosses.size(), 3U);
    for (std::size_t step = 0; step < 3; ++step)
        EXPECT_NEAR(result.losses[step], result.unshardedLosses[step], 1e-5 * std::abs(result.losses[step]));
    EXPECT_EQ(run.all<WorkerStep>().size(), 12U);
    EXPECT_EQ(run.all<WorkerTimeline>().size(), 4U);
    EXPECT_FALSE(run.all<WorkerUnit>().empty());
    expectNobodyLeft(run);
}

TEST(DeviceProgram, SavesAndGoesOnAsIfItHadNotStopped)
{
    std::string pattern = (std::filesystem::temp_directory_path() / "loadline-save-XXXXXX").string();
    const std::string folder = mkdtemp(pattern.data());
    auto whole = training(2, 4);
    whole.compareUnsharded = false;
    whole.save = folder;
    whole.saveStep = 2;
    const auto all = runDevice({"train"}, writeRequest(whole));
    ASSERT_EQ(all.status, 0) << all.words;
    auto rest = training(2, 2);
    rest.compareUnsharded = true;
    rest.resume = folder;
    const auto resumed = runDevice({"train"}, writeRequest(rest));
    EXPECT_EQ(resumed.status, 0) << resumed.words;
    ASSERT_EQ(resumed.result().losses.size(), 2U);
    for (std::size_t step = 0; step < 2; ++step) {
        EXPECT_NEAR(resumed.result().losses[step], all.result().losses[step + 2], 1e-6);
        EXPECT_NEAR(resumed.result().unshardedLosses[step], all.result().losses[step + 2], 1e-4); // as the plan, but for the order of sums
    }
    EXPECT_EQ(resumed.all<WorkerStep>().back().step, 4);
    std::filesystem::remove_all(folder);
}

TEST(DeviceProgram, AKilledRankEndsTheRunAndIsNamed)
{
    auto request = training(3, 100000);
    std::int64_t victim = 0;
    const auto run = runDevice({"train"}, writeRequest(request), [&](const WorkerEvent& event, pid_t) {
        const auto* rank = std::get_if<WorkerRank>(&event);
        if (rank != nullptr && rank->rank == 1 && rank->state == RankState::Starting)
            victim = rank->pid;
        const auto* step = std::get_if<WorkerStep>(&event);
        if (step != nullptr && step->step == 2 && step->rank == 1)
            kill(static_cast<pid_t>(victim), SIGKILL);
    });
    EXPECT_EQ(run.status, 1);
    EXPECT_EQ(run.result().outcome, RunOutcome::RankDied);
    EXPECT_THAT(run.result().why, HasSubstr("rank 1 was killed by signal 9"));
    EXPECT_FALSE(run.result().losses.empty()); // what was measured is kept
    expectNobodyLeft(run);
}

TEST(DeviceProgram, AHangingRankIsEndedInTime)
{
    auto request = training(2, 100000);
    request.timeout = Seconds(5);
    std::int64_t victim = 0;
    const auto run = runDevice({"train"}, writeRequest(request), [&](const WorkerEvent& event, pid_t) {
        const auto* rank = std::get_if<WorkerRank>(&event);
        if (rank != nullptr && rank->rank == 1 && rank->state == RankState::Starting)
            victim = rank->pid;
        const auto* step = std::get_if<WorkerStep>(&event);
        if (step != nullptr && step->step == 1 && step->rank == 1)
            kill(static_cast<pid_t>(victim), SIGSTOP);
    });
    EXPECT_EQ(run.status, 1);
    EXPECT_EQ(run.result().outcome, RunOutcome::TimedOut) << run.result().why;
    EXPECT_THAT(run.result().why, HasSubstr("rank 1 did not answer within 5 s"));
    expectNobodyLeft(run);
}

TEST(DeviceProgram, SigtermStopsEverythingAndKeepsTheSteps)
{
    bool sent = false;
    const auto run = runDevice({"train"}, writeRequest(training(2, 100000)), [&](const WorkerEvent& event, pid_t program) {
        const auto* step = std::get_if<WorkerStep>(&event);
        if (step != nullptr && step->step == 3 && !std::exchange(sent, true))
            kill(program, SIGTERM);
    });
    EXPECT_EQ(run.status, 1);
    EXPECT_EQ(run.result().outcome, RunOutcome::Cancelled) << run.result().why;
    EXPECT_GE(run.result().losses.size(), 2U);
    expectNobodyLeft(run);
}

TEST(DeviceProgram, RanksDieWithTheProgram)
{
    const auto run = runDevice({"train"}, writeRequest(training(2, 100000)), [&](const WorkerEvent& event, pid_t program) {
        const auto* step = std::get_if<WorkerStep>(&event);
        if (step != nullptr && step->step == 2)
            kill(program, SIGKILL);
    });
    EXPECT_EQ(run.status, 128 + SIGKILL);
    for (const pid_t pid : pidsOf(run)) { // nobody has waited for them, but they run no more
        std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
        std::string text;
        for (int tries = 0; tries < 100 && std::getline(stat, text) && text.find(") Z") == std::string::npos; ++tries) {
            usleep(20000);
            stat.close();
            stat.open("/proc/" + std::to_string(pid) + "/stat");
            text.clear();
        }
        EXPECT_TRUE(text.empty() || text.find(") Z") != std::string::npos) << text;
    }
}

TEST(DeviceProgram, UnreadableDataIsAWrongRequest)
{
    auto request = training(2, 2);
    request.data = "/no/such/file";
    const auto run = runDevice({"train"}, writeRequest(request));
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.words, HasSubstr("/no/such/file"));
    expectNobodyLeft(run);
}

TEST(DeviceProgram, NoSuchDeviceIsExitFour)
{
    auto request = training(2, 2);
    request.device = "cuda";
    const auto gpus = runDevice({"describe"}, "").all<WorkerDevice>().size() - 1;
    if (gpus >= 2)
        GTEST_SKIP() << "there are GPUs here";
    const auto run = runDevice({"train"}, writeRequest(request));
    EXPECT_EQ(run.status, 4) << run.words;
    EXPECT_THAT(run.words, HasSubstr("CUDA"));
}

TEST(DeviceProgram, APlanThatDoesNotFitItsModelIsRefused)
{
    auto request = training(2, 1);
    auto document = Json::parse(request.plan, nullptr, false);
    ASSERT_TRUE(document.is_object() && document.contains("operators"));
    auto& decided = document["operators"];
    ASSERT_GT(decided.size(), 1U);
    decided.erase(decided.size() - 1); // decides for all operators of its model but the last
    request.plan = document.dump();
    const auto run = runDevice({"train"}, writeRequest(request));
    EXPECT_EQ(run.status, 2) << run.words;
    EXPECT_FALSE(run.words.empty());
    EXPECT_TRUE(run.all<WorkerStep>().empty());
    expectNobodyLeft(run);
}

TEST(DeviceProgram, ATakenPortEndsARankThatWasStartedByHand)
{
    const auto file = std::filesystem::temp_directory_path() / ("loadline-port-" + std::to_string(getpid()) + ".json");
    auto request = training(2, 1);
    request.timeout = Seconds(5);
    std::ofstream(file) << writeRequest(request);
    const auto [socket, port] = takenPort();
    ASSERT_GT(port, 0);
    setenv("RANK", "0", 1);
    setenv("WORLD_SIZE", "2", 1);
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    setenv("MASTER_PORT", std::to_string(port).c_str(), 1);
    const auto run = runDevice({"rank", file.string()}, "");
    for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"})
        unsetenv(name);
    close(socket);
    std::filesystem::remove(file);
    EXPECT_NE(run.status, 0);
    EXPECT_LT(run.status, 128) << "no signal";
    EXPECT_THAT(run.words + run.result().why, HasSubstr("port")) << run.status;
}

TEST(DeviceProgram, APlanForOtherRanksIsRefused)
{
    const std::string folder = std::filesystem::temp_directory_path().string();
    const auto file = std::filesystem::path(folder) / ("loadline-rank-" + std::to_string(getpid()) + ".json");
    std::ofstream(file) << writeRequest(training(4, 1));
    // One rank alone, started by hand, with a plan of four.
    setenv("RANK", "0", 1);
    setenv("WORLD_SIZE", "1", 1);
    setenv("MASTER_ADDR", "127.0.0.1", 1);
    setenv("MASTER_PORT", "29511", 1);
    const auto run = runDevice({"rank", file.string()}, "");
    for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"})
        unsetenv(name);
    std::filesystem::remove(file);
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.result().why, HasSubstr("4 ranks"));
}
