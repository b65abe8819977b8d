// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/option_sizes.hpp"

#include <algorithm>
#include <cmath>

namespace loadline {
namespace {

using Shape = std::vector<std::int64_t>;

std::int64_t product(const Shape& shape)
{
    std::int64_t count = 1;
    for (const std::int64_t extent : shape)
        count *= extent;
    return count;
}

/// Rows and columns that a factored second moment keeps; a vector keeps itself.
std::int64_t factors(const Shape& shape)
{
    if (shape.size() < 2)
        return product(shape);
    const std::int64_t last = std::max<std::int64_t>(shape.back(), 1);
    const std::int64_t beforeLast = std::max<std::int64_t>(shape[shape.size() - 2], 1);
    const std::int64_t all = product(shape);
    return all / last + all / beforeLast;
}

/// The part of a linear's parameter that belongs to slice `slice` of `slices`; no elements if none does. A slice is a linear
/// of its own, stored out x in/g (as the FSDP2 export does), also where the model stores in x out (GPT-2's Conv1D).
Shape slicedShape(const Operator& op, const Shape& shape, int slices, int slice)
{
    const auto* linear = std::get_if<LinearTraits>(&op.traits);
    if (slices == 1 || !linear)
        return shape;
    if (shape.size() < 2) // the bias goes with the first slice
        return slice == 0 ? shape : Shape{0};
    const std::int64_t in = linear->in / slices + (slice < linear->in % slices ? 1 : 0);
    const std::int64_t out = ceilDiv(product(shape), std::max<std::int64_t>(linear->in, 1));
    return {out, in};
}

void addParameter(SliceSizes& sizes, const Setup& setup, const Operator& op, const Parameter& parameter, Shape shape, std::int64_t group)
{
    const std::int64_t full = product(shape);
    sizes.full += full;
    if (parameter.trainable)
        sizes.trainable += full;
    if (full == 0)
        return;
    std::int64_t local = full;
    bool acrossRows = false;
    if (group > 1 && setup.rules.padsDimension0 && !shape.empty()) {
        const std::size_t dimension = shardDimension(setup, op, shape, group);
        shape[dimension] = ceilDiv(shape[dimension], group);
        local = product(shape);
        acrossRows = dimension > 0;
    }
    sizes.local += local;
    sizes.padded += local * group;
    sizes.acrossRows += acrossRows ? local * group : 0;
    if (parameter.trainable) {
        sizes.localTrainable += local;
        sizes.paddedTrainable += local * group;
        sizes.localFactors += factors(shape);
    }
}

/// One flat buffer, cut into whole elements; trainable and frozen parameters have a buffer each.
void flatten(SliceSizes& sizes, std::int64_t group)
{
    const std::int64_t frozen = ceilDiv(sizes.full - sizes.trainable, group);
    sizes.localTrainable = ceilDiv(sizes.trainable, group);
    sizes.local = sizes.localTrainable + frozen;
    sizes.paddedTrainable = sizes.localTrainable * group;
    sizes.padded = sizes.local * group;
}

} // namespace

std::size_t shardDimension(const Setup& setup, const Operator& op, const Shape& shape, std::int64_t group)
{
    const bool experts = std::holds_alternative<ExpertsTraits>(op.traits) && shape.size() >= 3;
    // FSDP2 shards another dimension than 0 only where it divides evenly.
    return experts && setup.shardExpertsOnDim1 && shape[0] < group && shape[1] % group == 0 ? 1 : 0;
}

Bytes bytesOf(std::int64_t elements, double bytesPerElement)
{
    const auto whole = static_cast<std::int64_t>(bytesPerElement);
    if (static_cast<double>(whole) == bytesPerElement)
        return Bytes(elements * whole);
    return Bytes(static_cast<std::int64_t>(std::ceil(static_cast<double>(elements) * bytesPerElement)));
}

std::vector<SliceSizes> sliceSizes(const Setup& setup, const Unit& unit, const Strategy& strategy)
{
    const std::int64_t allRanks = setup.cluster.ranks();
    std::vector<SliceSizes> slices(static_cast<std::size_t>(strategy.slices));
    for (int s = 0; s < strategy.slices; ++s) {
        SliceSizes& sizes = slices[static_cast<std::size_t>(s)];
        sizes.sharded = s < strategy.shardedSlices;
        // osdp-release: what is called DP is one root unit, sharded over all ranks.
        const bool rooted = !sizes.sharded && setup.rules.replicatedIsRootUnit;
        const std::int64_t group = sizes.sharded ? strategy.group : (rooted ? allRanks : 1);
        for (const std::size_t index : unit.holds) {
            const Operator& op = setup.model->operators[index];
            for (const Parameter& parameter : op.parameters)
                addParameter(sizes, setup, op, parameter, slicedShape(op, parameter.shape, strategy.slices, s), group);
        }
        if (!setup.rules.padsDimension0)
            flatten(sizes, group);
    }
    return slices;
}

} // namespace loadline
