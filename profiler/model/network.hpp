// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/model/description.hpp"
#include "profiler/model/kernels.hpp"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace loadline {

using Weights = std::vector<at::Tensor>; ///< of one operator: a shared one first, then its own in the description's order

/// Who gives a network its parameters. A plan gathers them here and frees them again.
class Host {
public:
    virtual ~Host() = default;

    /// Runs `body` with the operator's weights in place, once forward; backward may need them again.
    virtual at::Tensor operate(std::size_t op, const std::function<at::Tensor(const Weights&)>& body) = 0;
    /// y = x W + b, in as many slices over the input axis as the plan has.
    virtual at::Tensor linear(std::size_t op, const at::Tensor& x) = 0;
    /// Runs the operators from `first` up to but not `last`, which stand in one layer (or one part of it).
    virtual at::Tensor region(std::size_t first, std::size_t last, const at::Tensor& x,
                              const std::function<at::Tensor(const at::Tensor&)>& body) = 0;
};

/// A network built from a description: decoders with a norm before (GPT-2, OPT, Llama, Mixtral-like) or after (BERT) each part, of equal
/// or differing layers. Immutable, shared by all micro-steps.
class Network {
public:
    /// Errors: a description with operators that this version cannot train (cross attention, convolutions, hand-given costs),
    /// named, with what can be trained.
    static Result<Network> build(std::shared_ptr<const Model> model);

    /// Mean loss of tokens [batch, tokens] against targets of the same shape (-100: not counted). A model that also classifies whole
    /// sequences (BERT's next sentence) needs `labels` [batch]; its loss is the sum of both.
    [[nodiscard]] at::Tensor loss(Host& host, const at::Tensor& tokens, const at::Tensor& targets, const at::Tensor& labels = {}) const;
    /// [batch, tokens, vocabulary], without the loss; [batch, 1, labels] of a model that only classifies.
    [[nodiscard]] at::Tensor logits(Host& host, const at::Tensor& tokens) const;

    [[nodiscard]] const Model& model() const { return *m_model; }
    [[nodiscard]] const NetworkConstants& constants() const { return m_constants; }
    [[nodiscard]] std::int64_t vocabulary() const { return m_vocabulary; }
    [[nodiscard]] std::int64_t mostTokens() const { return m_mostTokens; } ///< of one sequence, by the positions; 0: any number
    [[nodiscard]] bool masked() const { return m_masked; }                 ///< trained by masked tokens, not by the next one
    [[nodiscard]] std::int64_t labels() const { return m_labels; }         ///< classes of a whole sequence; 0: it has none

private:
    /// Operators of one part of a layer, [first, last).
    struct Part {
        std::size_t first;
        std::size_t last;
    };
    using Layer = std::vector<Part>;

    /// What runs behind the layers: each token by itself, and the first one for the whole sequence (BERT's pooler).
    struct Tail {
        at::Tensor tokens;
        at::Tensor pooled;
    };

    void add(std::size_t op);
    [[nodiscard]] at::Tensor embed(Host& host, const at::Tensor& tokens) const;
    [[nodiscard]] at::Tensor hidden(Host& host, const at::Tensor& tokens) const;
    void runTail(Host& host, std::size_t& op, Tail& tail) const;
    /// A linear with the adapters behind it; `op` ends at the last of them.
    [[nodiscard]] at::Tensor runLinear(Host& host, std::size_t& op, const at::Tensor& x) const;
    [[nodiscard]] at::Tensor runLayer(Host& host, const Layer& layer, const at::Tensor& x) const;
    [[nodiscard]] at::Tensor runPart(Host& host, Part part, const at::Tensor& x) const;
    [[nodiscard]] at::Tensor runOne(Host& host, std::size_t op, const at::Tensor& x) const;

    std::shared_ptr<const Model> m_model;
    NetworkConstants m_constants;
    std::vector<std::size_t> m_embedding; ///< operators before the layers
    std::vector<Layer> m_layers;
    std::vector<std::size_t> m_tail; ///< final norm, heads, losses
    std::int64_t m_vocabulary = 0;
    std::int64_t m_labels = 0;
    std::int64_t m_mostTokens = 0;
    bool m_masked = false;
};

/// True where the weight is stored in x out, as GPT-2's Conv1D does.
bool storesInByOut(const Model& model, const Operator& op);

/// Starting values of one parameter, the same for every plan and rank: normal with deviation 0.02 for matrices, ones and zeros for
/// norms and biases; drawn from `seed` and the parameter's name.
at::Tensor initialValue(const Parameter& parameter, std::uint64_t seed);

} // namespace loadline
