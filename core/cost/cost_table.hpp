// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/cost/setup.hpp"
#include "core/cost/strategy.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace loadline {

/// What one unit costs under one strategy, on one rank. Bytes that stay and bytes that pass; seconds of one step.
struct OptionCost {
    Strategy strategy;

    Bytes parameters;        ///< stored weights and master copies
    Bytes optimizer;         ///< optimizer state
    Bytes gradients;         ///< local gradients, from this unit's backward until the step
    Bytes steadyGradients;   ///< the part of `gradients` that is alive all the step (accumulation, preset flat buffers)
    Bytes saved;             ///< activations from forward to backward; under recompute only what the region keeps
    Bytes kept;              ///< gathered or cast copies held from forward to the end of this unit's backward
    Bytes gathered;          ///< full copy of the largest slice while it runs, unless `kept`
    Bytes gatheredBackward;  ///< likewise in backward; an embedding may need none
    Bytes forwardTransient;  ///< all that is alive only while its forward runs, `gathered` included
    Bytes backwardTransient; ///< likewise in backward: gathered copy, full gradient, workspace; less what it frees on the way
    Bytes stepTransient;     ///< its share of what the optimizer step adds

    // What a runtime holds beside the unit that runs; all 0 where the rules have no such thing (docs/memory-model.md).
    Bytes recomputed;         ///< activations that recomputation brings back, from then to the end of this unit's backward
    Bytes recomputeTransient; ///< all that is alive only while its forward is computed again
    Bytes input;              ///< the tensor it reads: alive while it is gathered, before it runs
    Bytes gatherTemporary;    ///< alive in the gather alone: what is not cut along dimension 0 is put in order through a copy
    Bytes forwardBuffer;      ///< what a gather in flight holds beside the neighbour in forward
    Bytes backwardBuffer;     ///< likewise in backward; 0 if the copy is kept
    Bytes reduceBuffer;       ///< gradient being reduced while the next unit's backward runs (one slice)
    Bytes reduceTransient;    ///< alive while its gradient is reduced, after its activations are freed
    Bytes fullGradient;       ///< full gradient of the largest slice: what a later use of tied parameters adds
    Bytes backwardGradient;   ///< the part of `backwardTransient` that is full gradient (for the chart)
    Bytes heldGradient;       ///< full gradient from its backward to the end of backward (root unit)
    Bytes averaged;           ///< its gradient as replicas averaged it, in the reduction's type, from its backward to the end of backward
    Bytes keptToEnd;          ///< gathered copy from the start of forward to the end of backward (root unit)
    Bytes finalBuffer;        ///< what the root unit's reduction at the end of backward adds

    Seconds forwardCompute;
    Seconds backwardCompute; ///< recomputation included
    Seconds gatherForward;
    Seconds gatherBackward; ///< includes the gather of a recomputation where the rules have one
    Seconds reduce;         ///< reduce-scatter and all-reduce of gradients
    Seconds scatter;        ///< of `reduce`: what recurs in every micro-step (reduce-scatters into shards); the rest is once a step
    Seconds step;           ///< optimizer

    /// Buffers between slices of one unit, already in the transients.
    [[nodiscard]] Bytes innerForward() const { return strategy.slices > 1 ? forwardBuffer : Bytes(); }
    [[nodiscard]] Bytes innerBackward() const
    {
        if (strategy.slices == 1)
            return Bytes();
        // Of two slices the first has the gather of the second beside it, the second the reduction of the first.
        return strategy.slices == 2 ? (backwardBuffer > reduceBuffer ? backwardBuffer : reduceBuffer) : backwardBuffer + reduceBuffer;
    }
    /// Alive at the end of forward because of this unit: what a bound adds over all units.
    [[nodiscard]] Bytes persistent() const { return states() + saved + kept + keptToEnd; }

    [[nodiscard]] Bytes states() const { return parameters + optimizer + gradients; }
    [[nodiscard]] Seconds compute() const { return forwardCompute + backwardCompute + step; }
    [[nodiscard]] Seconds communication() const { return gatherForward + gatherBackward + reduce; }
    [[nodiscard]] Seconds serial() const { return compute() + communication(); }
    friend bool operator==(const OptionCost&, const OptionCost&) = default;
};

/// What is planned as one, with every choice it has.
struct Unit {
    std::string name;                   ///< of its operator, its part ("model.layers.3.mlp") or its block
    std::vector<std::size_t> operators; ///< that run here: indices in Model::operators, execution order
    std::vector<std::size_t> holds;     ///< operators whose parameters this unit stores (the root unit's run elsewhere too)
    std::vector<std::size_t> borrows;   ///< units whose (tied) parameters it uses too
    bool root = false;                  ///< the root unit of a runtime that has one
    Place place = Place::Layer;
    int layer = -1;
    std::int64_t parameters = 0; ///< of `holds`
    bool estimated = true;       ///< some compute time does not come from a measurement
    std::size_t costClass = 0;   ///< units of one class have equal `options`, in equal order
};

/// The whole question in numbers. Units in execution order of forward; backward runs them in reverse.
struct CostTable {
    std::vector<Unit> units;
    std::vector<std::vector<OptionCost>> classOptions; ///< [costClass] -> options
    Bytes overhead;                                    ///< context, communicators, allocator; alive all the time
    Bytes constant;                                    ///< inputs, labels: alive all the time, not a choice
    Setup setup;

    [[nodiscard]] const std::vector<OptionCost>& options(std::size_t unit) const { return classOptions[units[unit].costClass]; }
};

/// Builds the table; errors name the setting that cannot be (a group that does not divide the ranks, a batch of 0).
/// O(operators x options). Thread-safe: reads `setup` only.
Result<CostTable> buildCostTable(const Setup& setup);

/// One option index per unit of a CostTable.
using Choice = std::vector<std::uint32_t>;

} // namespace loadline
