// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/train/optimizer.hpp"

#include "profiler/device/memory_meter.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace loadline {
namespace {

constexpr std::int64_t kPiece = 16384; ///< elements at a time
constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr double kEps = 1e-8;
constexpr double kDecay = 0.01; ///< torch.optim.AdamW's default
constexpr double kMomentum = 0.9;
constexpr double kLionBeta2 = 0.99;

/// Squared norm of one flat's gradient here, counted once over all ranks that hold the same shard.
double squaredNorm(FlatParameters& flat, int ranks)
{
    const double copies = static_cast<double>(ranks) / static_cast<double>(flat.groups().group);
    const at::Tensor& gradient = flat.gradient();
    double sum = 0;
    for (std::int64_t at = 0; at < gradient.numel(); at += kPiece) {
        const at::Tensor part = gradient.narrow(0, at, std::min(kPiece, gradient.numel() - at));
        sum += part.dot(part).item<double>();
    }
    return sum / copies;
}

} // namespace

Result<Optimizer> Optimizer::make(const OptimizerRecipe& recipe, double learningRate)
{
    if (recipe.name == "adamw")
        return Optimizer(Kind::AdamW, learningRate);
    if (recipe.name == "sgd")
        return Optimizer(Kind::Sgd, learningRate);
    if (recipe.name == "sgd-momentum")
        return Optimizer(Kind::SgdMomentum, learningRate);
    if (recipe.name == "lion")
        return Optimizer(Kind::Lion, learningRate);
    return invalidInput(fmt::format("optimizer {} cannot be trained with here; plan with adamw, sgd, sgd-momentum or lion", recipe.name));
}

std::size_t Optimizer::stateTensors() const
{
    return m_kind == Kind::AdamW ? 2 : m_kind == Kind::Sgd ? 0 : 1;
}

void Optimizer::prepare(const std::vector<std::unique_ptr<FlatParameters>>& flats) const
{
    const CategoryScope category(MemoryCategory::Optimizer);
    for (const auto& flat : flats) {
        while (flat->trainable() && flat->optimizerState().size() < stateTensors())
            flat->optimizerState().push_back(at::zeros({flat->localCount()}, flat->local().options()));
    }
}

double Optimizer::step(const std::vector<std::unique_ptr<FlatParameters>>& flats, double divisor, double clip, Communicator* world)
{
    const at::NoGradGuard noGrad;
    prepare(flats);
    ++m_steps;
    double scale = 1 / divisor;
    double norm = 0;
    if (clip > 0) {
        double sum = 0;
        for (const auto& flat : flats) {
            if (flat->trainable())
                sum += squaredNorm(*flat, world ? world->size() : 1);
        }
        const at::Tensor all = at::full({1}, sum, flats.front()->local().options().dtype(at::kDouble));
        if (world)
            world->allReduce(all)->wait();
        norm = std::sqrt(all.item<double>()) / divisor;
        scale *= std::min(1.0, clip / (norm + 1e-6)); // as torch.nn.utils.clip_grad_norm_
    }
    for (const auto& flat : flats) {
        if (!flat->trainable())
            continue;
        const std::int64_t count = flat->localCount();
        for (std::int64_t at = 0; at < count; at += kPiece) {
            const std::int64_t size = std::min(kPiece, count - at);
            std::vector<at::Tensor> state;
            for (const at::Tensor& each : flat->optimizerState())
                state.push_back(each.narrow(0, at, size));
            update(flat->local().narrow(0, at, size), flat->gradient().narrow(0, at, size), state, scale);
        }
    }
    return norm;
}

void Optimizer::update(const at::Tensor& weight, const at::Tensor& gradient, std::vector<at::Tensor>& state, double scale) const
{
    const at::Tensor g = gradient.mul(scale);
    const auto t = static_cast<double>(m_steps);
    switch (m_kind) {
    case Kind::AdamW:
        weight.mul_(1 - m_rate * kDecay);
        state[0].mul_(kBeta1).add_(g, 1 - kBeta1);
        state[1].mul_(kBeta2).addcmul_(g, g, 1 - kBeta2);
        weight.addcdiv_(state[0], state[1].div(1 - std::pow(kBeta2, t)).sqrt_().add_(kEps), -m_rate / (1 - std::pow(kBeta1, t)));
        return;
    case Kind::Sgd:
        weight.add_(g, -m_rate);
        return;
    case Kind::SgdMomentum:
        state[0].mul_(kMomentum).add_(g);
        weight.add_(state[0], -m_rate);
        return;
    case Kind::Lion:
        weight.mul_(1 - m_rate * kDecay);
        weight.add_(state[0].mul(kBeta1).add_(g, 1 - kBeta1).sign_(), -m_rate);
        state[0].mul_(kLionBeta2).add_(g, 1 - kLionBeta2);
        return;
    }
}

} // namespace loadline
