// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/link_fit.hpp"

#include "core/cost/communication.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

using namespace loadline;

namespace {

std::vector<LinkPoint> curve(const std::function<double(double)>& seconds, int from = 10, int to = 30)
{
    std::vector<LinkPoint> points;
    for (int power = from; power <= to; ++power)
        points.push_back({Bytes(std::int64_t{1} << power), Seconds(seconds(std::pow(2.0, power)))});
    return points;
}

} // namespace

TEST(LinkFit, FindsTheLawThatMadeTheCurve)
{
    const auto fit = fitLink(curve([](double bytes) { return 20e-6 + bytes / 5e9; }));
    ASSERT_EQ(fit.regimes.size(), 1U);
    EXPECT_NEAR(fit.regimes[0].latency.value(), 20e-6, 1e-10);
    EXPECT_NEAR(1 / fit.regimes[0].secondsPerByte, 5e9, 1e3);
    EXPECT_LT(fit.worst, 1e-6);
    EXPECT_EQ(fit.residuals.size(), 21U);
    EXPECT_NEAR(fit.at(Bytes(3'000'000)).value(), 20e-6 + 3e6 / 5e9, 1e-9);
    EXPECT_NEAR(fit.at(Bytes(std::int64_t{1} << 31)).value(), 20e-6 + std::pow(2.0, 31) / 5e9, 1e-5);
}

TEST(LinkFit, FindsTheKinkBetweenTwoProtocols)
{
    const auto fit = fitLink(curve([](double bytes) { return bytes <= 1 << 18 ? 10e-6 + bytes / 1e9 : 200e-6 + bytes / 8e9; }));
    ASSERT_EQ(fit.regimes.size(), 2U);
    EXPECT_EQ(fit.regimes[0].to, Bytes(1 << 18));
    EXPECT_EQ(fit.regimes[1].from, Bytes(1 << 19));
    EXPECT_NEAR(fit.regimes[0].latency.value(), 10e-6, 1e-9);
    EXPECT_NEAR(1 / fit.regimes[1].secondsPerByte, 8e9, 1e4);
}

TEST(LinkFit, NoiseMakesNoRegimes)
{
    std::mt19937 random(7); // NOLINT: the same noise each time
    std::normal_distribution<double> noise(0, 0.05);
    const auto fit = fitLink(curve([&](double bytes) { return (30e-6 + bytes / 2e9) * std::exp(noise(random)); }));
    EXPECT_EQ(fit.regimes.size(), 1U);
    EXPECT_NEAR(1 / fit.regimes[0].secondsPerByte, 2e9, 2e8);
    EXPECT_GT(fit.rms, 0.02);
    EXPECT_LT(fit.rms, 0.1);
}

TEST(LinkFit, NeverFallsAsBytesGrow)
{
    // The second protocol starts faster than the first one ends.
    const auto fit = fitLink(curve([](double bytes) { return bytes <= 1 << 20 ? 10e-6 + bytes / 1e8 : bytes / 8e9; }));
    ASSERT_EQ(fit.regimes.size(), 2U);
    double last = 0;
    for (double bytes = 512; bytes < 4e9; bytes *= 1.03) {
        const double seconds = fit.at(Bytes(static_cast<std::int64_t>(bytes))).value();
        EXPECT_GE(seconds, last) << bytes;
        last = seconds;
    }
}

TEST(LinkFit, FewPointsMakeOneLaw)
{
    EXPECT_TRUE(fitLink({}).regimes.empty());
    const auto one = fitLink({{Bytes(1024), Seconds(1e-5)}});
    ASSERT_EQ(one.regimes.size(), 1U);
    EXPECT_NEAR(one.at(Bytes(1024)).value(), 1e-5, 1e-12);
    const auto falling = fitLink({{Bytes(1024), Seconds(2e-5)}, {Bytes(2048), Seconds(1e-5)}});
    EXPECT_GE(falling.regimes[0].latency.value(), 0);
    EXPECT_GE(falling.regimes[0].secondsPerByte, 0);
}

TEST(LinkFit, BandwidthsAreThoseOfNcclTests)
{
    EXPECT_DOUBLE_EQ(algorithmBandwidth(Bytes(1'000'000), Seconds(1e-3)), 1e9);
    EXPECT_DOUBLE_EQ(busBandwidth(Collective::AllReduce, 4, Bytes(1'000'000), Seconds(1e-3)), 1.5e9);
    EXPECT_DOUBLE_EQ(busBandwidth(Collective::AllGather, 4, Bytes(1'000'000), Seconds(1e-3)), 0.75e9);
    EXPECT_DOUBLE_EQ(busBandwidth(Collective::ReduceScatter, 8, Bytes(1'000'000), Seconds(1e-3)), 0.875e9);
}

TEST(Overlap, MeasuredFactorsReplaceTheClusters)
{
    Cluster cluster;
    cluster.overlapCompute = 1.1;
    cluster.overlapTransfer = 1.2;
    EXPECT_EQ(overlapFactors(cluster), (OverlapFactors{1.1, 1.2}));
    const Profile none({"device", "", "2026-12-01", {}, 4}, {}, {});
    EXPECT_EQ(overlapFactors(cluster, &none), (OverlapFactors{1.1, 1.2}));
    const OverlapRow row{Collective::AllGather, 4, 4, Bytes(1024), 1.3, 1.5};
    const OverlapRow slow{Collective::AllReduce, 4, 4, Bytes(1024), 1.5, 1.9};
    const OverlapRow middle{Collective::ReduceScatter, 4, 4, Bytes(1024), 1.4, 1.6};
    const Profile profile({"device", "", "2026-12-01", {}, 4}, {}, {}, {row, slow, middle});
    EXPECT_EQ(overlapFactors(cluster, &profile), (OverlapFactors{1.4, 1.6}));
}

TEST(Overlap, IsNeverSlowerThanTakingTurns)
{
    const OverlapRow row{Collective::AllGather, 4, 4, Bytes(1024), 3, 9};
    const Profile profile({"device", "", "2026-12-01", {}, 4}, {}, {}, {row});
    const auto factors = profile.overlap().value();
    EXPECT_GE(1 / factors.compute + 1 / factors.transfer, 1);
    EXPECT_NEAR(1 / factors.compute + 1 / factors.transfer, 1, 1e-9);
    EXPECT_NEAR((factors.transfer - 1) / (factors.compute - 1), 4, 1e-9);
}

TEST(Overlap, SurvivesTheFile)
{
    const LinkRow link{Collective::AllReduce, 2, 2, Bytes(4096), Seconds(1e-4), Seconds(2e-5)};
    const OverlapRow row{Collective::AllGather, 4, 2, Bytes(1 << 20), 1.25, 1.5};
    const Profile profile({"device", "", "2026-12-01", {}, 4}, {}, {link}, {row});
    const auto again = readProfile(writeProfile(profile), "test");
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(*again, profile);
    const auto header = profileLine(profile.header());
    EXPECT_FALSE(
        readProfile(header + R"({"row":"overlap","collective":"all_gather","group":2,"per_node":2,"bytes":1,"compute":0.5,"transfer":1})",
                    "test")
            .ok());
    EXPECT_FALSE(
        readProfile(header + R"({"row":"overlap","collective":"all_gather","group":2,"per_node":4,"bytes":1,"compute":1,"transfer":1})",
                    "test")
            .ok());
}
