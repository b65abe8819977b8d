// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loadline {
namespace {

using testing::HasSubstr;

RequestOptions small()
{
    RequestOptions options;
    options.model = "gpt-tiny";
    return options;
}

std::string problem(const RequestOptions& options)
{
    const auto resolved = resolveRequest(options);
    return resolved ? std::string() : resolved.error().message;
}

TEST(ResolveRequest, DefaultsAreTheSample)
{
    const auto resolved = resolveRequest(RequestOptions{});
    ASSERT_TRUE(resolved) << resolved.error().message;
    const auto& request = resolved->request;
    EXPECT_EQ(request.setup.model->parameterCount(), 8'030'261'248);
    EXPECT_EQ(request.setup.cluster.ranks(), 8);
    EXPECT_EQ(request.setup.sequence, request.setup.model->defaultSequence);
    EXPECT_EQ(request.budget.count(), static_cast<std::int64_t>(static_cast<double>(request.setup.cluster.device.memory.count()) * 0.9));
    EXPECT_EQ(request.setup.precision.name, "bf16-mixed");
    EXPECT_EQ(request.setup.optimizer.name, "adamw");
    EXPECT_EQ(request.setup.rules, loadlineRules());
    EXPECT_TRUE(request.chooseBatch);
    EXPECT_FALSE(request.chooseAccumulation);
    EXPECT_EQ(resolved->provenance.profile, "estimated");
}

TEST(ResolveRequest, NodesAndGpusReplaceTheClustersOwn)
{
    auto options = small();
    options.nodes = 3;
    options.gpusPerNode = 5;
    const auto resolved = resolveRequest(options);
    ASSERT_TRUE(resolved);
    EXPECT_EQ(resolved->request.setup.cluster.ranks(), 15);
}

TEST(ResolveRequest, BatchAccumulationAndGlobalBatch)
{
    auto options = small();
    options.batch = "2";
    options.globalBatch = 64;
    auto resolved = resolveRequest(options);
    ASSERT_TRUE(resolved) << resolved.error().message;
    EXPECT_EQ(resolved->request.setup.accumulation, 4) << "64 / (2 x 8)";
    EXPECT_FALSE(resolved->request.chooseAccumulation);

    options.batch = "auto";
    resolved = resolveRequest(options);
    ASSERT_TRUE(resolved);
    EXPECT_TRUE(resolved->request.chooseBatch);
    EXPECT_TRUE(resolved->request.chooseAccumulation);
    EXPECT_EQ(resolved->request.globalBatch, 64);

    options.globalBatch = 63;
    EXPECT_THAT(problem(options), HasSubstr("--global-batch"));
    options.globalBatch = 64;
    options.batch = "3";
    EXPECT_THAT(problem(options), HasSubstr("--global-batch"));
    options.batch = "2";
    options.accumulation = "2";
    EXPECT_THAT(problem(options), HasSubstr("--global-batch"));
    options.accumulation = "4";
    EXPECT_EQ(problem(options), "");
}

TEST(ResolveRequest, ErrorsNameTheFlag)
{
    const auto expect = [](auto change, const char* flag) {
        auto options = small();
        change(options);
        EXPECT_THAT(problem(options), HasSubstr(flag));
    };
    expect([](auto& o) { o.budget = "much"; }, "--budget");
    expect([](auto& o) { o.batch = "0"; }, "--batch");
    expect([](auto& o) { o.batch = "1.5"; }, "--batch");
    expect([](auto& o) { o.accumulation = "-1"; }, "--accumulation");
    expect([](auto& o) { o.sequence = 0; }, "--sequence");
    expect([](auto& o) { o.granularity = "1,2,x"; }, "--granularity");
    expect([](auto& o) { o.granularity = "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"; }, "--granularity");
    expect([](auto& o) { o.groups = ""; }, "--groups");
    expect([](auto& o) { o.dropout = "1.01"; }, "--dropout");
    expect([](auto& o) { o.overhead = "x"; }, "--overhead");
    expect([](auto& o) { o.memory = "x"; }, "--memory");
    expect([](auto& o) { o.time = "x"; }, "--time");
    expect([](auto& o) { o.unit = "x"; }, "--unit");
    expect([](auto& o) { o.attention = "x"; }, "--attention");
    expect([](auto& o) { o.runtime = "x"; }, "--runtime");
    expect([](auto& o) { o.recompute = "x"; }, "--recompute");
    expect([](auto& o) { o.pins = {"=dp"}; }, "--pin");
    expect([](auto& o) { o.pins = {"*="}; }, "--pin");
    expect([](auto& o) { o.work = -1; }, "--work");
    expect([](auto& o) { o.nodes = 1'000'001; }, "--nodes");
    expect([](auto& o) { o.nodes = 1'000'000; }, "ranks");
}

TEST(ResolvePins, TheLastEqualsSignParts)
{
    const auto pins = resolvePins({"a.*=zdp/4", "b=c=dp"});
    ASSERT_TRUE(pins);
    EXPECT_EQ((*pins)[0], (Pin{"a.*", "zdp/4"}));
    EXPECT_EQ((*pins)[1], (Pin{"b=c", "dp"}));
}

} // namespace
} // namespace loadline
