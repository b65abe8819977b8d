// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/model/network.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

namespace loadline {
namespace {

template <class T>
const T* as(const Operator& op)
{
    return std::get_if<T>(&op.traits);
}

std::optional<std::string> reasonNotTrained(const Operator& op)
{
    if (as<ConvolutionTraits>(op))
        return "convolutions";
    if (as<CustomTraits>(op))
        return "operators whose costs are given by hand";
    const auto* attention = as<AttentionTraits>(op);
    if (attention && (attention->cross || attention->positionBias || attention->softCap > 0 || attention->window > 0))
        return "cross attention, position biases, soft caps and sliding windows";
    const auto* norm = as<NormTraits>(op);
    if (norm && norm->norm != NormKind::Layer && norm->norm != NormKind::Rms)
        return "this kind of norm";
    const auto* router = as<RouterTraits>(op);
    if (router && router->scores != RouterTraits::Scores::Softmax)
        return "routers other than softmax";
    return std::nullopt;
}

/// Families whose layers are wired as Network wires them: others add parts in parallel, or differ in what no trait says.
constexpr std::array<std::string_view, 9> kFamilies{"gpt2", "opt", "bert", "llama", "mistral", "mixtral", "qwen2", "qwen3", "custom"};

/// LoRA's two linears stand behind the one that they adapt (core/model/lora).
bool isAdapter(const Operator& op)
{
    return op.name.ends_with(".lora_A.default") || op.name.ends_with(".lora_B.default");
}

/// Where a whole sequence is judged by its first token.
bool isPooled(const Operator& op)
{
    return op.tokens.fixed == 1;
}

/// OPT's positions begin at 2.
std::int64_t positionOffset(const Model& model)
{
    return model.family == "opt" ? 2 : 0;
}

/// What transformers 5.24 takes where a configuration says nothing.
NetworkConstants constantsOf(const std::string& family)
{
    NetworkConstants constants;
    if (family == "bert" || family == "roberta" || family == "xlm-roberta")
        constants.layerNormEps = 1e-12;
    if (family == "mixtral") {
        constants.rmsNormEps = 1e-5;
        constants.rotaryBase = 1e6;
    }
    return constants;
}

} // namespace

bool storesInByOut(const Model& model, const Operator& op)
{
    return model.family == "gpt2" && op.place == Place::Layer && as<LinearTraits>(op) != nullptr && !isAdapter(op);
}

at::Tensor initialValue(const Parameter& parameter, std::uint64_t seed)
{
    if (parameter.shape.size() < 2)
        return parameter.name.ends_with("bias") ? at::zeros(parameter.shape) : at::ones(parameter.shape);
    std::uint64_t hash = seed * 0x9e3779b97f4a7c15ULL + 1469598103934665603ULL;
    for (const char c : parameter.name)
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    at::Tensor value = at::empty(parameter.shape);
    value.normal_(0, 0.02, at::make_generator<at::CPUGeneratorImpl>(hash));
    return value;
}

Result<Network> Network::build(std::shared_ptr<const Model> model)
{
    Network network;
    network.m_model = std::move(model);
    const auto& operators = network.m_model->operators;
    if (std::find(kFamilies.begin(), kFamilies.end(), network.m_model->family) == kFamilies.end())
        return invalidInput(fmt::format("model {} of family {} cannot be trained here; models of {} can", network.m_model->name,
                                        network.m_model->family, fmt::join(kFamilies, ", ")));
    for (std::size_t i = 0; i < operators.size(); ++i) {
        const Operator& op = operators[i];
        if (const auto reason = reasonNotTrained(op))
            return invalidInput(fmt::format("{} of model {} cannot be trained here ({} are not built); GPT-2, OPT, BERT, Llama and "
                                            "Mixtral-like models can",
                                            op.name, network.m_model->name, *reason));
        network.add(i);
    }
    const bool ends = network.m_vocabulary > 0 || network.m_labels > 0;
    if (!ends || network.m_embedding.empty() || as<EmbeddingTraits>(operators[network.m_embedding.front()]) == nullptr)
        return invalidInput(
            fmt::format("model {} cannot be trained here: it does not begin with an embedding and end with a loss", network.m_model->name));
    for (const std::size_t op : network.m_embedding) {
        const auto* embedding = as<EmbeddingTraits>(operators[op]);
        if (embedding && op != network.m_embedding.front() && !embedding->bufferIndices)
            network.m_mostTokens = embedding->rows - positionOffset(*network.m_model);
    }
    if (network.m_vocabulary == 0) // the tokens that go in
        network.m_vocabulary = as<EmbeddingTraits>(operators[network.m_embedding.front()])->rows;
    network.m_constants = constantsOf(network.m_model->family);
    return network;
}

/// Sorts one operator into embeddings, layers with their parts, and what follows.
void Network::add(std::size_t index)
{
    const auto& operators = m_model->operators;
    const Operator& op = operators[index];
    if (op.place != Place::Layer) {
        (m_layers.empty() ? m_embedding : m_tail).push_back(index);
    } else {
        const bool first = m_layers.empty() || operators[m_layers.back().front().first].layer != op.layer;
        if (first)
            m_layers.emplace_back();
        Layer& parts = m_layers.back();
        if (parts.empty() || operators[parts.back().first].part != op.part)
            parts.push_back({index, index});
        parts.back().last = index + 1;
    }
    if (const auto* loss = as<LossTraits>(op)) {
        (loss->loss == LossKind::Classification ? m_labels : m_vocabulary) = loss->classes;
        m_masked = m_masked || loss->loss == LossKind::MaskedLm;
    }
}

at::Tensor Network::embed(Host& host, const at::Tensor& tokens) const
{
    at::Tensor x;
    const std::int64_t offset = positionOffset(*m_model);
    for (const std::size_t op : m_embedding) {
        const auto* embedding = as<EmbeddingTraits>(m_model->operators[op]);
        if (embedding == nullptr) {
            x = runOne(host, op, x);
            continue;
        }
        const bool first = op == m_embedding.front();
        at::Tensor indices = tokens;
        if (embedding->bufferIndices)
            indices = at::zeros({1, tokens.size(1)}, tokens.options());
        else if (!first)
            indices = at::arange(offset, offset + tokens.size(1), tokens.options()).unsqueeze(0);
        const at::Tensor rows = host.operate(op, [&](const Weights& weights) {
            const at::Tensor found = at::embedding(weights[0], indices);
            return x.defined() ? x.add(found) : found;
        });
        x = rows;
    }
    // Frozen embeddings: the backward pass goes through all operators all the same, as transformers' enable_input_require_grads has it,
    // so that every unit meets the backward pass that was planned for it.
    if (at::GradMode::is_enabled() && !x.requires_grad())
        x = x.detach().requires_grad_(true);
    return x;
}

at::Tensor Network::runLinear(Host& host, std::size_t& index, const at::Tensor& x) const
{
    const auto& operators = m_model->operators;
    at::Tensor y = host.linear(index, x);
    while (index + 2 < operators.size() && isAdapter(operators[index + 1])) {
        // Scaled by alpha / rank = 1, as PEFT does where alpha is the rank.
        const at::Tensor narrow = host.linear(index + 1, x);
        const at::Tensor wide = host.linear(index + 2, narrow);
        y = y.add(wide);
        index += 2;
    }
    return y;
}

at::Tensor Network::runOne(Host& host, std::size_t index, const at::Tensor& x) const
{
    const Operator& op = m_model->operators[index];
    if (as<LinearTraits>(op))
        return host.linear(index, x);
    // Nothing runs: a host that saw the same tensor twice would take the second for the end of the first.
    if (const auto* dropout = as<DropoutTraits>(op); dropout && dropout->probability <= 0)
        return x;
    return host.operate(index, [&](const Weights& weights) {
        if (const auto* norm = as<NormTraits>(op))
            return normKernel(*norm, m_constants, x, weights);
        if (const auto* activation = as<ActivationTraits>(op))
            return activationKernel(activation->activation, x, at::Tensor());
        if (const auto* dropout = as<DropoutTraits>(op))
            return dropoutKernel(*dropout, x);
        return x;
    });
}

/// A part is a norm and what follows it, added to the stream (the norm may come last instead); linears that stand side by side (query,
/// key, value; gate, up) read the same tensor.
at::Tensor Network::runPart(Host& host, Part part, const at::Tensor& input) const
{
    const auto& operators = m_model->operators;
    at::Tensor x = input; // the stream
    at::Tensor h = input; // what the next operator reads
    at::Tensor scores;    // of a router
    std::vector<at::Tensor> branches;
    for (std::size_t i = part.first; i < part.last; ++i) {
        const Operator& op = operators[i];
        const bool last = i + 1 == part.last;
        if (const auto* attention = as<AttentionTraits>(op)) {
            h = host.operate(i, [&](const Weights&) {
                if (branches.size() == 1)
                    branches = branches.front().chunk(3, -1);
                return attentionKernel(*attention, m_constants, branches[0], branches[1], branches[2]);
            });
            branches.clear();
        } else if (const auto* activation = as<ActivationTraits>(op)) {
            h = host.operate(i, [&](const Weights&) {
                return activationKernel(activation->activation, branches[0], branches.size() > 1 ? branches[1] : at::Tensor());
            });
            branches.clear();
        } else if (const auto* linear = as<LinearTraits>(op)) {
            const std::size_t begin = i;
            const at::Tensor y = runLinear(host, i, h);
            const Operator* next = i + 1 == part.last ? nullptr : &operators[i + 1];
            const bool feeds = next && (as<LinearTraits>(*next) || as<AttentionTraits>(*next) || as<ActivationTraits>(*next) ||
                                        (as<NormTraits>(*next) && as<NormTraits>(*next)->ofProjection));
            if (begin == part.first && linear->in != linear->out && next && as<NormTraits>(*next) && !as<NormTraits>(*next)->ofProjection)
                x = h = y; // a projection between layers of different width
            else if (feeds)
                branches.push_back(y);
            else
                h = y;
        } else if (const auto* norm = as<NormTraits>(op); norm && norm->ofProjection) {
            // Qwen3's stand behind all three projections.
            const std::size_t which = op.name.ends_with("q_norm") ? 0 : op.name.ends_with("k_norm") ? 1 : branches.size() - 1;
            branches[which] = runOne(host, i, branches[which]);
        } else if (norm && last && i != part.first) {
            return host.operate(i, [&](const Weights& weights) { return normKernel(*norm, m_constants, x.add(h), weights); });
        } else if (const auto* router = as<RouterTraits>(op)) {
            scores = host.operate(i, [&](const Weights& weights) { return routerKernel(*router, h, weights); });
        } else if (const auto* experts = as<ExpertsTraits>(op)) {
            h = host.operate(i, [&](const Weights& weights) { return expertsKernel(*experts, h, scores, weights); });
        } else {
            h = runOne(host, i, h);
        }
    }
    return x.add(h);
}

at::Tensor Network::runLayer(Host& host, const Layer& layer, const at::Tensor& x) const
{
    return host.region(layer.front().first, layer.back().last, x, [&](const at::Tensor& input) {
        at::Tensor h = input;
        for (const Part& part : layer)
            h = host.region(part.first, part.last, h, [&](const at::Tensor& y) { return runPart(host, part, y); });
        return h;
    });
}

at::Tensor Network::hidden(Host& host, const at::Tensor& tokens) const
{
    at::Tensor x = embed(host, tokens);
    for (const Layer& layer : m_layers)
        x = runLayer(host, layer, x);
    return x;
}

void Network::runTail(Host& host, std::size_t& index, Tail& tail) const
{
    const Operator& op = m_model->operators[index];
    if (isPooled(op) && !tail.pooled.defined())
        tail.pooled = tail.tokens.narrow(1, 0, 1);
    at::Tensor& x = isPooled(op) ? tail.pooled : tail.tokens;
    x = as<LinearTraits>(op) ? runLinear(host, index, x) : runOne(host, index, x);
}

at::Tensor Network::logits(Host& host, const at::Tensor& tokens) const
{
    const auto& operators = m_model->operators;
    Tail tail{hidden(host, tokens), {}};
    for (std::size_t at = 0; at < m_tail.size(); ++at) {
        std::size_t op = m_tail[at];
        if (const auto* loss = as<LossTraits>(operators[op]); loss && loss->loss != LossKind::Classification)
            return tail.tokens;
        if (as<LossTraits>(operators[op]))
            continue;
        runTail(host, op, tail);
        at += op - m_tail[at];
    }
    return tail.pooled;
}

at::Tensor Network::loss(Host& host, const at::Tensor& tokens, const at::Tensor& targets, const at::Tensor& labels) const
{
    const auto& operators = m_model->operators;
    Tail tail{hidden(host, tokens), {}};
    at::Tensor sum;
    for (std::size_t at = 0; at < m_tail.size(); ++at) {
        std::size_t op = m_tail[at];
        const auto* traits = as<LossTraits>(operators[op]);
        if (traits == nullptr) {
            runTail(host, op, tail);
            at += op - m_tail[at];
            continue;
        }
        const bool pooled = traits->loss == LossKind::Classification;
        const at::Tensor value = host.operate(
            op, [&](const Weights&) { return lossKernel(*traits, pooled ? tail.pooled : tail.tokens, pooled ? labels : targets); });
        (pooled ? tail.pooled : tail.tokens) = at::Tensor(); // the backward pass has what it needs of them
        sum = sum.defined() ? sum.add(value) : value;
    }
    return sum;
}

} // namespace loadline
