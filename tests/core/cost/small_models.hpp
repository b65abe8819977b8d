// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cluster/recipe.hpp"
#include "core/cost/cost_table.hpp"
#include "core/cost/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

/// Models made by hand, small enough to reckon with on paper.
namespace loadline::small {

inline Operator embedding(std::string name, std::int64_t rows, std::int64_t width)
{
    Operator op;
    op.name = std::move(name);
    op.place = Place::Embedding;
    op.traits = EmbeddingTraits{rows, width};
    op.parameters = {{op.name + ".weight", {rows, width}}};
    return op;
}

inline Operator norm(std::string name, std::int64_t width, int layer, std::string part = "mlp")
{
    Operator op;
    op.name = std::move(name);
    op.layer = layer;
    op.place = layer < 0 ? Place::FinalNorm : Place::Layer;
    op.part = layer < 0 ? "" : std::move(part);
    NormTraits traits;
    traits.norm = NormKind::Rms;
    traits.width = width;
    op.traits = traits;
    op.parameters = {{op.name + ".weight", {width}}};
    return op;
}

inline Operator linear(std::string name, std::int64_t in, std::int64_t out, int layer, bool bias = false, std::string part = "mlp")
{
    Operator op;
    op.name = std::move(name);
    op.layer = layer;
    op.place = layer < 0 ? Place::Head : Place::Layer;
    op.part = layer < 0 ? "" : std::move(part);
    LinearTraits traits;
    traits.in = in;
    traits.out = out;
    op.traits = traits;
    op.parameters = {{op.name + ".weight", {out, in}}};
    if (bias)
        op.parameters.push_back({op.name + ".bias", {out}});
    return op;
}

inline Operator loss(std::int64_t classes)
{
    Operator op;
    op.name = "loss";
    op.place = Place::Loss;
    LossTraits traits;
    traits.classes = classes;
    op.traits = traits;
    return op;
}

/// By hand: so many bytes saved and FLOPs for each token, `parameters` of one vector.
inline Operator custom(std::string name, std::int64_t parameters, double savedPerToken, double inputPerToken, int layer = -1)
{
    Operator op;
    op.name = std::move(name);
    op.layer = layer;
    op.place = layer < 0 ? Place::Between : Place::Layer;
    CustomTraits traits;
    traits.savedPerToken = savedPerToken;
    traits.inputPerToken = inputPerToken;
    traits.flopsPerToken = 1000;
    op.traits = traits;
    if (parameters > 0)
        op.parameters = {{op.name + ".weight", {parameters}}};
    return op;
}

inline Cluster cluster(std::int64_t nodes, std::int64_t gpusPerNode)
{
    Cluster cluster;
    cluster.name = "test";
    cluster.nodes = nodes;
    cluster.gpusPerNode = gpusPerNode;
    cluster.device.name = "device";
    cluster.device.memory = 80_GiB;
    cluster.device.fp32FlopsPerSecond = 60e12;
    cluster.device.halfFlopsPerSecond = 900e12;
    cluster.device.bytesPerSecond = 3e12;
    cluster.device.flopsEfficiency = 0.5;
    cluster.device.memoryEfficiency = 0.8;
    cluster.device.overhead = 1_GiB;
    cluster.intra = {Seconds(5e-6), 200e9, "test"};
    cluster.inter = {Seconds(2e-5), 20e9, "test"};
    return cluster;
}

inline Setup setup(std::vector<Operator> operators, std::int64_t ranks = 8, RuntimeRules rules = loadlineRules())
{
    auto model = std::make_shared<Model>();
    model->name = "small";
    model->family = "custom";
    model->operators = std::move(operators);
    Setup setup;
    setup.model = std::move(model);
    setup.cluster = cluster(1, ranks);
    setup.precision = *loadPrecision("fp32");
    setup.optimizer = *loadOptimizer("adamw");
    setup.rules = std::move(rules);
    setup.sequence = 16;
    setup.overhead = Bytes(0);
    return setup;
}

/// A small transformer-like model: embedding, `layers` layers of two parts, norm, tied or own head, loss.
inline std::vector<Operator> stack(int layers, bool tied, std::int64_t width = 64, std::int64_t vocabulary = 1009)
{
    std::vector<Operator> all{embedding("embed", vocabulary, width)};
    for (int i = 0; i < layers; ++i) {
        const std::string at = "layers." + std::to_string(i) + ".";
        all.push_back(norm(at + "norm_1", width, i, "attention"));
        all.push_back(linear(at + "qkv", width, 3 * width, i, true, "attention"));
        all.push_back(linear(at + "out", width, width, i, true, "attention"));
        all.push_back(norm(at + "norm_2", width, i));
        all.push_back(linear(at + "up", width, 4 * width, i));
        all.push_back(linear(at + "down", 4 * width, width, i));
    }
    all.push_back(norm("norm", width, -1));
    all.push_back(linear("head", width, vocabulary, -1));
    if (tied) {
        all.back().parameters.clear();
        all.back().sharesWith = "embed";
    }
    all.push_back(loss(vocabulary));
    return all;
}

inline CostTable table(const Setup& setup)
{
    auto built = buildCostTable(setup);
    EXPECT_TRUE(built.ok()) << (built.ok() ? "" : built.error().message);
    return built.ok() ? *std::move(built) : CostTable{};
}

inline std::size_t unitNamed(const CostTable& table, const std::string& name)
{
    for (std::size_t i = 0; i < table.units.size(); ++i)
        if (table.units[i].name == name)
            return i;
    ADD_FAILURE() << "no unit " << name;
    return 0;
}

/// Index of the option with this label.
inline std::uint32_t option(const CostTable& table, std::size_t unit, const std::string& label)
{
    const auto& options = table.options(unit);
    for (std::uint32_t i = 0; i < options.size(); ++i)
        if (strategyLabel(options[i].strategy, table.setup.cluster.ranks()) == label)
            return i;
    ADD_FAILURE() << table.units[unit].name << " has no strategy " << label;
    return 0;
}

inline const OptionCost& cost(const CostTable& table, const std::string& unit, const std::string& label)
{
    const std::size_t index = unitNamed(table, unit);
    return table.options(index)[option(table, index, label)];
}

/// `label` for every unit that has parameters.
inline Choice all(const CostTable& table, const std::string& label)
{
    Choice choice;
    for (std::size_t i = 0; i < table.units.size(); ++i)
        choice.push_back(table.units[i].parameters > 0 ? option(table, i, label) : 0);
    return choice;
}

inline Choice randomChoice(const CostTable& table, std::mt19937_64& random)
{
    Choice choice;
    for (std::size_t i = 0; i < table.units.size(); ++i)
        choice.push_back(static_cast<std::uint32_t>(random() % table.options(i).size()));
    return choice;
}

} // namespace loadline::small
