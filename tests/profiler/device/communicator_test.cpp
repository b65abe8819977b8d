// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/device/communicator.hpp"
#include "profiler/device/memory_meter.hpp"
#include "tests/profiler/device/processes.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <gtest/gtest.h>

#include <unistd.h>

#include <csignal>
#include <stdexcept>

using namespace loadline;

namespace {

at::Tensor ramp(int rank, std::int64_t size)
{
    return at::arange(size, at::kFloat).mul(rank + 1);
}

/// Every operation against its definition; 0 if all hold.
int checkAll(Communicator& group)
{
    const int rank = group.rank();
    const int ranks = group.size();
    const std::int64_t part = 5;
    at::Tensor full = at::zeros({part * ranks});
    group.allGather(full, ramp(rank, part))->wait();
    for (int r = 0; r < ranks; ++r) {
        if (!full.narrow(0, r * part, part).equal(ramp(r, part)))
            return 1;
    }
    at::Tensor shard = at::zeros({part});
    at::Tensor spoilt = ramp(rank, part * ranks);
    group.reduceScatter(shard, spoilt)->wait();
    const float factor = static_cast<float>(ranks * (ranks + 1)) / 2;
    if (!shard.allclose(ramp(0, part * ranks).narrow(0, rank * part, part).mul(factor)))
        return 2;
    at::Tensor all = ramp(rank, 7);
    group.allReduce(all)->wait();
    if (!all.allclose(ramp(0, 7).mul(factor)))
        return 3;
    at::Tensor sent = ramp(rank, 3);
    group.broadcast(sent, ranks - 1)->wait();
    if (!sent.equal(ramp(ranks - 1, 3)))
        return 4;
    group.barrier();
    return 0;
}

/// Neighbours in pairs, and across the pairs, at the same time.
int checkSubgroups(Communicator& world)
{
    const int rank = world.rank();
    const int base = rank / 2 * 2;
    const auto pair = world.subgroup({base, base + 1}, "pair" + std::to_string(base));
    const auto across = world.subgroup({rank % 2, rank % 2 + 2}, "across" + std::to_string(rank % 2));
    at::Tensor mine = at::full({4}, double(rank));
    at::Tensor theirs = at::full({4}, double(rank));
    const auto first = pair->allReduce(mine);
    const auto second = across->allReduce(theirs);
    first->wait();
    second->wait();
    const bool right = mine.equal(at::full({4}, double(base + base + 1))) && theirs.equal(at::full({4}, double(rank % 2 * 2 + 2)));
    return right ? 0 : 5;
}

} // namespace

TEST(Communicator, ThreadsDoWhatIsDefined)
{
    for (const int ranks : {1, 2, 3, 4, 8})
        runThreads(ranks, [](Communicator& group) { EXPECT_EQ(checkAll(group), 0); });
    runThreads(4, [](Communicator& group) { EXPECT_EQ(checkSubgroups(group), 0); });
}

TEST(Communicator, AFailedThreadEndsTheOthers)
{
    EXPECT_THROW(runThreads(3,
                            [](Communicator& group) {
                                if (group.rank() == 1)
                                    throw std::runtime_error("rank 1");
                                group.barrier();
                            }),
                 std::exception);
}

TEST(Communicator, GlooDoesWhatIsDefined)
{
    for (const int ranks : {1, 2, 3, 4})
        EXPECT_EQ(inProcesses(ranks, std::chrono::seconds(30), checkAll), std::vector<int>(static_cast<std::size_t>(ranks), 0));
    EXPECT_EQ(inProcesses(4, std::chrono::seconds(30), checkSubgroups), std::vector<int>(4, 0));
}

TEST(Communicator, GlooTakesNoMemoryOfItsOwn)
{
    const auto statuses = inProcesses(2, std::chrono::seconds(30), [](Communicator& group) {
        MemoryMeter::install();
        MemoryMeter meter;
        const MeterScope scope(meter);
        at::Tensor full = at::empty({1 << 20});
        at::Tensor shard = at::zeros({1 << 19});
        meter.resetPeak();
        const Bytes before = meter.total();
        group.allGather(full, shard)->wait();
        group.reduceScatter(shard, full)->wait();
        return meter.peak() == before ? 0 : 6;
    });
    EXPECT_EQ(statuses, std::vector<int>(2, 0));
}

TEST(Communicator, AKilledPeerIsNoticedAtOnce)
{
    const auto statuses = inProcesses(3, std::chrono::seconds(30), [](Communicator& group) {
        group.barrier();
        if (group.rank() == 2)
            raise(SIGKILL);
        at::Tensor tensor = at::zeros({1000});
        for (int i = 0; i < 100; ++i)
            group.allReduce(tensor)->wait();
        return 7;
    });
    EXPECT_EQ(statuses, (std::vector<int>{71, 71, 128 + SIGKILL}));
}

TEST(Communicator, AHangingPeerIsNoticedInTime)
{
    const auto statuses = inProcesses(2, std::chrono::seconds(2), [](Communicator& group) {
        group.barrier();
        if (group.rank() == 1) {
            sleep(5);
            return 0;
        }
        at::Tensor tensor = at::zeros({10});
        group.allReduce(tensor)->wait();
        return 8;
    });
    EXPECT_EQ(statuses.front(), 71);
}
