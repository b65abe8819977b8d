// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/model/kernels.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/native_dropout.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <numbers>
#include <tuple>

namespace loadline {
namespace {

at::Tensor rmsNorm(const at::Tensor& x, const at::Tensor& weight, double eps)
{
    const at::Tensor wide = x.to(at::kFloat);
    const at::Tensor normed = wide.mul(at::rsqrt(at::pow(wide, 2).mean(-1, true).add(eps)));
    return weight.mul(normed.to(x.scalar_type()));
}

/// Rotates the first `rotaryDim` features of each head; x is [batch, heads, tokens, headDim].
at::Tensor rotated(const at::Tensor& x, std::int64_t rotaryDim, double base)
{
    const std::int64_t tokens = x.size(2);
    const auto options = x.options().dtype(at::kFloat).requires_grad(false);
    const at::Tensor exponents = at::arange(0, rotaryDim, 2, options).div(static_cast<double>(rotaryDim));
    const at::Tensor frequencies = at::pow(base, exponents).reciprocal();
    const at::Tensor half = at::outer(at::arange(tokens, options), frequencies);
    const at::Tensor angles = at::cat({half, half}, -1);
    const at::Tensor turned = x.narrow(-1, 0, rotaryDim);
    const at::Tensor low = turned.narrow(-1, 0, rotaryDim / 2);
    const at::Tensor high = turned.narrow(-1, rotaryDim / 2, rotaryDim / 2);
    const at::Tensor crossed = at::cat({high.neg(), low}, -1);
    const at::Tensor result = turned.mul(angles.cos().to(x.scalar_type())).add(crossed.mul(angles.sin().to(x.scalar_type())));
    return rotaryDim == x.size(-1) ? result : at::cat({result, x.narrow(-1, rotaryDim, x.size(-1) - rotaryDim)}, -1);
}

/// As Hugging Face's NewGELUActivation writes it out, operation by operation: it saves more than the fused one (docs/activations.md).
at::Tensor geluNew(const at::Tensor& x)
{
    const at::Tensor inner = x.add(at::pow(x, 3).mul(0.044715)).mul(std::sqrt(2 / std::numbers::pi));
    return x.mul(0.5).mul(at::tanh(inner).add(1));
}

at::Tensor byHeads(const at::Tensor& x, std::int64_t heads, std::int64_t width)
{
    return x.view({x.size(0), x.size(1), heads, width}).transpose(1, 2);
}

} // namespace

at::Tensor normKernel(const NormTraits& traits, const NetworkConstants& constants, const at::Tensor& x,
                      const std::vector<at::Tensor>& weights)
{
    const std::vector<std::int64_t> sizes = x.sizes().vec();
    // q_norm and k_norm of Qwen3 normalise each head by itself.
    const bool byHead = traits.width != sizes.back();
    const at::Tensor rows = byHead ? x.view({sizes[0], sizes[1], sizes[2] / traits.width, traits.width}) : x;
    const at::Tensor normed =
        traits.norm == NormKind::Layer
            ? at::layer_norm(rows, {traits.width}, weights[0], weights.size() > 1 ? weights[1] : at::Tensor(), constants.layerNormEps)
            : rmsNorm(rows, weights[0], constants.rmsNormEps);
    return byHead ? normed.view(sizes) : normed;
}

bool isGated(ActivationKind kind)
{
    return kind >= ActivationKind::GatedSilu;
}

at::Tensor activationKernel(ActivationKind kind, const at::Tensor& a, const at::Tensor& b)
{
    switch (kind) {
    case ActivationKind::Relu:
        return at::relu(a);
    case ActivationKind::Gelu:
        return at::gelu(a);
    case ActivationKind::GeluNew:
        return geluNew(a);
    case ActivationKind::GeluTanh:
        return at::gelu(a, "tanh");
    case ActivationKind::QuickGelu:
        return a.mul(at::sigmoid(a.mul(1.702)));
    case ActivationKind::Silu:
        return at::silu(a);
    case ActivationKind::Tanh:
        return at::tanh(a);
    case ActivationKind::GatedSilu:
    case ActivationKind::GatedClampedSilu:
        return at::silu(a).mul(b);
    case ActivationKind::GatedGelu:
        return at::gelu(a).mul(b);
    case ActivationKind::GatedGeluTanh:
        return at::gelu(a, "tanh").mul(b);
    case ActivationKind::GatedGeluNew:
        return geluNew(a).mul(b);
    }
    return a;
}

at::Tensor attentionKernel(const AttentionTraits& traits, const NetworkConstants& constants, const at::Tensor& q, const at::Tensor& k,
                           const at::Tensor& v)
{
    at::Tensor queries = byHeads(q, traits.heads, traits.headDim);
    at::Tensor keys = byHeads(k, traits.kvHeads, traits.headDim);
    const at::Tensor values = byHeads(v, traits.kvHeads, traits.valueDim);
    if (traits.rotaryDim > 0) {
        queries = rotated(queries, traits.rotaryDim, constants.rotaryBase);
        keys = rotated(keys, traits.rotaryDim, constants.rotaryBase);
    }
    const at::Tensor mixed = at::scaled_dot_product_attention(queries, keys, values, {}, traits.dropout, traits.causal, std::nullopt,
                                                              traits.kvHeads != traits.heads);
    return mixed.transpose(1, 2).reshape({q.size(0), q.size(1), traits.heads * traits.valueDim});
}

at::Tensor dropoutKernel(const DropoutTraits& traits, const at::Tensor& x)
{
    // Keeps a mask of one byte an element on every device; at::dropout keeps one of x's type on the CPU.
    return traits.probability > 0 ? std::get<0>(at::native_dropout(x, traits.probability, true)) : x;
}

at::Tensor routerKernel(const RouterTraits& traits, const at::Tensor& x, const std::vector<at::Tensor>& weights)
{
    return at::softmax(at::linear(x.reshape({-1, traits.hidden}), weights[0]), -1, at::kFloat);
}

at::Tensor expertsKernel(const ExpertsTraits& traits, const at::Tensor& x, const at::Tensor& scores, const std::vector<at::Tensor>& weights)
{
    const at::Tensor rows = x.reshape({-1, traits.hidden});
    auto [best, chosen] = at::topk(scores, traits.active, -1);
    best = best.div(best.sum(-1, true)).to(x.scalar_type());
    at::Tensor sum = at::zeros_like(rows);
    for (std::int64_t expert = 0; expert < traits.experts; ++expert) {
        // (token, place among its chosen ones) of the tokens that come here; all ranks run every expert, with no token perhaps.
        const auto places = at::where(chosen.eq(expert));
        const at::Tensor tokens = rows.index_select(0, places[0]);
        const at::Tensor hidden = at::linear(tokens, weights[0].select(0, expert));
        const std::int64_t width = hidden.size(-1) / 2;
        const at::Tensor active = activationKernel(traits.activation, hidden.narrow(-1, 0, width), hidden.narrow(-1, width, width));
        const at::Tensor out = at::linear(active, weights[1].select(0, expert));
        const at::Tensor share = best.index({places[0], places[1]}).unsqueeze(-1);
        sum = sum.index_add(0, places[0], out.mul(share));
    }
    return sum.view_as(x);
}

at::Tensor lossKernel(const LossTraits& traits, const at::Tensor& logits, const at::Tensor& targets)
{
    const at::Tensor flat = logits.view({-1, traits.classes});
    const at::Tensor wide = traits.upcasts ? flat.to(at::kFloat) : flat;
    return at::cross_entropy_loss(wide, targets.reshape({-1}), {}, /*reduction mean*/ 1, /*ignore_index=*/-100);
}

} // namespace loadline
