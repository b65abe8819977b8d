// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/device/rendezvous.hpp"

#include "profiler/device/device.hpp"
#include "profiler/device/failure.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

using namespace loadline;
using testing::HasSubstr;

namespace {

using Environment = std::map<std::string, std::string>;

Result<Rendezvous> read(const Environment& environment)
{
    return rendezvousFrom([&](const char* name) {
        const auto found = environment.find(name);
        return found == environment.end() ? nullptr : found->second.c_str();
    });
}

const Environment kTwoNodes{
    {"RANK", "5"}, {"LOCAL_RANK", "1"}, {"WORLD_SIZE", "8"}, {"LOCAL_WORLD_SIZE", "4"}, {"MASTER_ADDR", "node0"}, {"MASTER_PORT", "29500"}};

} // namespace

TEST(Rendezvous, ReadsWhatTorchrunSets)
{
    const auto rendezvous = read(kTwoNodes);
    ASSERT_TRUE(rendezvous.ok()) << rendezvous.error().message;
    EXPECT_EQ(rendezvous->rank, 5);
    EXPECT_EQ(rendezvous->ranks, 8);
    EXPECT_EQ(rendezvous->localRank, 1);
    EXPECT_EQ(rendezvous->localRanks, 4);
    EXPECT_EQ(rendezvous->host, "node0");
    EXPECT_EQ(rendezvous->port, 29500);
    EXPECT_EQ(rendezvous->listenFd, -1);
    EXPECT_FALSE(rendezvous->storeElsewhere);
    auto agent = kTwoNodes;
    agent["TORCHELASTIC_USE_AGENT_STORE"] = "True";
    EXPECT_TRUE(read(agent)->storeElsewhere);
}

TEST(Rendezvous, NamesTheVariableThatIsWrong)
{
    for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
        auto missing = kTwoNodes;
        missing.erase(name);
        ASSERT_FALSE(read(missing).ok()) << name;
        EXPECT_THAT(read(missing).error().message, HasSubstr(name));
    }
    const std::vector<std::pair<std::string, std::string>> wrong{{"RANK", "8"},
                                                                 {"RANK", "-1"},
                                                                 {"RANK", "two"},
                                                                 {"RANK", "1x"},
                                                                 {"WORLD_SIZE", "0"},
                                                                 {"MASTER_PORT", "0"},
                                                                 {"MASTER_PORT", "65536"},
                                                                 {"LOCAL_RANK", "4"},
                                                                 {"LOCAL_WORLD_SIZE", "9"},
                                                                 {"LOADLINE_LISTEN_FD", "x"}};
    for (const auto& [name, value] : wrong) {
        auto environment = kTwoNodes;
        environment[name] = value;
        const auto rendezvous = read(environment);
        ASSERT_FALSE(rendezvous.ok()) << name << "=" << value;
        EXPECT_THAT(rendezvous.error().message, HasSubstr(name.starts_with("LOCAL") ? "LOCAL" : name));
    }
}

TEST(Rendezvous, APortThatIsTakenIsAnExceptionAndNoHang)
{
    const auto taken = Listener::open();
    ASSERT_TRUE(taken.ok());
    Rendezvous rendezvous;
    rendezvous.port = taken->port();
    rendezvous.timeout = std::chrono::seconds(5);
    try {
        joinGloo(rendezvous);
        FAIL() << "the port was free";
    } catch (const std::exception& exception) {
        EXPECT_THAT(oneSentence(exception), HasSubstr(std::to_string(taken->port())));
    }
}

// One rank of the test below.
TEST(Torchrun, DISABLED_Rank)
{
    const auto rendezvous = rendezvousFromEnvironment();
    ASSERT_TRUE(rendezvous.ok()) << rendezvous.error().message;
    const auto device = openDevice("cpu", rendezvous->localRank);
    const auto world = (*device)->join(*rendezvous);
    at::Tensor tensor = at::full({3}, double(world->rank() + 1));
    world->allReduce(tensor)->wait();
    EXPECT_TRUE(tensor.equal(at::full({3}, 3.0)));
    world->barrier();
}

TEST(Torchrun, StartsRanksThatFindEachOther)
{
    const std::string python = LOADLINE_TORCH_PYTHON;
    if (!std::filesystem::exists(python) || std::system((python + " -c 'import torch.distributed.run' 2>/dev/null").c_str()) != 0)
        GTEST_SKIP() << "no Python with PyTorch at " << python << "; packaging/test makes it";
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    const std::string command = python + " -m torch.distributed.run --standalone --nproc-per-node 2 --no-python " + self +
                                " --gtest_filter=Torchrun.DISABLED_Rank --gtest_also_run_disabled_tests >/dev/null 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
}
