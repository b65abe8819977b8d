// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/model_builder.hpp"

#include <fmt/format.h>

namespace loadline {

void ModelBuilder::enter(Place place, int layer)
{
    m_place = place;
    m_layer = layer;
    m_part.clear();
}

Operator& ModelBuilder::add(std::string name, Traits traits)
{
    Operator op;
    op.name = std::move(name);
    op.place = m_place;
    op.layer = m_layer;
    op.part = m_part;
    op.traits = traits;
    op.tokens = m_tokens;
    model.operators.push_back(std::move(op));
    return model.operators.back();
}

void ModelBuilder::parameter(std::string_view suffix, std::vector<std::int64_t> shape)
{
    namedParameter(fmt::format("{}.{}", model.operators.back().name, suffix), std::move(shape));
}

void ModelBuilder::namedParameter(std::string name, std::vector<std::int64_t> shape, bool trainable)
{
    std::int64_t count = 1;
    for (const auto size : shape) {
        // Beyond the limit the exact value does not matter, only that nothing overflows.
        if (__builtin_mul_overflow(count, size, &count) || count > kMostParameters)
            count = kMostParameters + 1;
    }
    if (tooLarge() || m_count + count > kMostParameters) {
        m_count = kMostParameters + 1;
        return;
    }
    m_count += count;
    model.operators.back().parameters.push_back({std::move(name), std::move(shape), trainable});
}

Operator& ModelBuilder::embedding(const std::string& name, std::int64_t rows, std::int64_t width, bool positions)
{
    add(name, EmbeddingTraits{rows, width, positions});
    parameter("weight", {rows, width});
    return model.operators.back();
}

Operator& ModelBuilder::linear(const std::string& name, std::int64_t in, std::int64_t out, LinearOptions options)
{
    add(name, LinearTraits{in, out, options.savesInput, options.castsInput});
    if (options.conv1d)
        parameter("weight", {in, out});
    else
        parameter("weight", {out, in});
    if (options.bias)
        parameter("bias", {out});
    return model.operators.back();
}

Operator& ModelBuilder::norm(const std::string& name, NormTraits traits, bool bias)
{
    add(name, traits);
    parameter("weight", {traits.width});
    if (bias)
        parameter("bias", {traits.width});
    return model.operators.back();
}

void ModelBuilder::dropout(const std::string& name, std::int64_t width, double probability)
{
    add(name, DropoutTraits{width, probability});
}

} // namespace loadline
