// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/measure/profile.hpp"

#include "core/model/reader.hpp"
#include "profiler/device/communicator.hpp"

#include <ATen/Parallel.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

using namespace loadline;
using testing::HasSubstr;

namespace {

constexpr std::int64_t kTooMany = std::int64_t{1} << 40; ///< sequences that no machine holds

ProfileRequest request()
{
    ProfileRequest request;
    const auto model = loadModel(LOADLINE_SOURCE_DIR "/tests/data/train/gpt2.json");
    EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().message);
    if (model.ok())
        request.model = *model;
    request.batches = {1};
    request.sequences = {8};
    request.granularities = {1};
    request.limit = Seconds(600); // never the reason for leaving something out, unless a test says so
    return request;
}

struct Measured {
    std::size_t points = 0;
    std::vector<OperatorRow> ops;
    std::vector<StepRow> steps;
    WorkerProgress last;
};

/// In one rank; `cancelAfter` rows it is cancelled.
Measured measure(const ProfileRequest& request, std::size_t cancelAfter = SIZE_MAX)
{
    Measured measured;
    const auto points = profilePoints(request, false);
    EXPECT_TRUE(points.ok()) << (points.ok() ? "" : points.error().message);
    if (!points.ok())
        return measured;
    measured.points = points->size();
    at::set_num_threads(1); // as a rank among others has it
    runThreads(1, [&](Communicator& world) {
        const auto device = openDevice("cpu", 0);
        ProfileSink sink;
        sink.op = [&](const OperatorRow& row) { measured.ops.push_back(row); };
        sink.step = [&](const StepRow& row) { measured.steps.push_back(row); };
        sink.progress = [&](const WorkerProgress& progress) { measured.last = progress; };
        sink.cancelled = [&] { return measured.ops.size() >= cancelAfter; };
        measureProfile(world, **device, request, *points, sink);
    });
    return measured;
}

std::size_t distinctKeys(const std::vector<OperatorRow>& rows)
{
    std::set<std::string> keys;
    for (const OperatorRow& row : rows)
        keys.insert(row.key);
    return keys.size();
}

} // namespace

TEST(Profile, LargerBatchesAndBothPrecisionsAreMeasuredOncePerDistinctOperator)
{
    auto asked = request();
    asked.batches = {3, 1};
    asked.precisions = {"fp32", "bf16"};
    const auto measured = measure(asked);
    ASSERT_FALSE(measured.ops.empty());
    EXPECT_EQ(measured.ops.size(), measured.points);
    EXPECT_EQ(measured.ops.size(), 4 * distinctKeys(measured.ops));
    EXPECT_FALSE(measured.steps.empty());
    EXPECT_EQ(measured.last.done, measured.last.total);
    EXPECT_EQ(measured.ops.front().batch, 1) << "the smallest first";
    EXPECT_EQ(measured.ops.back().batch, 3);
    for (const OperatorRow& row : measured.ops) {
        EXPECT_FALSE(row.outOfMemory) << row.key;
        EXPECT_GT(row.forward.value(), 0) << row.key;
        EXPECT_GT(row.backward.value(), 0) << row.key;
        EXPECT_GT(row.windows, 0) << row.key;
    }
    // What is saved for backward grows with the batch and is never more in half precision.
    for (const OperatorRow& small : measured.ops) {
        for (const OperatorRow& large : measured.ops) {
            if (small.key != large.key || small.batch != 1)
                continue;
            if (large.batch == 3 && large.precision == small.precision) {
                EXPECT_GE(large.saved, small.saved) << small.key;
            }
            if (large.batch == 1 && small.precision == ComputeMode::Bf16 && large.precision == ComputeMode::Fp32) {
                EXPECT_LE(small.saved, large.saved) << small.key;
            }
        }
    }
}

TEST(Profile, OutOfMemoryIsARowAndEndsTheSweep)
{
    auto asked = request();
    asked.batches = {1, kTooMany, 2 * kTooMany};
    const auto measured = measure(asked);
    const auto keys = distinctKeys(measured.ops);
    EXPECT_EQ(measured.points, 3 * keys);
    // Batch 1 and the first that does not fit; the one beyond it is not tried.
    EXPECT_EQ(measured.ops.size(), 2 * keys);
    for (const OperatorRow& row : measured.ops) {
        EXPECT_LE(row.batch, kTooMany);
        EXPECT_EQ(row.outOfMemory, row.batch == kTooMany) << row.key;
    }
    EXPECT_EQ(measured.last.done, measured.last.total) << "what is left out counts as done";
}

TEST(Profile, CancelKeepsWhatWasMeasured)
{
    const auto measured = measure(request(), 2);
    EXPECT_EQ(measured.ops.size(), 2U);
    EXPECT_FALSE(measured.steps.empty());
    EXPECT_LT(measured.last.done, measured.last.total);
    EXPECT_GT(measured.ops[1].forward.value(), 0);
}

TEST(Profile, WithoutTimeNothingIsMeasured)
{
    auto asked = request();
    asked.limit = Seconds(0);
    const auto measured = measure(asked);
    EXPECT_TRUE(measured.ops.empty());
    EXPECT_TRUE(measured.steps.empty());
}

TEST(Profile, WhatCannotBeMeasuredIsASentence)
{
    auto wrong = request();
    wrong.precisions = {"fp16"};
    EXPECT_THAT(profilePoints(wrong, false).error().message, HasSubstr("fp16"));
    EXPECT_TRUE(profilePoints(wrong, true).ok()) << "a GPU can";
    wrong = request();
    wrong.optimizer = "adafactor";
    EXPECT_FALSE(profilePoints(wrong, false).ok());
    wrong = request();
    wrong.sequences = {1 << 20};
    EXPECT_THAT(profilePoints(wrong, false).error().message, HasSubstr("positions"));
}

TEST(Profile, OutliersAreTold)
{
    const auto window = windowOf({1.0, 1.1, 1.2, 1.1, 9.0});
    EXPECT_DOUBLE_EQ(window.median, 1.1);
    EXPECT_EQ(window.outliers, 1);
    EXPECT_EQ(windowOf({2, 2, 2}).outliers, 0);
}
