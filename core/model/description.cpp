// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/description.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace loadline {

std::int64_t TokenCount::of(std::int64_t sequence) const
{
    if (fixed > 0)
        return fixed;
    return most > 0 ? std::min(most, sequence) : sequence;
}

std::int64_t Parameter::count() const
{
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t Operator::parameterCount() const
{
    return std::accumulate(parameters.begin(), parameters.end(), std::int64_t{0},
                           [](std::int64_t sum, const Parameter& p) { return sum + p.count(); });
}

std::int64_t Operator::trainableCount() const
{
    return std::accumulate(parameters.begin(), parameters.end(), std::int64_t{0},
                           [](std::int64_t sum, const Parameter& p) { return p.trainable ? sum + p.count() : sum; });
}

std::int64_t Model::parameterCount() const
{
    return std::accumulate(operators.begin(), operators.end(), std::int64_t{0},
                           [](std::int64_t sum, const Operator& op) { return sum + op.parameterCount(); });
}

std::int64_t Model::trainableCount() const
{
    return std::accumulate(operators.begin(), operators.end(), std::int64_t{0},
                           [](std::int64_t sum, const Operator& op) { return sum + op.trainableCount(); });
}

int Model::layerCount() const
{
    int last = -1;
    for (const auto& op : operators)
        last = std::max(last, op.layer);
    return last + 1;
}

} // namespace loadline
