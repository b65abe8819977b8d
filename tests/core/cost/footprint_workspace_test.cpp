// SPDX-License-Identifier: GPL-3.0-or-later
// Workspaces of head and loss against the live bytes that PyTorch had on one device, and what frozen parameters spare.
#include "core/model/lora.hpp"
#include "truth_rows.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace loadline {
namespace {

/// Index of the only operator in this place; the last if there are several.
std::size_t at(const Model& model, Place place)
{
    std::size_t found = 0;
    for (std::size_t i = 0; i < model.operators.size(); ++i)
        found = model.operators[i].place == place ? i : found;
    return found;
}

/// Bytes of the gradient that the head's backward leaves: its own or its tied weight, and a bias.
double headGradient(const Model& model, std::size_t head, ComputeMode mode)
{
    const auto& traits = std::get<LinearTraits>(model.operators[head].traits);
    double elements = static_cast<double>(traits.in) * static_cast<double>(traits.out);
    for (const Parameter& parameter : model.operators[head].parameters) {
        if (parameter.shape.size() == 1)
            elements += static_cast<double>(parameter.count());
    }
    return elements * (mode == ComputeMode::Fp32 ? 4 : 2);
}

void expectNear(double ours, const truth::Row& row, const std::string& column)
{
    const auto measured = static_cast<double>(*row.number(column));
    EXPECT_NEAR(ours, measured, 0.01 * measured)
        << row.text("file") << " " << row.text("dtype_mode") << " " << row.text("attention") << " " << column;
}

TEST(FootprintWorkspaces, LossAndHeadPeakWherePyTorchsDo)
{
    std::size_t compared = 0;
    for (const truth::Row& row : truth::rows("activations.csv")) {
        const auto end = row.number("live_end_fwd");
        if (row.text("device") != "cuda(fake)" || !end || row.text("model_type") == "mamba" || row.text("model_type") == "nemotron_h")
            continue;
        const auto& model = truth::model(row);
        ASSERT_TRUE(model) << model.error().message;
        const auto settings = truth::settings(row);
        const auto prints = footprints(*model, settings);
        const Footprint& loss = prints[at(*model, Place::Loss)];
        const std::size_t head = at(*model, Place::Head);
        const auto live = static_cast<double>(*end);
        const auto count = [](Bytes bytes) { return static_cast<double>(bytes.count()); };
        expectNear(live + count(loss.forwardWorkspace), row, "peak_fwd_loss");
        expectNear(live + count(loss.backwardWorkspace), row, "peak_bwd_loss");
        expectNear(live - count(loss.saved) + count(prints[head].output), row, "peak_fwd_head");
        expectNear(live - count(loss.saved) + count(prints[head].backwardWorkspace) + headGradient(*model, head, settings.compute), row,
                   "peak_bwd_head");
        ++compared;
    }
    EXPECT_GE(compared, 200U);
}

TEST(FootprintFrozen, SavedBytesEqualPyTorchsWithPartsFrozen)
{
    std::size_t compared = 0;
    for (const truth::Row& row : truth::rows("frozen.csv")) {
        auto model = truth::model(row);
        ASSERT_TRUE(model) << model.error().message;
        ASSERT_TRUE(freeze(model.value(), row.text("frozen")));
        const auto prints = footprints(*model, truth::settings(row));
        const SavedByPlace saved = savedByPlace(*model, prints);
        std::istringstream layers(row.text("all_layers_saved"));
        std::int64_t measured = 0;
        for (std::size_t layer = 0; layers >> measured; ++layer)
            EXPECT_NEAR(static_cast<double>(saved.layers[layer].count()), static_cast<double>(measured), 24)
                << row.text("file") << " " << row.text("dtype_mode") << " without " << row.text("frozen");
        EXPECT_EQ(saved.finalNorm.count(), row.number("final_norm"));
        EXPECT_EQ(saved.head.count(), row.number("head"));
        EXPECT_EQ(saved.embedding.count(), row.number("embedding"));
        ++compared;
    }
    EXPECT_EQ(compared, 18U);
}

} // namespace
} // namespace loadline
