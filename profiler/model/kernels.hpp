// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/description.hpp"

#include <ATen/core/Tensor.h>

#include <vector>

namespace loadline {

/// Values that a description does not hold because they cost nothing: the defaults of Hugging Face's families.
struct NetworkConstants {
    double layerNormEps = 1e-5;
    double rmsNormEps = 1e-6;
    double rotaryBase = 10000;
};

// What each kind of operator computes. Shapes: x is [batch, tokens, features]; weights are as PyTorch stores them. Differentiable.
// Dropout draws from libtorch's own generator.

at::Tensor normKernel(const NormTraits& traits, const NetworkConstants& constants, const at::Tensor& x,
                      const std::vector<at::Tensor>& weights);

/// `a`: the hidden features, or the gate of a gated kind; `b`: the other branch, undefined for a plain kind.
at::Tensor activationKernel(ActivationKind kind, const at::Tensor& a, const at::Tensor& b);
/// Gate and up projections that one tensor holds beside each other.
bool isGated(ActivationKind kind);

/// Scores, softmax and weighted sum by libtorch's scaled_dot_product_attention. q is [batch, tokens, heads x headDim], k and v have the KV
/// heads; the result is [batch, tokens, heads x valueDim]. Rotates q and k first where the traits say so.
at::Tensor attentionKernel(const AttentionTraits& traits, const NetworkConstants& constants, const at::Tensor& q, const at::Tensor& k,
                           const at::Tensor& v);

at::Tensor dropoutKernel(const DropoutTraits& traits, const at::Tensor& x);

/// [batch x tokens, experts] scores of each token; softmax in fp32.
at::Tensor routerKernel(const RouterTraits& traits, const at::Tensor& x, const std::vector<at::Tensor>& weights);
/// Weighted sum of the `active` best experts of each token. Weights: gate_up [experts, 2 width, hidden], down [experts, hidden, width].
at::Tensor expertsKernel(const ExpertsTraits& traits, const at::Tensor& x, const at::Tensor& scores,
                         const std::vector<at::Tensor>& weights);

/// Mean cross entropy over the tokens of `targets` [batch, tokens] that are not negative. A causal loss is given targets that are shifted
/// already.
at::Tensor lossKernel(const LossTraits& traits, const at::Tensor& logits, const at::Tensor& targets);

} // namespace loadline
