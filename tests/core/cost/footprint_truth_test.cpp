// SPDX-License-Identifier: GPL-3.0-or-later
// Holds the closed forms to every row that PyTorch itself measured (tests/data/truth/activations.csv).
#include "truth_rows.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace loadline {
namespace {

/// Models whose rows are not compared, and why.
const std::map<std::string, std::string>& leftOut()
{
    static const std::map<std::string, std::string> files = {
        {"mamba-130m-novocab.json", "state-space layers can't be planned; the reader refuses them"},
        {"nemotron-h-56b.json", "state-space layers can't be planned; the reader refuses them"},
    };
    return files;
}

/// One measured figure beside ours.
struct Comparison {
    std::string what;
    double deviation = 0; ///< relative
};

std::string title(const truth::Row& row)
{
    return fmt::format("{} {} {} {} dropout {} batch {} x {}", row.text("file"), row.text("attention"), row.text("sdpa_backend"),
                       row.text("dtype_mode"), row.text("dropout"), row.text("batch"), row.text("seq"));
}

std::vector<truth::Row> comparedRows()
{
    std::vector<truth::Row> all = truth::rows("activations.csv");
    std::erase_if(all, [](const truth::Row& row) { return row.text("device") != "cuda(fake)" || leftOut().contains(row.text("file")); });
    return all;
}

/// Layers of the encoder; 0 for a model of one stack.
int encoderLayers(const Model& model)
{
    for (std::size_t i = 1; i < model.operators.size(); ++i) {
        if (model.operators[i].place == Place::Between)
            return model.operators[i - 1].layer + 1;
    }
    return 0;
}

/// Our figures under the names of the columns.
std::map<std::string, std::int64_t> figures(const Model& model, const truth::Row& row)
{
    const auto prints = footprints(model, truth::settings(row));
    const SavedByPlace saved = savedByPlace(model, prints);
    const auto layers = static_cast<std::size_t>(model.layerCount());
    std::vector<std::int64_t> casts(layers, 0);
    std::int64_t otherCasts = 0;
    for (std::size_t i = 0; i < prints.size(); ++i) {
        const Operator& op = model.operators[i];
        (op.layer < 0 ? otherCasts : casts[static_cast<std::size_t>(op.layer)]) += prints[i].weightCasts.count();
    }
    const auto encoder = static_cast<std::size_t>(encoderLayers(model));
    const std::string measured = row.text("all_layers_saved");
    const auto lists = static_cast<std::size_t>(std::count(measured.begin(), measured.end(), ' ')) + 1;
    const std::size_t built = encoder > 0 ? lists / 2 : lists; // of each stack
    std::map<std::string, std::int64_t> all;
    all["embedding"] = saved.embedding.count();
    all["between"] = saved.between.count();
    all["final_norm"] = saved.finalNorm.count();
    all["head"] = saved.head.count();
    all["loss"] = saved.loss.count();
    all["saved_first_layer"] = saved.layers[encoder].count();
    all["saved_middle_layer"] = saved.layers[encoder + (layers - encoder) / 2].count();
    all["saved_last_layer"] = saved.layers.back().count();
    if (encoder > 0) {
        all["enc_first"] = saved.layers[0].count();
        all["enc_middle"] = saved.layers[encoder / 2].count();
        all["enc_last"] = saved.layers[encoder - 1].count();
    }
    all["weightcast_middle_layer"] = casts[encoder + (layers - encoder) / 2];
    all["total_full_depth"] = saved.total.count();
    // The measured model is shallow: the first layers of each stack, all of the rest.
    const auto places = saved.embedding + saved.between + saved.finalNorm + saved.head + saved.loss;
    std::int64_t total = places.count();
    std::int64_t cast = otherCasts;
    for (std::size_t layer = 0; layer < layers; ++layer) {
        if (layer < built || (layer >= encoder && layer < encoder + built)) {
            total += saved.layers[layer].count();
            cast += casts[layer];
        }
    }
    all["total_built"] = total;
    all["weightcast_total"] = cast;
    return all;
}

std::vector<Comparison> compare(const Model& model, const truth::Row& row)
{
    std::vector<Comparison> all;
    for (const auto& [column, ours] : figures(model, row)) {
        const auto measured = row.number(column);
        if (!measured || (*measured == 0 && ours == 0))
            continue;
        const double difference = std::abs(static_cast<double>(ours - *measured));
        const double deviation = *measured == 0 ? 1 : difference / static_cast<double>(*measured);
        all.push_back({fmt::format("{}: {} is {} here, {} in PyTorch", title(row), column, ours, *measured), deviation});
    }
    return all;
}

TEST(FootprintTruth, EveryRowWithinOnePercentAndTheMedianWithinATenth)
{
    std::vector<double> deviations;
    std::size_t compared = 0;
    for (const truth::Row& row : comparedRows()) {
        const auto& model = truth::model(row);
        ASSERT_TRUE(model) << model.error().message;
        ++compared;
        for (const Comparison& one : compare(*model, row)) {
            deviations.push_back(one.deviation);
            EXPECT_LE(one.deviation, 0.01) << one.what;
        }
    }
    EXPECT_EQ(compared, 462U);
    std::sort(deviations.begin(), deviations.end());
    EXPECT_LE(deviations[deviations.size() / 2], 0.001);
}

TEST(FootprintTruth, KernelIsTheOneThatPyTorchChooses)
{
    const std::map<std::string, AttentionKind> names = {
        {"flash", AttentionKind::Flash}, {"efficient", AttentionKind::Efficient}, {"math", AttentionKind::Math}};
    for (const truth::Row& row : comparedRows()) {
        if (row.text("attention") != "sdpa" || row.text("note").starts_with("variant"))
            continue;
        const auto& model = truth::model(row);
        ASSERT_TRUE(model) << model.error().message;
        for (const Operator& op : model->operators) {
            if (const auto* traits = std::get_if<AttentionTraits>(&op.traits)) {
                EXPECT_EQ(chosenAttention(*traits, truth::settings(row)), names.at(row.text("sdpa_backend")))
                    << title(row) << " " << op.name;
            }
        }
    }
}

TEST(FootprintTruth, FamiliesWithoutSdpaTakeEager)
{
    std::size_t families = 0;
    for (const truth::Row& row : truth::rows("activations.csv")) {
        if (!row.text("note").starts_with("FAIL") || leftOut().contains(row.text("file")))
            continue;
        ++families;
        const auto& model = truth::model(row);
        ASSERT_TRUE(model) << model.error().message;
        for (const Operator& op : model->operators) {
            if (const auto* traits = std::get_if<AttentionTraits>(&op.traits)) {
                EXPECT_EQ(chosenAttention(*traits, {}), AttentionKind::Eager) << op.name;
            }
        }
    }
    EXPECT_GT(families, 0U);
}

} // namespace
} // namespace loadline
