// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/footprint.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace loadline {
namespace {

Operator op(std::string name, Traits traits, std::vector<std::int64_t> shape = {}, bool trainable = true)
{
    Operator made;
    made.name = std::move(name);
    made.layer = 0;
    made.traits = traits;
    if (!shape.empty())
        made.parameters.push_back({made.name + ".weight", std::move(shape), trainable});
    return made;
}

/// norm -> linear -> attention-free MLP: enough to see who saves what.
Model mlp(bool linearsTrain = true)
{
    Model model;
    model.hidden = 8;
    model.operators = {op("norm", NormTraits{.norm = NormKind::Layer, .width = 8}, {8}),
                       op("up", LinearTraits{8, 32, false}, {32, 8}, linearsTrain), op("act", ActivationTraits{ActivationKind::Gelu, 32}),
                       op("down", LinearTraits{32, 8, false}, {8, 32}, linearsTrain)};
    return model;
}

AttentionTraits heads(std::int64_t count, std::int64_t kv, std::int64_t dim)
{
    AttentionTraits traits;
    traits.heads = count;
    traits.kvHeads = kv;
    traits.headDim = traits.valueDim = dim;
    return traits;
}

ActivationSettings settings(ComputeMode mode, std::int64_t batch = 2, std::int64_t sequence = 16)
{
    ActivationSettings made;
    made.batch = batch;
    made.sequence = sequence;
    made.compute = mode;
    return made;
}

TEST(Footprint, NormCountsItsInputStatisticsAndWhatItsReaderSaves)
{
    const auto prints = footprints(mlp(), settings(ComputeMode::Fp32));
    EXPECT_EQ(prints[0].saved, Bytes(2 * 16 * (8 * 4 + 8 + 8 * 4)));
    EXPECT_EQ(prints[1].saved, Bytes(0));
    EXPECT_EQ(prints[2].saved, Bytes(2 * 16 * 2 * 32 * 4));
    EXPECT_EQ(prints[3].saved, Bytes(0));
}

TEST(Footprint, FrozenLinearsSpareTheTensorsThatOnlyTheirWeightsGradientReads)
{
    const auto prints = footprints(mlp(false), settings(ComputeMode::Fp32));
    EXPECT_EQ(prints[0].saved, Bytes(2 * 16 * (8 * 4 + 8)));
    EXPECT_EQ(prints[2].saved, Bytes(2 * 16 * 32 * 4));
    EXPECT_DOUBLE_EQ(prints[1].backwardFlops, prints[1].forwardFlops);
    const auto trained = footprints(mlp(), settings(ComputeMode::Fp32));
    EXPECT_DOUBLE_EQ(trained[1].backwardFlops, 2 * trained[1].forwardFlops);
}

TEST(Footprint, NothingIsSavedBeforeTheFirstTrainableParameter)
{
    Model model = mlp();
    model.operators.front().parameters.front().trainable = false;
    const auto prints = footprints(model, settings(ComputeMode::Fp32));
    EXPECT_EQ(prints[0].saved, Bytes(2 * 16 * 8 * 4)) << "what the linear behind it reads stays";
    EXPECT_EQ(prints[0].backwardFlops, 0);
}

TEST(Footprint, AutocastKeepsWeightCopiesOnceForSharedWeights)
{
    Model model = mlp();
    Operator again = model.operators[1];
    again.name = "again";
    again.sharesWith = "up";
    again.parameters.clear();
    model.operators.push_back(again);
    const auto prints = footprints(model, settings(ComputeMode::AutocastBf16));
    EXPECT_EQ(prints[1].weightCasts, Bytes(2 * 8 * 32));
    EXPECT_EQ(prints[4].weightCasts, Bytes(0));
    EXPECT_EQ(footprints(model, settings(ComputeMode::Bf16))[1].weightCasts, Bytes(0));
}

TEST(Footprint, ANormsOutputCountsInThePlaceThatReadsItFirst)
{
    Model model;
    model.operators = {op("norm", NormTraits{.norm = NormKind::Layer, .width = 8}, {8}), op("head", LinearTraits{8, 100, false}, {100, 8})};
    model.operators[0].place = Place::FinalNorm;
    model.operators[1].place = Place::Head;
    model.operators[0].layer = model.operators[1].layer = -1;
    const auto saved = savedByPlace(model, footprints(model, settings(ComputeMode::Bf16)));
    EXPECT_EQ(saved.finalNorm, Bytes(2 * 16 * (8 * 2 + 8)));
    EXPECT_EQ(saved.head, Bytes(2 * 16 * 8 * 2));
    EXPECT_EQ(saved.total, saved.finalNorm + saved.head);
}

TEST(Footprint, KernelFollowsPrecisionMasksAndHeads)
{
    const auto chosen = [](const AttentionTraits& traits, ComputeMode mode) { return chosenAttention(traits, settings(mode)); };
    EXPECT_EQ(chosen(heads(4, 4, 64), ComputeMode::Bf16), AttentionKind::Flash);
    EXPECT_EQ(chosen(heads(4, 2, 64), ComputeMode::AutocastBf16), AttentionKind::Flash);
    EXPECT_EQ(chosen(heads(4, 4, 64), ComputeMode::Fp32), AttentionKind::Efficient);
    EXPECT_EQ(chosen(heads(4, 2, 64), ComputeMode::Fp32), AttentionKind::Math);
    EXPECT_EQ(chosen(heads(4, 4, 264), ComputeMode::Bf16), AttentionKind::Efficient);
    AttentionTraits windowed = heads(4, 4, 64);
    windowed.window = 16;
    EXPECT_EQ(chosen(windowed, ComputeMode::Bf16), AttentionKind::Flash) << "the window reaches over the whole sequence";
    windowed.window = 8;
    EXPECT_EQ(chosen(windowed, ComputeMode::Bf16), AttentionKind::Efficient);
    AttentionTraits without = heads(4, 4, 64);
    without.hasSdpa = false;
    EXPECT_EQ(chosen(without, ComputeMode::Bf16), AttentionKind::Eager);
    ActivationSettings forced = settings(ComputeMode::Bf16);
    forced.attention = AttentionKind::Math;
    EXPECT_EQ(chosenAttention(without, forced), AttentionKind::Math);
}

/// Attention behind something to train: nothing before the first trainable parameter saves anything.
Model attending(const AttentionTraits& traits)
{
    Model model;
    model.operators = {op("projection", LinearTraits{8, 8, true}, {8, 8}), op("attention", traits)};
    return model;
}

TEST(Footprint, ActiveWindowKeepsAMaskInEachLayer)
{
    AttentionTraits traits = heads(4, 4, 64);
    ActivationSettings forced = settings(ComputeMode::Bf16);
    forced.attention = AttentionKind::Efficient;
    const auto full = footprints(attending(traits), forced)[1].saved;
    traits.window = 8;
    EXPECT_EQ(footprints(attending(traits), forced)[1].saved - full, Bytes(2 * 16 * 16 * 2));
}

TEST(Footprint, ExplicitScoresGrowWithTheSquareOfTheSequence)
{
    const Model model = attending(heads(4, 4, 64));
    ActivationSettings eager = settings(ComputeMode::Fp32, 1, 1024);
    eager.attention = AttentionKind::Eager;
    const auto once = footprints(model, eager)[1];
    eager.sequence = 2048;
    const auto twice = footprints(model, eager)[1];
    EXPECT_EQ(twice.saved - once.saved * 2, Bytes(4LL * 4 * (2048LL * 2048 - 2LL * 1024 * 1024)));
    EXPECT_GT(twice.forwardWorkspace, once.forwardWorkspace * 3);
}

TEST(Footprint, DropoutOverridesWhatTheModelSays)
{
    Model model;
    model.operators = {op("first", LinearTraits{8, 8, true}, {8, 8}), op("dropout", DropoutTraits{8, 0.1})};
    ActivationSettings given = settings(ComputeMode::Fp32);
    EXPECT_EQ(footprints(model, given)[1].saved, Bytes(2 * 16 * 8)) << "CUDA's mask takes a byte";
    given.dropout = 0;
    EXPECT_EQ(footprints(model, given)[1].saved, Bytes(0));
}

TEST(Footprint, HandDescribedOperatorsEvaluateTheirPolynomials)
{
    Model model;
    model.operators = {op("custom", CustomTraits{10, 2, 4, 100, 3}, {8, 8})};
    const auto print = footprints(model, settings(ComputeMode::Fp32, 3, 5))[0];
    EXPECT_EQ(print.saved, Bytes(10 * 15 + 2 * 75));
    EXPECT_EQ(print.input, Bytes(4 * 15));
    EXPECT_DOUBLE_EQ(print.forwardFlops, 100 * 15 + 3 * 75);
    EXPECT_DOUBLE_EQ(print.backwardFlops, 2 * print.forwardFlops);
}

TEST(Footprint, AbsurdSizesSaturateAndNeverOverflow)
{
    Model model = mlp();
    model.operators.push_back(op("attention", heads(1 << 20, 1 << 20, 1 << 20)));
    model.operators.push_back(op("loss", LossTraits{.classes = std::int64_t{1} << 40}));
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t size : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1000000000}, kMost}) {
        for (const auto mode : {ComputeMode::Fp32, ComputeMode::Bf16, ComputeMode::Fp16, ComputeMode::AutocastBf16}) {
            ActivationSettings absurd = settings(mode, size, size);
            for (const auto kind : {AttentionKind::Auto, AttentionKind::Eager}) {
                absurd.attention = kind;
                const auto prints = footprints(model, absurd);
                const auto saved = savedByPlace(model, prints);
                EXPECT_GE(saved.total, Bytes(0));
                EXPECT_LE(saved.total, Bytes(kMostBytes));
                for (const Footprint& print : prints) {
                    EXPECT_GE(print.saved, Bytes(0));
                    EXPECT_LE(print.backwardWorkspace, Bytes(kMostBytes));
                }
            }
        }
    }
}

TEST(Footprint, AModelWithoutOperatorsHasNone)
{
    EXPECT_TRUE(footprints(Model{}, settings(ComputeMode::Bf16)).empty());
    EXPECT_EQ(savedByPlace(Model{}, {}).total, Bytes(0));
}

} // namespace
} // namespace loadline
