// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/batch_surface.hpp"

#include "core/cluster/library.hpp"
#include "core/model/reader.hpp"

#include <gtest/gtest.h>

using namespace loadline;

namespace {

PlanRequest question(Bytes budget)
{
    PlanRequest request;
    request.setup.model = std::make_shared<const Model>(*loadModel("gpt2-small"));
    request.setup.cluster = bundledClusters().front();
    request.setup.precision = bundledPrecisions().front();
    request.setup.optimizer = bundledOptimizers().front();
    request.setup.rules = loadlineRules();
    request.setup.sequence = 256;
    request.budget = budget;
    request.mostBatch = 16;
    return request;
}

} // namespace

TEST(BatchSurface, EveryCellIsThePlanOfItsBatch)
{
    PlanRequest request = question(Bytes(std::int64_t{1} << 34));
    const auto surface = batchSurface(request, 4);
    ASSERT_TRUE(surface) << surface.error().message;
    EXPECT_EQ(surface->accumulations, (std::vector<std::int64_t>{1, 2, 4}));
    ASSERT_EQ(surface->cells.size(), surface->batches.size() * 3);
    for (std::size_t b = 0; b < surface->batches.size(); ++b) {
        for (std::size_t a = 0; a < 3; ++a) {
            const BatchCell& cell = surface->at(b, a);
            EXPECT_EQ(cell.batch, surface->batches[b]);
            EXPECT_EQ(cell.accumulation, surface->accumulations[a]);
            request.setup.batch = cell.batch;
            request.setup.accumulation = cell.accumulation;
            const auto outcome = makePlan(request);
            ASSERT_TRUE(outcome);
            ASSERT_EQ(outcome->plan.has_value(), cell.fits);
            if (cell.fits) {
                EXPECT_DOUBLE_EQ(cell.samplesPerSecond, outcome->plan->samplesPerSecond());
                EXPECT_EQ(cell.peak, outcome->plan->peak);
            }
        }
    }
}

TEST(BatchSurface, EndsWithTheFirstBatchThatDoesNotFit)
{
    PlanRequest request = question(Bytes(std::int64_t{3} << 30));
    request.recompute = Recompute::Off;
    const auto surface = batchSurface(request, 1);
    ASSERT_TRUE(surface);
    ASSERT_GE(surface->batches.size(), 2U);
    ASSERT_LT(surface->batches.back(), 16);
    for (std::size_t b = 0; b + 1 < surface->batches.size(); ++b)
        EXPECT_TRUE(surface->at(b, 0).fits);
    EXPECT_FALSE(surface->at(surface->batches.size() - 1, 0).fits);
    EXPECT_GT(surface->at(surface->batches.size() - 1, 0).peak, request.budget);
}

TEST(BatchSurface, StoppingGivesWholeBatches)
{
    PlanRequest request = question(Bytes(std::int64_t{1} << 34));
    std::stop_source source;
    request.limits.stop = source.get_token();
    const auto surface = batchSurface(request, 2, [&](double share) {
        if (share > 0.25)
            source.request_stop();
    });
    ASSERT_TRUE(surface);
    EXPECT_EQ(surface->cells.size(), surface->batches.size() * 2);
    EXPECT_LT(surface->batches.size(), 5U);
}
