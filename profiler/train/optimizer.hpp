// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/cluster/recipe.hpp"
#include "profiler/train/flat_parameters.hpp"

#include <memory>
#include <vector>

namespace loadline {

/// Steps over what this rank stores. Works in pieces of a few tens of thousands of elements, so it takes no memory of its own.
class Optimizer {
public:
    /// Errors: an optimizer of the recipes that is not built here, with those that are.
    static Result<Optimizer> make(const OptimizerRecipe& recipe, double learningRate);

    /// One step. Gradients are sums: `divisor` ranks' worth. `clip` > 0 scales them to that global norm; the norm is taken over `world`
    /// (null for one rank). Returns the norm, 0 if it was not asked for.
    double step(const std::vector<std::unique_ptr<FlatParameters>>& flats, double divisor, double clip, Communicator* world);

    [[nodiscard]] std::int64_t steps() const { return m_steps; }
    void setSteps(std::int64_t steps) { m_steps = steps; }
    [[nodiscard]] std::size_t stateTensors() const; ///< of each parameter
    /// Gives every trainable flat its state, zeroed, if it has none yet.
    void prepare(const std::vector<std::unique_ptr<FlatParameters>>& flats) const;

private:
    enum class Kind { AdamW, Sgd, SgdMomentum, Lion };
    Optimizer(Kind kind, double learningRate) : m_kind(kind), m_rate(learningRate) {}
    void update(const at::Tensor& weight, const at::Tensor& gradient, std::vector<at::Tensor>& state, double scale) const;

    Kind m_kind;
    double m_rate;
    std::int64_t m_steps = 0;
};

} // namespace loadline
