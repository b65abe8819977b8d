// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/bundle.hpp"
#include "core/export/run_check.hpp"
#include "core/export/run_log.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loadline {
namespace {

using testing::HasSubstr;

constexpr const char* kHead = R"({"loadline-run": 1, "ranks": 8, "reference": false, "devices": ["H100"], "versions": {"torch": "2.11.0"},)"
                              R"( "model": "gpt-tiny", "batch": 1, "accumulation": 1, "sequence": 256})"
                              "\n";

std::string row(int step, int rank, double seconds, const Traffic& traffic, std::int64_t peak)
{
    return fmt::format(R"({{"step": {}, "rank": {}, "loss": 2.5, "seconds": {}, "peak_allocated_bytes": {}, "peak_reserved_bytes": {}, )"
                       R"("all_gather_bytes": {}, "reduce_scatter_bytes": {}, "all_reduce_bytes": {}}})"
                       "\n",
                       step, rank, seconds, peak, peak, traffic.allGather.count(), traffic.reduceScatter.count(),
                       traffic.allReduce.count());
}

Plan planned()
{
    RequestOptions options;
    options.model = "gpt-tiny";
    options.batch = "1";
    options.runtime = "fsdp2";
    options.overhead = "0";
    auto resolved = resolveRequest(options);
    EXPECT_TRUE(resolved) << (resolved ? "" : resolved.error().message);
    auto outcome = makePlan(resolved->request);
    EXPECT_TRUE(outcome && outcome->plan);
    return *outcome->plan;
}

TEST(RunLog, ReadsItsLinesAndLeavesOutOthers)
{
    const auto log = readRunLog(std::string(kHead) + "some program's words\n" + row(1, 0, 0.5, {}, 10) + R"({"step": 2, "ra)", "'run'");
    ASSERT_TRUE(log) << log.error().message;
    EXPECT_EQ(log->ranks, 8);
    EXPECT_EQ(log->versions.at("torch"), "2.11.0");
    ASSERT_EQ(log->rows.size(), 1U);
    EXPECT_EQ(log->rows[0].seconds, Seconds(0.5));
    EXPECT_EQ(log->rows[0].peakAllocated, Bytes(10));
    EXPECT_FALSE(log->finished);
    ASSERT_EQ(log->notes.size(), 2U);
    EXPECT_THAT(log->notes[0], HasSubstr("2 lines"));
}

TEST(RunLog, WrongLinesAreNamed)
{
    const auto error = [](const std::string& text) {
        const auto log = readRunLog(text, "'run'");
        return log ? std::string() : log.error().message;
    };
    EXPECT_THAT(error("{}\n"), HasSubstr("no line begins a run"));
    EXPECT_THAT(error(R"({"loadline-run": 2})"), HasSubstr("newer"));
    EXPECT_THAT(error(std::string(kHead) + row(1, 8, 0.5, {}, 1)), HasSubstr("line 2: 'rank'"));
    EXPECT_THAT(error(std::string(kHead) + kHead), HasSubstr("second run"));
    EXPECT_THAT(error(std::string(kHead) + R"({"step": 1, "rank": 0, "loss": 1, "seconds": -1})"), HasSubstr("'seconds'"));
}

TEST(RunCheck, NamesTheRanksThatStandOut)
{
    const Plan plan = planned();
    const Traffic traffic = stepTraffic(plan.table, plan.choice);
    Traffic other = traffic;
    other.allReduce += Bytes(4);
    const std::int64_t peak = plan.peak.count();
    std::string text = kHead;
    for (int step = 1; step <= 3; ++step)
        for (int rank = 0; rank < 8; ++rank)
            text += row(step, rank, step == 1 ? 9.0 : (rank == 3 ? 0.6 : 0.5), rank == 5 ? other : traffic, rank == 6 ? peak * 2 : peak);
    const auto log = readRunLog(text + R"({"done": true, "steps": 3})", "'run'");
    ASSERT_TRUE(log) << log.error().message;
    const RunCheck check = checkRun(plan, *log);
    EXPECT_EQ(check.steps, 3);
    EXPECT_EQ(check.seconds, Seconds(0.5)); // the first step does not count
    EXPECT_FALSE(check.trafficEqual);
    for (const RankResult& rank : check.ranks)
        EXPECT_EQ(rank.outliers.empty(), rank.rank != 3 && rank.rank != 5 && rank.rank != 6) << rank.rank;
    EXPECT_THAT(check.ranks[3].outliers.at(0), HasSubstr("20.0 % longer"));
    EXPECT_THAT(check.ranks[6].outliers.at(0), HasSubstr("+100.0 %"));
}

TEST(RunCheck, SaysWhatKeepsTheTwoApart)
{
    const Plan plan = planned();
    std::string head = kHead;
    head.replace(head.find("\"ranks\": 8"), 10, "\"ranks\": 4");
    const auto log = readRunLog(head + row(1, 0, 0.5, {}, 1), "'run'");
    ASSERT_TRUE(log) << log.error().message;
    const RunCheck check = checkRun(plan, *log);
    EXPECT_THAT(check.notes, testing::Contains(HasSubstr("number of ranks is 4, and the plan's 8")));
}

} // namespace
} // namespace loadline
