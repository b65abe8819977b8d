// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/description.hpp"

#include <algorithm>

namespace loadline {
namespace {

/// What a count says that does not fit in 64 bits; readers refuse far smaller ones.
constexpr std::int64_t kUncountable = INT64_MAX;

/// Sums what `countOf` says of each item; stays at kUncountable once it is reached.
template <class Items, class CountOf>
std::int64_t countAll(const Items& items, CountOf countOf)
{
    std::int64_t sum = 0;
    for (const auto& item : items)
        if (__builtin_add_overflow(sum, countOf(item), &sum))
            return kUncountable;
    return sum;
}

} // namespace

std::int64_t TokenCount::of(std::int64_t sequence) const
{
    if (fixed > 0)
        return fixed;
    return most > 0 ? std::min(most, sequence) : sequence;
}

std::int64_t Parameter::count() const
{
    std::int64_t product = 1;
    for (const std::int64_t extent : shape)
        if (__builtin_mul_overflow(product, extent, &product))
            return kUncountable;
    return product;
}

std::int64_t Operator::parameterCount() const
{
    return countAll(parameters, [](const Parameter& p) { return p.count(); });
}

std::int64_t Operator::trainableCount() const
{
    return countAll(parameters, [](const Parameter& p) { return p.trainable ? p.count() : 0; });
}

std::int64_t Model::parameterCount() const
{
    return countAll(operators, [](const Operator& op) { return op.parameterCount(); });
}

std::int64_t Model::trainableCount() const
{
    return countAll(operators, [](const Operator& op) { return op.trainableCount(); });
}

int Model::layerCount() const
{
    int last = -1;
    for (const auto& op : operators)
        last = std::max(last, op.layer);
    return last + 1;
}

} // namespace loadline
