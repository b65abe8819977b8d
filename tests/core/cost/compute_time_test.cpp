// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/compute_time.hpp"

#include "core/cost/profile.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace loadline {
namespace {

Setup setup()
{
    Setup s;
    s.cluster.device.fp32FlopsPerSecond = 10e12;
    s.cluster.device.halfFlopsPerSecond = 100e12;
    s.cluster.device.bytesPerSecond = 1e12;
    s.cluster.device.flopsEfficiency = 0.5;
    s.cluster.device.memoryEfficiency = 0.8;
    s.precision.compute = ComputeMode::Bf16;
    s.sequence = 128;
    s.batch = 2;
    return s;
}

Footprint footprint(double flops, std::int64_t traffic, std::int64_t output)
{
    Footprint f;
    f.forwardFlops = flops;
    f.backwardFlops = 2 * flops;
    f.forwardTraffic = Bytes(traffic);
    f.output = Bytes(output);
    return f;
}

Operator linear()
{
    Operator op;
    op.traits = LinearTraits{64, 64};
    return op;
}

TEST(ComputeTime, IsTheLargerOfArithmeticAndTraffic)
{
    const auto arithmetic = computeTime(linear(), footprint(1e12, 1'000'000, 0), 1, setup());
    EXPECT_DOUBLE_EQ(arithmetic.forward.value(), 1e12 / 50e12);
    EXPECT_DOUBLE_EQ(arithmetic.backward.value(), 2e12 / 50e12);
    EXPECT_TRUE(arithmetic.estimated);
    const auto traffic = computeTime(linear(), footprint(1, 800'000'000, 0), 1, setup());
    EXPECT_DOUBLE_EQ(traffic.forward.value(), 1e-3);
    EXPECT_DOUBLE_EQ(traffic.backward.value(), 2e-3);
}

TEST(ComputeTime, FollowsThePrecision)
{
    auto s = setup();
    for (const auto mode : {ComputeMode::Bf16, ComputeMode::Fp16, ComputeMode::AutocastBf16}) {
        s.precision.compute = mode;
        EXPECT_DOUBLE_EQ(computeTime(linear(), footprint(1e12, 0, 0), 1, s).forward.value(), 0.02);
    }
    s.precision.compute = ComputeMode::Fp32;
    EXPECT_DOUBLE_EQ(computeTime(linear(), footprint(1e12, 0, 0), 1, s).forward.value(), 0.2);
}

TEST(ComputeTime, AttentionReachesItsOwnShareOfThePeak)
{
    auto s = setup();
    Operator attention;
    attention.traits = AttentionTraits{};
    EXPECT_DOUBLE_EQ(computeTime(attention, footprint(1e12, 0, 0), 1, s).forward.value(), 0.02);
    s.cluster.device.attentionEfficiency = 0.25;
    EXPECT_DOUBLE_EQ(computeTime(attention, footprint(1e12, 0, 0), 1, s).forward.value(), 0.04);
    EXPECT_DOUBLE_EQ(computeTime(linear(), footprint(1e12, 0, 0), 1, s).forward.value(), 0.02);
}

TEST(ComputeTime, SlicesAddTheirPartialSums)
{
    const auto f = footprint(0, 800'000'000, 80'000'000);
    EXPECT_DOUBLE_EQ(computeTime(linear(), f, 4, setup()).forward.value(), 1e-3 + 3 * 2 * 80e6 / 0.8e12);
    // Bound by arithmetic, slicing is free.
    const auto bound = footprint(1e12, 1000, 1000);
    EXPECT_EQ(computeTime(linear(), bound, 8, setup()).forward, computeTime(linear(), bound, 1, setup()).forward);
}

TEST(ComputeTime, TheProfileReplacesTheEstimate)
{
    OperatorRow row;
    row.key = operatorKey(linear());
    row.precision = ComputeMode::Bf16;
    row.batch = 2;
    row.sequence = 128;
    row.forward = Seconds(0.25);
    row.backward = Seconds(0.75);
    auto s = setup();
    s.profile = std::make_shared<const Profile>(ProfileHeader{}, std::vector{row}, std::vector<LinkRow>{});
    const auto f = footprint(0, 800'000'000, 80'000'000);
    const auto measured = computeTime(linear(), f, 1, s);
    EXPECT_EQ(measured.forward, Seconds(0.25));
    EXPECT_EQ(measured.backward, Seconds(0.75));
    EXPECT_FALSE(measured.estimated);
    const auto sliced = computeTime(linear(), f, 4, s);
    EXPECT_DOUBLE_EQ(sliced.forward.value(), 0.25 * (1 + 3 * 2 * 0.1));
    EXPECT_TRUE(sliced.estimated);
    s.batch = 4;
    EXPECT_TRUE(computeTime(linear(), f, 1, s).estimated);
    Operator other = linear();
    std::get<LinearTraits>(other.traits).out = 65;
    EXPECT_DOUBLE_EQ(computeTime(other, f, 1, s).forward.value(), 1e-3);
}

TEST(OptimizerStep, MovesGradientWeightAndState)
{
    PrecisionRecipe precision; // fp32: 4 weight, 4 gradient
    OptimizerRecipe adamw;     // 8
    const double expected = 1e9 * (4 + 2 * (4 + 8)) / 0.8e12;
    EXPECT_DOUBLE_EQ(optimizerStep(1'000'000'000, precision, adamw, setup().cluster.device).value(), expected);
    precision.weight = precision.gradient = 2;
    adamw.stateFollowsWeight = true;
    EXPECT_DOUBLE_EQ(optimizerStep(1'000'000'000, precision, adamw, setup().cluster.device).value(), expected / 2);
    EXPECT_EQ(optimizerStep(0, precision, adamw, setup().cluster.device), Seconds(0));
}

} // namespace
} // namespace loadline
