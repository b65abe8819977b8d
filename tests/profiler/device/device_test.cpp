// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/device/device.hpp"

#include "profiler/device/failure.hpp"
#include "profiler/device/machine.hpp"
#include "profiler/device/memory_meter.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <thread>

using namespace loadline;
using testing::HasSubstr;

TEST(Device, CpuIsAlwaysThere)
{
    const auto device = openDevice("cpu", 0);
    ASSERT_TRUE(device.ok());
    EXPECT_TRUE((*device)->place().is_cpu());
    EXPECT_TRUE((*device)->shared());
    EXPECT_GT((*device)->memory().free, Bytes(0));
    EXPECT_GE((*device)->memory().total, (*device)->memory().free);
    const auto before = (*device)->event();
    const auto after = (*device)->event();
    before->record();
    after->record();
    EXPECT_GE(after->since(*before), Seconds(0));
}

TEST(Device, UnknownAndMissingOnesAreSaidInASentence)
{
    const auto unknown = openDevice("tpu", 0);
    ASSERT_FALSE(unknown.ok());
    EXPECT_EQ(unknown.error().code, ErrorCode::InvalidInput);
    EXPECT_THAT(unknown.error().message, HasSubstr("'tpu'"));
    const auto missing = openDevice("cuda", 1000);
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
    EXPECT_EQ(missing.error().message.find('\n'), std::string::npos);
}

TEST(Device, DescriptionNamesTheCpuAndSaysWhyThereIsNoGpu)
{
    std::string why;
    const auto devices = describeDevices(&why);
    ASSERT_FALSE(devices.empty());
    EXPECT_EQ(devices[0].kind, "cpu");
    EXPECT_FALSE(devices[0].name.empty());
    EXPECT_GE(devices[0].threads, 1);
    EXPECT_GT(devices[0].memory, Bytes(0));
    EXPECT_EQ(devices[0].versions.front(), (std::pair<std::string, std::string>("torch", "2.11.0")));
    EXPECT_EQ(devices.size() == 1, !why.empty());
}

TEST(Machine, ReadsWhatTheSystemWrites)
{
    const std::string cpu = "processor\t: 0\nmodel name\t: Some CPU @ 2.70GHz\ncpu MHz\t\t: 2699.998\nprocessor\t: 1\n";
    EXPECT_EQ(cpuNameIn(cpu), "Some CPU @ 2.70GHz");
    EXPECT_NEAR(cpuClockIn(cpu), 2.699998e9, 1);
    EXPECT_EQ(clockText(cpuClockIn(cpu)), "2.70 GHz");
    const std::string memory = "MemTotal:       24689740 kB\nMemFree:  12 kB\nMemAvailable:   23000000 kB\n";
    EXPECT_EQ(memoryIn(memory, "MemTotal"), Bytes(24689740LL * 1024));
    EXPECT_EQ(memoryIn(memory, "MemAvailable"), Bytes(23000000LL * 1024));
}

TEST(Machine, UnreadableTextIsEmpty)
{
    for (const char* text : {"", "model name", "model name:", "MemTotal: lots", "MemTotal: -5 kB", "MemTotalX: 5 kB", "cpu MHz : -1"}) {
        EXPECT_EQ(cpuNameIn(text), "") << text;
        EXPECT_EQ(cpuClockIn(text), 0) << text;
        EXPECT_EQ(memoryIn(text, "MemTotal"), Bytes(0)) << text;
    }
    EXPECT_EQ(clockText(0), "");
}

TEST(Failure, TellsMemoryPeersAndTimeApart)
{
    const auto of = [](const char* text) { return failureOf(std::runtime_error(text)); };
    EXPECT_EQ(of("[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:538] Connection closed by peer [127.0.0.1]:38741"),
              Failure::PeerLost);
    EXPECT_EQ(
        of("[/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 2000ms for recv operation to complete"),
        Failure::TimedOut);
    EXPECT_EQ(of("[enforce fail at alloc_cpu.cpp:121] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes."),
              Failure::OutOfMemory);
    EXPECT_EQ(of("mat1 and mat2 shapes cannot be multiplied"), Failure::Other);
    EXPECT_EQ(failureOf(std::bad_alloc()), Failure::OutOfMemory);
}

TEST(Failure, IsOneSentence)
{
    EXPECT_EQ(oneSentence(std::runtime_error("[/gloo/transport/tcp/pair.cc:538] Connection closed by peer [127.0.0.1]:38741\nmore")),
              "Connection closed by peer [127.0.0.1]:38741");
    EXPECT_EQ(oneSentence(std::runtime_error("")), "an unknown fault");
    try {
        TORCH_CHECK(false, "what went wrong");
        FAIL();
    } catch (const std::exception& exception) {
        EXPECT_EQ(oneSentence(exception), "what went wrong");
    }
}

TEST(MemoryLimit, IsOutOfMemoryAndHarmsNothing)
{
    MemoryMeter::install();
    MemoryMeter meter;
    const MeterScope scope(meter);
    meter.setLimit(Bytes(1000));
    const at::Tensor first = at::empty({200});
    try {
        const at::Tensor second = at::empty({100});
        FAIL() << "1,200 bytes fit into 1,000";
    } catch (const std::exception& exception) {
        EXPECT_EQ(failureOf(exception), Failure::OutOfMemory);
    }
    EXPECT_EQ(meter.total(), Bytes(800));
    const at::Tensor third = at::empty({50});
    EXPECT_EQ(meter.total(), Bytes(1000));
}

TEST(MemoryElsewhere, IsCountedFromWhereItIsTakenToWhereItIsFreed)
{
    MemoryMeter meter;
    const int block = 0;
    {
        const MeterScope scope(meter);
        const CategoryScope category(MemoryCategory::Gathered);
        MemoryMeter::taken(&block, 512);
    }
    EXPECT_EQ(meter.alive()[static_cast<std::size_t>(MemoryCategory::Gathered)], Bytes(512));
    MemoryMeter::freed(&block);
    MemoryMeter::freed(&block); // not known any more
    EXPECT_EQ(meter.total(), Bytes(0));
    EXPECT_EQ(meter.peak(), Bytes(512));
}

TEST(MeterReach, ThreadsWithoutAMeterCountToTheProcess)
{
    MemoryMeter::install();
    MemoryMeter meter;
    MemoryMeter own;
    at::Tensor theirs;
    at::Tensor elsewhere;
    {
        const MeterScope scope(meter, MeterReach::Process);
        std::thread([&] { theirs = at::empty({10}); }).join();
        std::thread([&] {
            const MeterScope mine(own);
            elsewhere = at::empty({20});
        }).join();
    }
    std::thread([] { const at::Tensor after = at::empty({30}); }).join();
    EXPECT_EQ(meter.total(), Bytes(40));
    EXPECT_EQ(own.total(), Bytes(80));
    theirs = at::Tensor();
    elsewhere = at::Tensor();
}
