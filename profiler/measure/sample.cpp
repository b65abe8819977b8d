// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/measure/sample.hpp"

#include "profiler/model/kernels.hpp"
#include "profiler/model/network.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <optional>

namespace loadline {
namespace {

using Tensors = std::vector<at::Tensor>;

constexpr double kDeviation = 0.02; ///< of weights, as they are initialised

template <class T>
const T* as(const Operator& op)
{
    return std::get_if<T>(&op.traits);
}

/// Columns [first, first + count) of one slice: the first `in mod slices` have one more (core/cost/option_sizes).
std::pair<std::int64_t, std::int64_t> columnsOf(std::int64_t in, int slices, int slice)
{
    const auto whole = in / slices;
    const auto longer = in % slices;
    return {slice * whole + std::min<std::int64_t>(slice, longer), whole + (slice < longer ? 1 : 0)};
}

/// The operator's own parameters, or those that it shares.
const std::vector<Parameter>& parametersOf(const Model& model, const Operator& op)
{
    if (op.sharesWith.empty() || !op.parameters.empty())
        return op.parameters;
    const auto owner =
        std::find_if(model.operators.begin(), model.operators.end(), [&](const Operator& other) { return other.name == op.sharesWith; });
    return owner == model.operators.end() ? op.parameters : owner->parameters;
}

bool isFirstEmbedding(const Model& model, std::size_t op)
{
    return std::none_of(model.operators.begin(), model.operators.begin() + static_cast<std::ptrdiff_t>(op),
                        [](const Operator& before) { return as<EmbeddingTraits>(before) != nullptr; });
}

} // namespace

bool Sample::canRun(const Model& model, std::size_t index, int slices)
{
    const Operator& op = model.operators[index];
    const auto* linear = as<LinearTraits>(op);
    if (slices > 1 && (linear == nullptr || linear->in < slices || !op.sharesWith.empty()))
        return false;
    if (const auto* norm = as<NormTraits>(op))
        return norm->norm == NormKind::Layer || norm->norm == NormKind::Rms;
    if (const auto* attention = as<AttentionTraits>(op))
        return !attention->cross && !attention->positionBias && attention->softCap <= 0 && attention->window == 0;
    if (const auto* dropout = as<DropoutTraits>(op))
        return dropout->probability > 0;
    if (const auto* router = as<RouterTraits>(op))
        return router->scores == RouterTraits::Scores::Softmax && router->groups == 1 && !op.parameters.empty();
    if (as<ExpertsTraits>(op))
        return op.parameters.size() == 2 && op.parameters[0].shape.size() == 3;
    if (as<ActivationTraits>(op) || as<LossTraits>(op))
        return true;
    return (linear || as<EmbeddingTraits>(op)) && !parametersOf(model, op).empty();
}

Sample::Sample(const Model& model, std::size_t index, const SampleSize& size, int instances, int weightSets, c10::Device device)
    : m_op(model.operators[index]), m_size(size), m_tokens(m_op.tokens.of(size.sequence)), m_device(device),
      m_inByOut(storesInByOut(model, m_op)), m_addsToStream(as<EmbeddingTraits>(m_op) != nullptr && !isFirstEmbedding(model, index))
{
    for (int set = 0; set < std::max(1, weightSets); ++set)
        makeWeights(parametersOf(model, m_op));
    for (int instance = 0; instance < instances; ++instance)
        m_inputs.push_back(makeInputs());
    m_outputs.resize(static_cast<std::size_t>(instances));
}

at::Tensor Sample::random(const std::vector<std::int64_t>& shape, at::ScalarType type) const
{
    return at::randn(shape, at::TensorOptions(m_device).dtype(at::kFloat)).mul_(kDeviation).to(type);
}

void Sample::makeWeights(const std::vector<Parameter>& parameters)
{
    Tensors weights;
    for (int slice = 0; slice < m_size.slices; ++slice) {
        for (const Parameter& parameter : parameters) {
            auto shape = parameter.shape;
            if (m_size.slices > 1 && shape.size() < 2 && slice > 0)
                continue; // the bias goes with the first slice
            if (m_size.slices > 1 && shape.size() >= 2)
                shape[m_inByOut ? 0 : 1] = columnsOf(as<LinearTraits>(m_op)->in, m_size.slices, slice).second;
            // Norms work in the type of their weights.
            weights.push_back(random(shape, m_size.type).requires_grad_(parameter.trainable));
        }
    }
    m_weights.push_back(std::move(weights));
}

Sample::Tensors Sample::makeInputs() const
{
    const auto floats = [&](std::int64_t features) { return random({m_size.batch, m_tokens, features}, m_size.type).requires_grad_(true); };
    const auto indices = [&](std::int64_t below, const std::vector<std::int64_t>& shape) {
        return at::randint(below, shape, at::TensorOptions(m_device).dtype(at::kLong));
    };
    if (const auto* embedding = as<EmbeddingTraits>(m_op)) {
        at::Tensor rows;
        if (embedding->bufferIndices)
            rows = at::zeros({1, m_tokens}, at::TensorOptions(m_device).dtype(at::kLong));
        else if (m_addsToStream)
            rows = at::arange(m_tokens, at::TensorOptions(m_device).dtype(at::kLong)).unsqueeze(0);
        else
            rows = indices(embedding->rows, {m_size.batch, m_tokens});
        return m_addsToStream ? Tensors{floats(embedding->width), rows} : Tensors{rows};
    }
    if (const auto* norm = as<NormTraits>(m_op)) {
        const auto width = norm->width * norm->perToken;
        if (norm->ofProjection)
            return {floats(width)};
        return {floats(width), random({m_size.batch, m_tokens, width}, m_size.type)};
    }
    if (const auto* linear = as<LinearTraits>(m_op))
        return {floats(linear->in)};
    if (const auto* attention = as<AttentionTraits>(m_op)) {
        const auto q = attention->heads * attention->headDim;
        const auto k = attention->kvHeads * attention->headDim;
        const auto v = attention->kvHeads * attention->valueDim;
        if (attention->fusedQkv && q == k && k == v)
            return {floats(q + k + v)};
        return {floats(q), floats(k), floats(v)};
    }
    if (const auto* activation = as<ActivationTraits>(m_op))
        return isGated(activation->activation) ? Tensors{floats(activation->width), floats(activation->width)}
                                               : Tensors{floats(activation->width)};
    if (const auto* dropout = as<DropoutTraits>(m_op))
        return {floats(dropout->width)};
    if (const auto* router = as<RouterTraits>(m_op))
        return {floats(router->hidden)};
    if (const auto* experts = as<ExpertsTraits>(m_op)) {
        const auto scores = at::softmax(random({m_size.batch * m_tokens, experts->experts}, at::kFloat).mul_(1 / kDeviation), -1);
        return {floats(experts->hidden), scores.detach().requires_grad_(true)};
    }
    const auto& loss = std::get<LossTraits>(m_op.traits);
    return {floats(loss.classes), indices(loss.classes, {m_size.batch, m_tokens})};
}

at::Tensor Sample::runLinear(const at::Tensor& x, const Tensors& weights) const
{
    const auto apply = [this](const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias) {
        return at::linear(input, m_inByOut ? weight.t() : weight, bias);
    };
    const bool biased = weights.size() > static_cast<std::size_t>(m_size.slices);
    if (m_size.slices == 1)
        return apply(x, weights[0], biased ? weights[1] : at::Tensor());
    at::Tensor sum;
    std::size_t next = 0;
    for (int slice = 0; slice < m_size.slices; ++slice) {
        const auto [first, count] = columnsOf(as<LinearTraits>(m_op)->in, m_size.slices, slice);
        const at::Tensor& weight = weights[next++];
        const at::Tensor bias = slice == 0 && biased ? weights[next++] : at::Tensor();
        const at::Tensor part = apply(x.narrow(-1, first, count), weight, bias);
        sum = sum.defined() ? sum.add_(part) : part;
    }
    return sum;
}

Sample::Tensors Sample::run(const Tensors& inputs, const Tensors& weights) const
{
    const NetworkConstants constants;
    const at::Tensor& x = inputs[0];
    if (as<EmbeddingTraits>(m_op)) {
        const at::Tensor found = at::embedding(weights[0], inputs.back());
        return {m_addsToStream ? x.add(found) : found};
    }
    if (const auto* norm = as<NormTraits>(m_op)) {
        if (inputs.size() == 1)
            return {normKernel(*norm, constants, x, weights)};
        const at::Tensor stream = x.add(inputs[1]); // what comes before the norm of the next part
        return {normKernel(*norm, constants, stream, weights), stream};
    }
    if (as<LinearTraits>(m_op))
        return {runLinear(x, weights)};
    if (const auto* attention = as<AttentionTraits>(m_op)) {
        const Tensors parts = inputs.size() == 1 ? x.chunk(3, -1) : inputs;
        return {attentionKernel(*attention, constants, parts[0], parts[1], parts[2])};
    }
    if (const auto* activation = as<ActivationTraits>(m_op))
        return {activationKernel(activation->activation, x, inputs.size() > 1 ? inputs[1] : at::Tensor())};
    if (const auto* dropout = as<DropoutTraits>(m_op))
        return {dropoutKernel(*dropout, x)};
    if (const auto* router = as<RouterTraits>(m_op))
        return {routerKernel(*router, x, weights)};
    if (const auto* experts = as<ExpertsTraits>(m_op))
        return {expertsKernel(*experts, x, inputs[1], weights)};
    return {lossKernel(std::get<LossTraits>(m_op.traits), x, inputs[1])};
}

void Sample::forward(int instance)
{
    const auto at = static_cast<std::size_t>(instance);
    m_outputs[at] = run(m_inputs[at], m_weights[at % m_weights.size()]);
}

void Sample::backward(int instance)
{
    const auto at = static_cast<std::size_t>(instance);
    auto& outputs = m_outputs[at];
    if (m_gradients.empty())
        for (const auto& output : outputs)
            m_gradients.push_back(at::ones_like(output, output.options().requires_grad(false)));
    torch::autograd::backward(outputs, m_gradients);
    outputs.clear();
    for (auto& input : m_inputs[at])
        input.mutable_grad() = at::Tensor();
    for (auto& weight : m_weights[at % m_weights.size()])
        weight.mutable_grad() = at::Tensor();
}

void Sample::forget(int instance)
{
    m_outputs[static_cast<std::size_t>(instance)].clear();
}

void Sample::accumulate(int instance)
{
    const at::NoGradGuard noGrad;
    if (m_buffers.empty()) {
        for (const auto& weights : m_weights) {
            auto& buffers = m_buffers.emplace_back();
            for (const auto& weight : weights)
                buffers.push_back(at::zeros(weight.sizes(), weight.options().dtype(at::kFloat).requires_grad(false)));
        }
        for (const auto& weight : m_weights.front())
            m_added.push_back(at::ones_like(weight, weight.options().requires_grad(false)));
    }
    auto& buffers = m_buffers[static_cast<std::size_t>(instance) % m_buffers.size()];
    for (std::size_t i = 0; i < buffers.size(); ++i)
        if (m_weights.front()[i].requires_grad())
            buffers[i].add_(m_added[i]);
}

MemoryUse Sample::memory(MemoryMeter& meter)
{
    const Tensors leaves = makeInputs();
    const Bytes before = meter.total();
    meter.resetPeak();
    at::Tensor loss;
    {
        Tensors inputs;
        for (const auto& leaf : leaves)
            inputs.push_back(leaf.requires_grad() ? leaf.add(0) : leaf); // a tensor that only what saves it keeps alive
        for (const auto& output : run(inputs, m_weights[0])) {
            const at::Tensor sum = output.sum();
            loss = loss.defined() ? loss.add(sum) : sum;
        }
    }
    MemoryUse use;
    use.saved = meter.total() - before - Bytes(static_cast<std::int64_t>(loss.nbytes()));
    torch::autograd::backward({loss}, {});
    use.workspace = std::max(Bytes(0), meter.peak() - before - use.saved);
    for (auto& weight : m_weights[0])
        weight.mutable_grad() = at::Tensor();
    return use;
}

} // namespace loadline
