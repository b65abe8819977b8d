// SPDX-License-Identifier: GPL-3.0-or-later
// Exported bundles under PyTorch's own FSDPMemTracker (tests/data/truth/bundle_peak.csv, measured by tests/peers/measure_bundles.py)
// against rule set fsdp2: mixed strategies, slices, recomputation, experts sharded along dimension 1.
#include "core/base/text.hpp"
#include "core/cost/traffic.hpp"
#include "core/exchange/plan_document.hpp"
#include "core/export/bundle.hpp"
#include "tests/core/cost/truth_rows.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace loadline {
namespace {

/// The first layers of a measured model.
std::shared_ptr<const Model> modelOf(const truth::Row& row)
{
    auto model = loadModel(LOADLINE_SOURCE_DIR "/tests/data/models/" + row.text("config") + ".json");
    EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().message);
    auto shallow = std::make_shared<Model>(model.ok() ? *model : Model{});
    const auto layers = *row.number("layers");
    std::erase_if(shallow->operators, [layers](const Operator& op) { return op.place == Place::Layer && op.layer >= layers; });
    return shallow;
}

/// The question that measure_bundles.py asks loadline-plan; pins leave one answer.
Plan planOf(const truth::Row& row)
{
    RequestOptions options;
    options.nodes = row.number("nodes");
    options.gpusPerNode = row.number("gpus-per-node");
    options.sequence = row.number("sequence");
    options.batch = row.text("batch");
    options.precision = row.text("precision");
    options.unit = row.text("unit");
    options.recompute = row.text("recompute");
    options.groups = row.text("groups");
    options.granularity = row.text("granularity");
    options.pins = split(row.text("pins"), ';');
    options.budget = "100%";
    options.overhead = "0";
    options.dropout = "0";
    options.runtime = "fsdp2";
    auto resolved = resolveRequest(options, modelOf(row));
    EXPECT_TRUE(resolved.ok()) << (resolved.ok() ? "" : resolved.error().message);
    auto outcome = makePlan(resolved->request);
    EXPECT_TRUE(outcome.ok() && outcome->plan) << row.text("case");
    return *outcome->plan;
}

void printPeak(const Plan& plan)
{
    const auto timeline = playTimeline(plan.table, plan.choice);
    const TimelineEvent& event = timeline.events[timeline.peakEvent];
    fmt::print("      peak at phase {} of {}:", static_cast<int>(event.phase), plan.table.units[event.unit].name);
    for (const Bytes part : event.bytes)
        fmt::print(" {}", part.count());
    fmt::print("\n");
}

TEST(BundlePeak, EveryRowWithinTwoPercentAndEveryByteOnTheWire)
{
    const bool verbose = std::getenv("LOADLINE_VERBOSE") != nullptr;
    const auto rows = truth::rows("bundle_peak.csv");
    ASSERT_GE(rows.size(), 30U);
    std::vector<double> deviations;
    for (const truth::Row& row : rows) {
        const Plan plan = planOf(row);
        const auto measured = static_cast<double>(*row.number("peak_total"));
        const double deviation = static_cast<double>(plan.peak.count()) / measured - 1;
        deviations.push_back(std::abs(deviation));
        if (verbose) {
            fmt::print("{:24} {:>14} {:>14.0f} {:+.3f} %\n", row.text("case"), plan.peak.count(), measured, 100 * deviation);
            printPeak(plan);
        }
        EXPECT_LT(std::abs(deviation), 0.02) << row.text("case") << ": " << plan.peak.count() << " for " << measured;
        const Traffic traffic = stepTraffic(plan.table, plan.choice);
        EXPECT_EQ(traffic.allGather.count(), *row.number("all_gather_bytes")) << row.text("case");
        EXPECT_EQ(traffic.reduceScatter.count(), *row.number("reduce_scatter_bytes")) << row.text("case");
        EXPECT_EQ(traffic.allReduce.count(), *row.number("all_reduce_bytes")) << row.text("case");
    }
    std::sort(deviations.begin(), deviations.end());
    EXPECT_LT(deviations[deviations.size() / 2], 0.01);
}

} // namespace
} // namespace loadline
