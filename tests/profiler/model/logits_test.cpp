// SPDX-License-Identifier: GPL-3.0-or-later
// Networks built from descriptions say what transformers' own models say: logits, loss and the norm of every gradient, of weights that
// both make from one formula (tests/data/logits/make.py).
#include "core/model/reader.hpp"
#include "profiler/model/network.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones_like.h>
#include <torch/csrc/autograd/autograd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>

using namespace loadline;

namespace {

/// fp32 of both sides differs in the order of sums alone.
constexpr double kTolerance = 2e-5;

/// Element i of a parameter, as tests/data/logits/make.py has it.
at::Tensor weightOf(const Parameter& parameter)
{
    std::uint32_t hash = 2166136261U;
    for (const char c : parameter.name)
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    at::Tensor weight = at::empty(parameter.shape);
    const bool norm = parameter.shape.size() == 1 && parameter.name.ends_with("weight");
    auto* values = weight.data_ptr<float>();
    for (std::int64_t i = 0; i < weight.numel(); ++i) {
        std::uint32_t mixed = static_cast<std::uint32_t>(i) * 1664525U + hash;
        mixed = mixed * 22695477U + 1U;
        values[i] = static_cast<float>((static_cast<double>(mixed) / 4294967296.0 - 0.5) * 0.3 + (norm ? 1 : 0));
    }
    return weight;
}

/// All parameters at hand, nothing sharded.
class PlainHost final : public Host {
public:
    explicit PlainHost(const Model& model) : m_model(model)
    {
        for (const Operator& op : model.operators)
            for (const Parameter& parameter : op.parameters)
                m_weights[parameter.name] = weightOf(parameter).set_requires_grad(true);
    }

    at::Tensor operate(std::size_t op, const std::function<at::Tensor(const Weights&)>& body) override { return body(weights(op)); }

    at::Tensor linear(std::size_t op, const at::Tensor& x) override
    {
        const Weights all = weights(op);
        return at::linear(x, storesInByOut(m_model, m_model.operators[op]) ? all[0].t() : all[0], all.size() > 1 ? all[1] : at::Tensor());
    }

    at::Tensor region(std::size_t, std::size_t, const at::Tensor& x, const std::function<at::Tensor(const at::Tensor&)>& body) override
    {
        return body(x);
    }

    [[nodiscard]] const std::map<std::string, at::Tensor>& all() const { return m_weights; }

private:
    [[nodiscard]] Weights weights(std::size_t op) const
    {
        Weights weights;
        for (const Operator& owner : m_model.operators)
            if (owner.name == m_model.operators[op].sharesWith)
                for (const Parameter& parameter : owner.parameters)
                    weights.push_back(m_weights.at(parameter.name));
        for (const Parameter& parameter : m_model.operators[op].parameters)
            weights.push_back(m_weights.at(parameter.name));
        return weights;
    }

    const Model& m_model;
    std::map<std::string, at::Tensor> m_weights;
};

nlohmann::json reference()
{
    std::ifstream file(LOADLINE_SOURCE_DIR "/tests/data/logits/reference.json");
    return nlohmann::json::parse(file);
}

std::shared_ptr<const Model> modelOf(const std::string& file)
{
    auto model = loadModel(LOADLINE_SOURCE_DIR "/tests/data/train/" + file);
    EXPECT_TRUE(model) << model.error().message;
    return std::make_shared<const Model>(*std::move(model));
}

void compareGradients(const PlainHost& host, const nlohmann::json& norms, const std::string& file)
{
    for (const auto& [name, weight] : host.all()) {
        ASSERT_TRUE(norms.contains(name)) << file << " has no parameter " << name;
        const double wanted = norms[name].get<double>();
        const double got = weight.grad().defined() ? weight.grad().norm().item<double>() : 0;
        EXPECT_NEAR(got, wanted, kTolerance * std::max(wanted, 0.05)) << file << ": " << name;
    }
    EXPECT_EQ(host.all().size(), norms.size()) << file;
}

} // namespace

TEST(Logits, EqualThoseOfTransformers)
{
    constexpr std::int64_t kBatch = 2;
    constexpr std::int64_t kTokens = 7;
    int compared = 0;
    const nlohmann::json all = reference();
    for (const auto& row : all.at("models")) {
        const auto file = row.at("model").get<std::string>();
        const auto model = modelOf(file);
        const auto network = Network::build(model);
        ASSERT_TRUE(network) << network.error().message;
        PlainHost host(*model);
        const at::Tensor tokens =
            at::arange(kBatch * kTokens, at::kLong).mul(13).add(5).remainder(network->vocabulary()).view({kBatch, kTokens});
        at::Tensor targets = network->masked() ? tokens.mul(3).add(1).remainder(network->vocabulary()) : tokens.roll(-1, 1);
        targets.select(1, kTokens - 1).fill_(-100);

        const at::Tensor logits = network->logits(host, tokens);
        EXPECT_EQ(logits.sizes().vec(), row.at("shape").get<std::vector<std::int64_t>>()) << file;
        const at::Tensor flat = logits.detach().reshape({-1});
        const auto wanted = row.at("logits").get<std::vector<double>>();
        ASSERT_EQ(wanted.size(), static_cast<std::size_t>((flat.numel() + 10) / 11)) << file;
        for (std::size_t i = 0; i < wanted.size(); ++i)
            ASSERT_NEAR(flat[static_cast<std::int64_t>(i) * 11].item<double>(), wanted[i], kTolerance * std::max(1.0, std::abs(wanted[i])))
                << file << ", logit " << 11 * i;

        const at::Tensor loss = network->loss(host, tokens, targets, at::arange(1, -1, -1, at::kLong));
        EXPECT_NEAR(loss.item<double>(), row.at("loss").get<double>(), kTolerance * row.at("loss").get<double>()) << file;
        torch::autograd::backward({loss}, {at::ones_like(loss)});
        compareGradients(host, row.at("gradient_norms"), file);
        ++compared;
    }
    EXPECT_EQ(compared, 7);
}

TEST(Network, WhatIsNotBuiltIsRefusedByName)
{
    auto model = *modelOf("llama.json");
    model.family = "falcon";
    const auto family = Network::build(std::make_shared<const Model>(model));
    ASSERT_FALSE(family);
    EXPECT_NE(family.error().message.find("falcon"), std::string::npos);

    model.family = "llama";
    for (Operator& op : model.operators)
        if (auto* attention = std::get_if<AttentionTraits>(&op.traits))
            attention->window = 4;
    const auto window = Network::build(std::make_shared<const Model>(model));
    ASSERT_FALSE(window);
    EXPECT_NE(window.error().message.find("sliding windows"), std::string::npos);

    auto bare = *modelOf("llama.json");
    bare.operators.pop_back();
    const auto lossless = Network::build(std::make_shared<const Model>(bare));
    ASSERT_FALSE(lossless);
    EXPECT_NE(lossless.error().message.find("loss"), std::string::npos);
}

TEST(Network, StartingValuesDependOnSeedAndNameAlone)
{
    const Parameter weight{"a.weight", {3, 4}, true};
    EXPECT_TRUE(initialValue(weight, 1).equal(initialValue(weight, 1)));
    EXPECT_FALSE(initialValue(weight, 1).equal(initialValue(weight, 2)));
    EXPECT_FALSE(initialValue(weight, 1).equal(initialValue({"b.weight", {3, 4}, true}, 1)));
    EXPECT_TRUE(initialValue({"norm.weight", {3}, true}, 1).equal(at::full({3}, 1.0)));
    EXPECT_TRUE(initialValue({"norm.bias", {3}, true}, 1).equal(at::full({3}, 0.0)));
}
