// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/units.hpp"
#include "core/model/description.hpp"
#include "profiler/device/memory_meter.hpp"

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <vector>

namespace loadline {

/// Which operator at which size.
struct SampleSize {
    std::int64_t batch = 1;
    std::int64_t sequence = 1; ///< of the run; the operator may see another number of tokens
    int slices = 1;            ///< of its input axis; linears only
    at::ScalarType type = at::kFloat;
};

/// What one forward and backward take. Weights and indices are not counted.
struct MemoryUse {
    Bytes saved;     ///< from forward to backward, the input if it is saved included
    Bytes workspace; ///< most that was alive beyond it: input, output, their gradients and those of the weights included
};

/// One operator of a model by itself, with its inputs and weights, as a step of training meets it: a norm with the sum of the residual
/// stream before it, a linear in slices that add up, an embedding and a loss over the whole vocabulary. One thread.
class Sample {
public:
    /// False for kinds that cannot be run here: convolutions, cross attention, windows, hand-given costs, norms of other families, dropout
    /// that does nothing. True promises that construction works.
    static bool canRun(const Model& model, std::size_t op, int slices);

    /// As many inputs as `instances`, each with its own memory; weights for up to `weightSets` of them, used in turn, so that a loop finds
    /// the caches as a step of the whole model would. Throws std::exception where memory runs out.
    Sample(const Model& model, std::size_t op, const SampleSize& size, int instances, int weightSets, c10::Device device);

    /// Runs forward and keeps what backward needs.
    void forward(int instance);
    /// Of an instance whose forward has run; gradients are dropped.
    void backward(int instance);
    /// Drops what forward kept.
    void forget(int instance);

    /// Adds a gradient of every parameter to a buffer, as replicated parameters do in each micro-step.
    void accumulate(int instance);
    [[nodiscard]] bool hasParameters() const { return !m_weights.empty() && !m_weights.front().empty(); }

    /// One forward and backward with inputs of its own, seen by `meter`, which is current in this thread.
    MemoryUse memory(MemoryMeter& meter);

private:
    using Tensors = std::vector<at::Tensor>;
    void makeWeights(const std::vector<Parameter>& parameters);
    [[nodiscard]] Tensors makeInputs() const;
    [[nodiscard]] Tensors run(const Tensors& inputs, const Tensors& weights) const;
    [[nodiscard]] at::Tensor runLinear(const at::Tensor& x, const Tensors& weights) const;
    [[nodiscard]] at::Tensor random(const std::vector<std::int64_t>& shape, at::ScalarType type) const;

    const Operator& m_op;
    SampleSize m_size;
    std::int64_t m_tokens;
    c10::Device m_device;
    bool m_inByOut;
    bool m_addsToStream;            ///< an embedding behind another one
    std::vector<Tensors> m_weights; ///< by set
    std::vector<Tensors> m_inputs;  ///< by instance
    std::vector<Tensors> m_outputs; ///< by instance: what backward starts from
    Tensors m_gradients;            ///< of the outputs
    std::vector<Tensors> m_buffers; ///< by set: gradients that exist, once they are asked for
    Tensors m_added;                ///< gradients of one set's parameters, likewise
};

} // namespace loadline
