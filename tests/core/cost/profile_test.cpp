// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/profile.hpp"

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/cluster/library.hpp"
#include "core/cost/communication.hpp"
#include "core/cost/compute_time.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace loadline {
namespace {

constexpr std::string_view kHeader = R"({"format": "loadline.profile/1", "device": "NVIDIA H100 80GB HBM3", "driver": "550.54",)"
                                     R"( "date": "2026-12-01", "ranks": 8, "versions": {"torch": "2.11.0", "nccl": "2.28.9"}})"
                                     "\n";

Operator linear(std::int64_t in, std::int64_t out)
{
    Operator op;
    op.name = "layer.0.fc";
    op.traits = LinearTraits{in, out};
    op.parameters = {{"layer.0.fc.weight", {out, in}, true}};
    return op;
}

Operator attention()
{
    Operator op;
    AttentionTraits traits;
    traits.heads = traits.kvHeads = 8;
    traits.headDim = traits.valueDim = 64;
    op.traits = traits;
    return op;
}

OperatorRow row(const Operator& op, std::int64_t batch, std::int64_t sequence, double forward, double backward)
{
    OperatorRow r;
    r.key = operatorKey(op);
    r.precision = ComputeMode::Bf16;
    r.batch = batch;
    r.sequence = sequence;
    r.forward = Seconds(forward);
    r.backward = Seconds(backward);
    return r;
}

ActivationSettings settings(std::int64_t batch, std::int64_t sequence)
{
    ActivationSettings s;
    s.batch = batch;
    s.sequence = sequence;
    s.compute = ComputeMode::Bf16;
    return s;
}

Profile profileOf(std::vector<OperatorRow> rows, std::vector<LinkRow> links = {})
{
    return {{"test", "", "2026-12-01", {}, 1}, std::move(rows), std::move(links)};
}

TEST(OperatorKey, TellsSizesApartButNotNamesOrWhatIsSaved)
{
    EXPECT_EQ(operatorKey(linear(4096, 14336)), "linear:in=4096,out=14336");
    auto sibling = linear(4096, 14336);
    sibling.name = "layer.7.fc";
    std::get<LinearTraits>(sibling.traits).savesInput = false;
    EXPECT_EQ(operatorKey(sibling), operatorKey(linear(4096, 14336)));
    EXPECT_NE(operatorKey(linear(14336, 4096)), operatorKey(linear(4096, 14336)));
    auto windowed = attention();
    std::get<AttentionTraits>(windowed.traits).window = 128;
    EXPECT_NE(operatorKey(windowed), operatorKey(attention()));
    Operator custom;
    custom.traits = CustomTraits{};
    EXPECT_EQ(operatorKey(custom), "");
}

TEST(ProfileTime, IsTheMeasurementAtAMeasuredSize)
{
    const auto op = linear(64, 64);
    const auto profile = profileOf({row(op, 1, 128, 0.001, 0.002), row(op, 4, 128, 0.003, 0.007)});
    const auto time = profile.time(op, settings(4, 128), 1);
    ASSERT_TRUE(time);
    EXPECT_EQ(time->forward, Seconds(0.003));
    EXPECT_EQ(time->backward, Seconds(0.007));
    EXPECT_FALSE(time->extrapolated);
    // A linear works on tokens: 2 x 256 is the same work as 4 x 128.
    EXPECT_EQ(profile.time(op, settings(2, 256), 1)->forward, Seconds(0.003));
}

TEST(ProfileTime, InterpolatesBetweenAndScalesBeyond)
{
    const auto op = linear(64, 64);
    const auto profile = profileOf({row(op, 4, 128, 0.003, 0.007), row(op, 1, 128, 0.001, 0.002)});
    const auto between = profile.time(op, settings(2, 128), 1);
    ASSERT_TRUE(between);
    EXPECT_DOUBLE_EQ(between->forward.value(), 0.001 + 0.002 / 3);
    EXPECT_DOUBLE_EQ(between->backward.value(), 0.002 + 0.005 / 3);
    EXPECT_FALSE(between->extrapolated);
    const auto beyond = profile.time(op, settings(8, 128), 1);
    EXPECT_DOUBLE_EQ(beyond->forward.value(), 0.006);
    EXPECT_TRUE(beyond->extrapolated);
    const auto below = profile.time(op, settings(1, 64), 1);
    EXPECT_DOUBLE_EQ(below->forward.value(), 0.0005);
    EXPECT_TRUE(below->extrapolated);
}

TEST(ProfileTime, TakesTheMedianOfRepeatedRows)
{
    const auto op = linear(64, 64);
    const auto profile = profileOf({row(op, 1, 128, 0.9, 1), row(op, 1, 128, 0.001, 2), row(op, 1, 128, 0.002, 3)});
    EXPECT_EQ(profile.time(op, settings(1, 128), 1)->forward, Seconds(0.002));
}

TEST(ProfileTime, KnowsNothingOfOtherOperatorsPrecisionsAndSlices)
{
    const auto op = linear(64, 64);
    const auto profile = profileOf({row(op, 1, 128, 0.001, 0.002)});
    EXPECT_FALSE(profile.time(linear(64, 65), settings(1, 128), 1));
    EXPECT_FALSE(profile.time(op, settings(1, 128), 2));
    auto fp32 = settings(1, 128);
    fp32.compute = ComputeMode::Fp32;
    EXPECT_FALSE(profile.time(op, fp32, 1));
}

TEST(ProfileTime, OutOfMemoryMakesLargerSizesExtrapolated)
{
    const auto op = linear(64, 64);
    auto failed = row(op, 4, 128, 0, 0);
    failed.outOfMemory = true;
    const auto profile = profileOf({row(op, 2, 128, 0.001, 0.002), failed});
    EXPECT_FALSE(profile.time(op, settings(2, 128), 1)->extrapolated);
    EXPECT_TRUE(profile.time(op, settings(4, 128), 1)->extrapolated);
    EXPECT_DOUBLE_EQ(profile.time(op, settings(4, 128), 1)->forward.value(), 0.002);
    EXPECT_FALSE(profileOf({failed}).time(op, settings(4, 128), 1));
}

TEST(ProfileTime, AttentionNeedsItsKernelAndItsSequence)
{
    const auto op = attention();
    auto flash = row(op, 2, 128, 0.001, 0.002);
    flash.attention = "flash";
    const auto profile = profileOf({flash});
    EXPECT_EQ(profile.time(op, settings(2, 128), 1)->forward, Seconds(0.001)); // auto takes flash in bf16
    auto eager = settings(2, 128);
    eager.attention = AttentionKind::Eager;
    EXPECT_FALSE(profile.time(op, eager, 1));
    const auto longer = profile.time(op, settings(2, 256), 1);
    EXPECT_DOUBLE_EQ(longer->forward.value(), 0.004); // twice the tokens see twice the keys
    EXPECT_TRUE(longer->extrapolated);
}

TEST(ProfileTime, RecomputationIsTheForwardUnlessItWasMeasured)
{
    const auto op = linear(64, 64);
    auto measured = row(op, 1, 128, 0.001, 0.002);
    EXPECT_EQ(profileOf({measured}).time(op, settings(1, 128), 1)->recompute, Seconds(0.001));
    measured.recompute = Seconds(0.0015);
    measured.accumulate = Seconds(0.0003);
    EXPECT_EQ(profileOf({measured}).time(op, settings(1, 128), 1)->recompute, Seconds(0.0015));
    // Four times the tokens compute four times as long; the gradient keeps its size.
    EXPECT_DOUBLE_EQ(profileOf({measured}).time(op, settings(4, 128), 1)->recompute.value(), 0.006);
    EXPECT_DOUBLE_EQ(profileOf({measured}).time(op, settings(4, 128), 1)->accumulate.value(), 0.0003);
}

TEST(ProfileOptimizer, IsLinearBetweenSizesAndFromNothing)
{
    const Profile profile({}, {}, {}, {},
                          {{"adamw", 1000, Seconds(1e-5), {}}, {"adamw", 3000, Seconds(2e-5), {}}, {"sgd", 10, Seconds(1), {}}});
    EXPECT_EQ(profile.optimizer("adamw", 0), Seconds(0));
    EXPECT_DOUBLE_EQ(profile.optimizer("adamw", 500)->value(), 0.5e-5);
    EXPECT_DOUBLE_EQ(profile.optimizer("adamw", 1000)->value(), 1e-5);
    EXPECT_DOUBLE_EQ(profile.optimizer("adamw", 2000)->value(), 1.5e-5);
    EXPECT_DOUBLE_EQ(profile.optimizer("adamw", 6000)->value(), 4e-5);
    EXPECT_FALSE(profile.optimizer("lion", 1000));
    const auto again = readProfile(writeProfile(Profile({"d", "", "2026-12-01", {}, 1}, {}, {}, {}, profile.steps())), "again");
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(again->steps(), profile.steps());
}

TEST(ProfileLinks, CurveIsMonotoneThroughNoiseAndExactWithoutIt)
{
    const auto link = [](std::int64_t bytes, double seconds) {
        return LinkRow{Collective::AllGather, 8, 8, Bytes(bytes), Seconds(seconds)};
    };
    const auto clean = profileOf({}, {link(1000, 1e-5), link(2000, 3e-5), link(4000, 4e-5)});
    const auto at = [](const Profile& p, std::int64_t bytes) { return p.collective(Collective::AllGather, 8, 8, Bytes(bytes))->value(); };
    EXPECT_DOUBLE_EQ(at(clean, 2000), 3e-5);
    EXPECT_DOUBLE_EQ(at(clean, 1500), 2e-5);
    EXPECT_DOUBLE_EQ(at(clean, 1), 1e-5);
    EXPECT_DOUBLE_EQ(at(clean, 8000), 8e-5);
    EXPECT_DOUBLE_EQ(at(clean, 0), 0);
    EXPECT_FALSE(clean.collective(Collective::AllReduce, 8, 8, Bytes(2000)));
    EXPECT_FALSE(clean.collective(Collective::AllGather, 8, 4, Bytes(2000)));

    std::mt19937 random(3);
    std::vector<LinkRow> noisy;
    for (std::int64_t bytes = 1024; bytes < (1LL << 30); bytes *= 2)
        noisy.push_back(link(bytes, (1e-5 + static_cast<double>(bytes) * 1e-10) * std::uniform_real_distribution<double>(0.3, 3)(random)));
    const auto profile = profileOf({}, noisy);
    double before = 0;
    for (std::int64_t bytes = 1; bytes < (1LL << 33); bytes += 1 + bytes / 3) {
        ASSERT_GE(at(profile, bytes), before) << bytes;
        before = at(profile, bytes);
    }
}

TEST(ProfileLinks, ReplaceTheFormulaWhereTheGroupWasMeasured)
{
    auto cluster = *loadCluster("8xH100-80");
    cluster.nodes = 2;
    const auto profile =
        profileOf({}, {{Collective::AllGather, 8, 8, 1_MiB, Seconds(0.5)}, {Collective::AllReduce, 2, 1, 1_MiB, Seconds(0.25)}});
    EXPECT_EQ(allGather(cluster, 1_MiB, 8, &profile), Seconds(0.5));
    EXPECT_EQ(allReduce(cluster, 1_MiB, 8, &profile), Seconds(0.25));
    EXPECT_EQ(allGather(cluster, 1_MiB, 16, &profile), allGather(cluster, 1_MiB, 16));
    EXPECT_EQ(reduceScatter(cluster, 1_MiB, 8, &profile), reduceScatter(cluster, 1_MiB, 8));
    EXPECT_EQ(allGather(cluster, 1_MiB, 1, &profile), Seconds(0));
}

TEST(ProfileFormat, ReadsWhatThePageShows)
{
    const auto text =
        std::string(kHeader) +
        R"({"row": "operator", "operator": "linear:in=64,out=64", "precision": "bf16", "batch": 1, "sequence": 128,)"
        R"( "forward_seconds": 0.001, "backward_seconds": 0.002, "saved": "16KiB"})"
        "\n\n"
        R"({"row": "operator", "operator": "linear:in=64,out=64", "precision": "bf16", "batch": 9, "sequence": 128, "out_of_memory": true})"
        "\r\n"
        R"({"row": "link", "collective": "all_gather", "group": 8, "per_node": 8, "bytes": 1048576, "seconds": 2e-5})";
    const auto profile = readProfile(text, "p.jsonl");
    ASSERT_TRUE(profile.ok()) << profile.error().message;
    EXPECT_EQ(profile->operators().size(), 2U);
    EXPECT_EQ(profile->operators()[0].saved, 16_KiB);
    EXPECT_TRUE(profile->operators()[1].outOfMemory);
    EXPECT_EQ(profile->links().size(), 1U);
    EXPECT_EQ(profile->provenance(), "NVIDIA H100 80GB HBM3, driver 550.54, torch 2.11.0, nccl 2.28.9, 8 ranks, measured 2026-12-01");
    const auto again = readProfile(writeProfile(*profile), "again");
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(*again, *profile);
}

TEST(ProfileFormat, ThePagesOwnLinesAreAProfile)
{
    const auto page = readFile(LOADLINE_SOURCE_DIR "/docs/profile-format.md");
    ASSERT_TRUE(page.ok());
    std::string lines;
    for (const auto& line : split(*page, '\n')) {
        if (line.starts_with('{'))
            lines += line + "\n";
    }
    const auto profile = readProfile(lines, "docs/profile-format.md");
    ASSERT_TRUE(profile.ok()) << profile.error().message;
    EXPECT_EQ(profile->operators().size(), 2U);
    EXPECT_EQ(profile->operators()[0].key, operatorKey(linear(4096, 14336)));
    EXPECT_EQ(profile->links().size(), 1U);
}

TEST(ProfileFormat, FaultsNameLineAndKey)
{
    const std::string good =
        R"({"row":"operator","operator":"k","precision":"bf16","batch":1,"sequence":8,"forward_seconds":1,"backward_seconds":1})";
    const std::vector<std::pair<std::string, std::string>> bad = {
        {"{", "line 2"},
        {R"([1])", "line 2"},
        {R"({"row":"thing"})", "'row'"},
        {R"({"operator":"k"})", "'row'"},
        {R"({"row":"operator","operator":"k","precision":"bf17","batch":1,"sequence":8,"forward_seconds":1,"backward_seconds":1})",
         "'precision'"},
        {R"({"row":"operator","operator":"k","precision":"bf16","batch":0,"sequence":8,"forward_seconds":1,"backward_seconds":1})",
         "'batch'"},
        {R"({"row":"operator","operator":"k","precision":"bf16","batch":1,"sequence":8,"forward_seconds":-1,"backward_seconds":1})",
         "'forward_seconds'"},
        {R"({"row":"operator","operator":"k","precision":"bf16","batch":1,"sequence":8,"forward_seconds":1e99,"backward_seconds":1})",
         "'forward_seconds'"},
        {R"({"row":"operator","operator":"k","precision":"bf16","batch":1,"sequence":8,"forward_seconds":NaN,"backward_seconds":1})",
         "line 2"},
        {R"({"row":"operator","operator":"k","precision":"bf16","batch":1,"sequence":8,"forward_seconds":1})", "'backward_seconds'"},
        {R"({"row":"operator","operator":"k","precision":"bf16","batch":1,"batch":2,"sequence":8,"forward_seconds":1,"backward_seconds":1})",
         "'batch'"},
        {R"({"row":"operator","operator":"k","precision":"bf16","attention":"fast","batch":1,"sequence":8,"forward_seconds":1,"backward_seconds":1})",
         "'attention'"},
        {R"({"row":"operator","operator":"k","precision":"bf16","batch":1,"sequence":8,"slices":0,"forward_seconds":1,"backward_seconds":1})",
         "'slices'"},
        {R"({"row":"operator","operator":"k","precision":"bf16","batch":1,"sequence":8,"out_of_memory":true,"forward_seconds":1})",
         "'forward_seconds'"},
        {R"({"row":"link","collective":"all_gather","group":8,"per_node":9,"bytes":1,"seconds":1})", "'per_node'"},
        {R"({"row":"link","collective":"gather","group":8,"per_node":8,"bytes":1,"seconds":1})", "'collective'"},
        {R"({"row":"link","collective":"all_gather","group":8,"per_node":8,"bytes":0,"seconds":1})", "'bytes'"},
        {R"({"row":"link","collective":"all_gather","group":8,"per_node":8,"bytes":1,"seconds":0})", "'seconds'"},
    };
    ASSERT_TRUE(readProfile(std::string(kHeader) + good, "p.jsonl").ok());
    for (const auto& [line, named] : bad) {
        const auto profile = readProfile(std::string(kHeader) + line + "\n" + good, "p.jsonl");
        ASSERT_FALSE(profile.ok()) << line;
        EXPECT_NE(profile.error().message.find("p.jsonl, line 2"), std::string::npos) << profile.error().message;
        EXPECT_NE(profile.error().message.find(named), std::string::npos) << profile.error().message;
        EXPECT_EQ(profile.error().message.find("line 1"), std::string::npos) << profile.error().message;
    }
}

TEST(ProfileFormat, RefusesForeignNewerAndEmptyFiles)
{
    for (const std::string_view text : {"", "\n\n", "{}", "[]", "null", R"({"format":"loadline.plan/1"})", "\xff\xfe"})
        EXPECT_FALSE(readProfile(text, "p.jsonl").ok()) << text;
    const auto newer = readProfile(R"({"format":"loadline.profile/2","device":"x","date":"2030-01-01"})", "p.jsonl");
    ASSERT_FALSE(newer.ok());
    EXPECT_EQ(newer.error().code, ErrorCode::Unsupported);
    EXPECT_NE(newer.error().message.find("newer"), std::string::npos);
    EXPECT_FALSE(loadProfile("/nonexistent/p.jsonl").ok());
}

TEST(ProfileFormat, SurvivesAnyFlippedByteAndAnyCut)
{
    const auto op = linear(64, 64);
    const auto text = writeProfile(profileOf({row(op, 1, 128, 0.001, 0.002)}, {{Collective::AllReduce, 2, 1, 1_MiB, Seconds(0.25)}}));
    std::mt19937 random(9);
    for (std::size_t i = 0; i < text.size(); ++i) {
        (void)readProfile(std::string_view(text).substr(0, i), "cut");
        auto changed = text;
        changed[i] = static_cast<char>(random());
        const auto profile = readProfile(changed, "flipped");
        EXPECT_TRUE(profile.ok() || !profile.error().message.empty());
    }
}

} // namespace
} // namespace loadline
