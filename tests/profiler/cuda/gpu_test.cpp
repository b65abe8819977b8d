// SPDX-License-Identifier: GPL-3.0-or-later
// Everything here needs a GPU and is skipped without one; docs/gpu.md says where it has been run.
#include "profiler/device/cuda_module.hpp"
#include "profiler/device/device.hpp"
#include "profiler/device/failure.hpp"
#include "profiler/device/memory_meter.hpp"
#include "profiler/device/rendezvous.hpp"
#include "profiler/measure/links.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

using namespace loadline;

namespace {

/// GPUs that can be used, asked in a child so that this process stays without CUDA and can fork.
int gpus(std::string& why)
{
    int pipes[2];
    if (pipe(pipes) != 0)
        return 0;
    const pid_t child = fork();
    if (child == 0) {
        std::string reason;
        const auto devices = describeDevices(&reason);
        const std::string text = std::to_string(devices.size() - 1) + " " + reason;
        const bool written = write(pipes[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
        _exit(written ? 0 : 1);
    }
    close(pipes[1]);
    std::string text(4096, '\0');
    const auto size = read(pipes[0], text.data(), text.size());
    close(pipes[0]);
    int status = 0;
    waitpid(child, &status, 0);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    const auto space = text.find(' ');
    why = space == std::string::npos ? "the CUDA half ended with status " + std::to_string(status) : text.substr(space + 1);
    return space == std::string::npos ? 0 : std::atoi(text.c_str());
}

/// Runs `body` in as many processes as there are GPUs, each with its own, joined over NCCL; true if all return 0.
bool onEveryGpu(int ranks, const std::function<int(Communicator&, ComputeDevice&)>& body)
{
    auto listener = Listener::open();
    std::vector<pid_t> children;
    for (int rank = 0; rank < ranks; ++rank) {
        const pid_t child = fork();
        if (child == 0) {
            int status = 70;
            try {
                const auto device = openDevice("cuda", rank);
                Rendezvous rendezvous;
                rendezvous.port = listener->port();
                rendezvous.listenFd = rank == 0 ? listener->fd() : -1;
                rendezvous.rank = rank;
                rendezvous.ranks = ranks;
                const auto world = (*device)->join(rendezvous);
                status = body(*world, **device);
            } catch (const std::exception& exception) {
                std::fprintf(stderr, "%s\n", exception.what());
            }
            _exit(status);
        }
        children.push_back(child);
    }
    bool right = true;
    for (const pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        right = right && status == 0;
    }
    return right;
}

int checkCollectives(Communicator& world, ComputeDevice& device)
{
    const auto options = at::TensorOptions(device.place()).dtype(at::kFloat);
    const auto ramp = [&](int rank, std::int64_t size) { return at::arange(size, options).mul(rank + 1); };
    const int ranks = world.size();
    const at::Tensor full = at::empty({5 * ranks}, options);
    world.allGather(full, ramp(world.rank(), 5))->wait();
    for (int rank = 0; rank < ranks; ++rank)
        if (!full.narrow(0, rank * 5, 5).equal(ramp(rank, 5)))
            return 1;
    const double factor = ranks * (ranks + 1) / 2.0;
    const at::Tensor shard = at::empty({5}, options);
    world.reduceScatter(shard, ramp(world.rank(), 5 * ranks))->wait();
    if (!shard.allclose(ramp(0, 5 * ranks).narrow(0, world.rank() * 5, 5).mul(factor)))
        return 2;
    const at::Tensor all = ramp(world.rank(), 7);
    world.allReduce(all)->wait();
    if (!all.allclose(ramp(0, 7).mul(factor)))
        return 3;
    const auto alone = world.subgroup({world.rank()}, "alone");
    const at::Tensor mine = ramp(world.rank(), 3);
    alone->allReduce(mine)->wait();
    world.barrier();
    return mine.equal(ramp(world.rank(), 3)) ? 0 : 4;
}

int checkMemory(Communicator&, ComputeDevice& device)
{
    device.meter();
    MemoryMeter meter;
    const MeterScope scope(meter);
    const auto options = at::TensorOptions(device.place()).dtype(at::kFloat);
    at::Tensor tensor = at::empty({1000}, options);
    if (meter.total() != Bytes(4000) || device.memory().allocated < Bytes(4000) || device.memory().reserved < Bytes(4096))
        return 1;
    tensor = at::Tensor();
    if (meter.total() != Bytes(0) || meter.peak() != Bytes(4000))
        return 2;
    try {
        at::empty({std::int64_t{1} << 44}, options);
        return 3;
    } catch (const std::exception& exception) {
        return failureOf(exception) == Failure::OutOfMemory ? 0 : 4;
    }
}

int checkEvents(Communicator&, ComputeDevice& device)
{
    const at::Tensor matrix = at::ones({2048, 2048}, at::TensorOptions(device.place()).dtype(at::kFloat));
    const auto before = device.event();
    const auto after = device.event();
    before->record();
    for (int i = 0; i < 20; ++i)
        at::mm(matrix, matrix);
    after->record();
    return after->since(*before) > Seconds(1e-5) ? 0 : 1;
}

int checkLinks(Communicator& world, ComputeDevice& device)
{
    LinksRequest request;
    request.most = 1_MiB;
    request.limit = Seconds(20);
    const auto groups = linkGroups(request, world.size(), world.size());
    if (!groups.ok())
        return 1;
    int rows = 0;
    LinkSink sink;
    sink.link = [&](const LinkRow& row) { rows += row.seconds > Seconds(0) ? 1 : 0; };
    measureLinks(world, device, request, *groups, sink);
    return world.rank() != 0 || rows >= 11 * 3 ? 0 : 2;
}

} // namespace

class Gpu : public testing::Test {
protected:
    void SetUp() override
    {
        std::string why;
        m_gpus = gpus(why);
        if (m_gpus == 0)
            GTEST_SKIP() << why;
    }
    int m_gpus = 0;
};

TEST_F(Gpu, CollectivesDoWhatIsDefined)
{
    EXPECT_TRUE(onEveryGpu(m_gpus, checkCollectives));
}

TEST_F(Gpu, TheMeterAndTheAllocatorAgree)
{
    EXPECT_TRUE(onEveryGpu(1, checkMemory));
}

TEST_F(Gpu, EventsMeasureKernels)
{
    EXPECT_TRUE(onEveryGpu(1, checkEvents));
}

TEST_F(Gpu, LinksAreMeasured)
{
    if (m_gpus < 2)
        GTEST_SKIP() << "a link needs two GPUs";
    EXPECT_TRUE(onEveryGpu(m_gpus, checkLinks));
}
