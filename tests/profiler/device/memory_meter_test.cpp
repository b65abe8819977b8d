// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/device/memory_meter.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>

#include <gtest/gtest.h>

#include <thread>

using namespace loadline;

namespace {

Bytes of(const CategoryBytes& bytes, MemoryCategory category)
{
    return bytes[static_cast<std::size_t>(category)];
}

} // namespace

TEST(MemoryMeter, CountsEveryByteByCategory)
{
    MemoryMeter::install();
    MemoryMeter meter;
    const MeterScope scope(meter);
    at::Tensor parameters;
    {
        const CategoryScope category(MemoryCategory::Parameters);
        parameters = at::empty({1000});
    }
    at::Tensor activation = at::empty({3, 7});
    EXPECT_EQ(of(meter.alive(), MemoryCategory::Parameters), Bytes(4000));
    EXPECT_EQ(of(meter.alive(), MemoryCategory::Activations), Bytes(84));
    EXPECT_EQ(meter.total(), Bytes(4084));
    parameters = at::Tensor();
    EXPECT_EQ(of(meter.alive(), MemoryCategory::Parameters), Bytes(0));
    EXPECT_EQ(meter.peak(), Bytes(4084));
    EXPECT_EQ(of(meter.atPeak(), MemoryCategory::Parameters), Bytes(4000));
    meter.resetPeak();
    EXPECT_EQ(meter.peak(), Bytes(84));
}

TEST(MemoryMeter, AFreeInAnotherThreadCountsWhereItWasTaken)
{
    MemoryMeter::install();
    MemoryMeter meter;
    at::Tensor tensor;
    {
        const MeterScope scope(meter);
        tensor = at::ones({64});
    }
    EXPECT_EQ(meter.total(), Bytes(256));
    std::thread([&] { tensor = at::Tensor(); }).join();
    EXPECT_EQ(meter.total(), Bytes(0));
}

TEST(MemoryMeter, AllocationsOutsideAScopeAreNotCounted)
{
    MemoryMeter::install();
    MemoryMeter meter;
    const at::Tensor tensor = at::ones({64});
    EXPECT_EQ(meter.total(), Bytes(0));
}

TEST(MemoryMeter, ABlockMayOutliveItsMeter)
{
    // Gloo's threads drop a tensor at a moment of their own.
    MemoryMeter::install();
    at::Tensor tensor;
    auto meter = std::make_unique<MemoryMeter>();
    const std::weak_ptr<MemoryMeter::Counts> counts = meter->counts();
    {
        const MeterScope scope(*meter);
        tensor = at::ones({64});
    }
    meter.reset();
    EXPECT_FALSE(counts.expired());
    tensor = at::Tensor();
    EXPECT_TRUE(counts.expired());
}
