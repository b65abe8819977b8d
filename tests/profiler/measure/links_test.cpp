// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/measure/links.hpp"

#include "profiler/measure/links_overlap.hpp"
#include "profiler/measure/links_timing.hpp"
#include "tests/profiler/device/processes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

using namespace loadline;
using testing::HasSubstr;

namespace {

LinksRequest request(std::int64_t most, double seconds)
{
    LinksRequest request;
    request.most = Bytes(most);
    request.limit = Seconds(seconds);
    return request;
}

/// Runs it on `ranks` processes and returns what rank 0 wrote, read as a profile.
Result<Profile> measured(int ranks, const LinksRequest& request)
{
    const auto file = std::filesystem::temp_directory_path() / ("loadline-links-" + std::to_string(getpid()));
    const auto statuses = inProcesses(ranks, std::chrono::seconds(60), [&](Communicator& world) {
        const auto device = openDevice("cpu", 0);
        const auto groups = linkGroups(request, ranks, ranks);
        std::ofstream out;
        if (world.rank() == 0) {
            out.open(file);
            out << profileLine(ProfileHeader{"CPU", "", "2026-12-01", {}, ranks});
        }
        LinkSink sink;
        sink.link = [&](const LinkRow& row) { out << profileLine(row); };
        sink.overlap = [&](const OverlapRow& row) { out << profileLine(row); };
        measureLinks(world, **device, request, *groups, sink);
        out.close();
        return 0;
    });
    EXPECT_EQ(statuses, std::vector<int>(static_cast<std::size_t>(ranks), 0));
    auto profile = loadProfile(file.string());
    std::filesystem::remove(file);
    return profile;
}

} // namespace

TEST(LinkGroups, AreThoseThatAPlanUses)
{
    const auto groups = linkGroups(request(1024, 1), 8, 4);
    ASSERT_TRUE(groups.ok());
    // Two nodes of four: gathers among neighbours, all-reduces across every (8 / size)-th rank.
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> perNode; // (size, stride)
    for (const auto& group : *groups)
        perNode[{group.size, group.stride}] = group.perNode;
    const std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> expected{
        {{2, 1}, 2}, {{2, 4}, 1}, {{4, 1}, 4}, {{4, 2}, 2}, {{8, 1}, 4}};
    EXPECT_EQ(perNode, expected);
    std::size_t curves = 0;
    for (const auto& group : *groups)
        curves += group.collectives.size();
    EXPECT_EQ(curves, 9U); // three collectives in three sizes
}

TEST(LinkGroups, WrongRequestsAreASentence)
{
    auto wrong = request(1024, 1);
    EXPECT_FALSE(linkGroups(wrong, 1, 1).ok());
    EXPECT_FALSE(linkGroups(wrong, 6, 4).ok());
    wrong.groups = {3};
    EXPECT_THAT(linkGroups(wrong, 4, 4).error().message, HasSubstr("groups of 3"));
    wrong.groups = {1};
    EXPECT_FALSE(linkGroups(wrong, 4, 4).ok());
    wrong.groups = {};
    wrong.least = 4_KiB;
    EXPECT_THAT(linkGroups(wrong, 4, 4).error().message, HasSubstr("'most'"));
}

TEST(LinkTiming, MiddleAndQuartiles)
{
    const auto middle = middleOf({5, 1, 2, 100, 3});
    EXPECT_DOUBLE_EQ(middle.median, 3);
    EXPECT_DOUBLE_EQ(middle.spread, 3);
    EXPECT_DOUBLE_EQ(middleOf({7}).median, 7);
    EXPECT_DOUBLE_EQ(middleOf({7}).spread, 0);
    EXPECT_EQ(wholeBytes(1024, 3), 1032);
    EXPECT_EQ(wholeBytes(1, 4), 16);
    EXPECT_EQ(wholeBytes(16, 4), 16);
}

TEST(LinkTiming, RanksAgree)
{
    runThreads(3, [](Communicator& world) {
        const auto device = openDevice("cpu", 0);
        Agreement agreement(world, **device);
        const double rank = world.rank();
        EXPECT_EQ(agreement.largest({rank, -rank}), (std::vector<double>{2, 0}));
        EXPECT_EQ(agreement.smallest(rank + 5), 5);
        EXPECT_EQ(agreement.mean(rank), 1);
    });
}

TEST(LinkOverlap, FollowsFromFourTimes)
{
    // Work of 10 takes 13 beside a transfer of 40, of which 10 were done when it ended: 13 seconds for 10.
    const auto factors = overlapOf({10, 40, 13, 43});
    EXPECT_DOUBLE_EQ(factors.compute, 1.3);
    EXPECT_DOUBLE_EQ(factors.transfer, 1.3);
    const auto free = overlapOf({10, 40, 10, 40});
    EXPECT_DOUBLE_EQ(free.compute, 1);
    EXPECT_DOUBLE_EQ(free.transfer, 1);
    // Nothing moved while the work ran.
    EXPECT_DOUBLE_EQ(overlapOf({10, 40, 10, 50}).transfer, 100);
    // Noise never gives a factor below 1.
    EXPECT_DOUBLE_EQ(overlapOf({10, 40, 9, 38}).compute, 1);
    EXPECT_DOUBLE_EQ(overlapOf({10, 40, 9, 38}).transfer, 1);
}

TEST(Links, EveryCurveIsMeasuredAndIsAProfile)
{
    const auto profile = measured(4, request(64 << 10, 60));
    ASSERT_TRUE(profile.ok()) << profile.error().message;
    for (const std::int64_t group : {2, 4}) {
        for (const auto collective : {Collective::AllGather, Collective::ReduceScatter, Collective::AllReduce}) {
            const auto curve = profile->linkCurve(collective, group, group);
            ASSERT_EQ(curve.size(), 7U) << collectiveName(collective) << ' ' << group; // 1 KiB to 64 KiB
            EXPECT_EQ(curve.front().bytes, Bytes(1024));
            EXPECT_EQ(curve.back().bytes, Bytes(64 << 10));
        }
    }
    EXPECT_EQ(profile->links().size(), 42U);
    ASSERT_EQ(profile->overlaps().size(), 3U);
    ASSERT_TRUE(profile->overlap().has_value());
}

TEST(Links, OddNumbersOfRanksHaveWholeShards)
{
    const auto profile = measured(3, request(2048, 60));
    ASSERT_TRUE(profile.ok()) << profile.error().message;
    EXPECT_EQ(profile->linkCurve(Collective::AllGather, 3, 3).front().bytes, Bytes(1032));
}

TEST(Links, StopWhenTimeIsUpAndKeepWhatWasMeasured)
{
    const auto none = measured(2, request(1 << 20, 0));
    ASSERT_TRUE(none.ok()) << none.error().message;
    EXPECT_TRUE(none->links().empty());
}

TEST(Links, ACancelledRankStopsAllOfThem)
{
    const auto start = inProcesses(2, std::chrono::seconds(60), [&](Communicator& world) {
        const auto device = openDevice("cpu", 0);
        const auto wanted = request(1 << 30, 3600);
        const auto groups = linkGroups(wanted, 2, 2);
        int rows = 0;
        LinkSink sink;
        sink.link = [&](const LinkRow&) { ++rows; };
        sink.cancelled = [&] { return world.rank() == 1 && ++rows > 3; }; // the one that is told no rows
        measureLinks(world, **device, wanted, *groups, sink);
        return world.rank() == 0 && rows != 9 ? 1 : 0; // three sizes of three collectives
    });
    EXPECT_EQ(start, std::vector<int>(2, 0));
}
