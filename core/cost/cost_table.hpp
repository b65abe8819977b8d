// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/cost/setup.hpp"
#include "core/cost/strategy.hpp"

#include <string>
#include <vector>

namespace loadline {

/// What one unit costs under one strategy, on one rank. Bytes that stay and bytes that pass; seconds of one step.
struct OptionCost {
    Strategy strategy;

    Bytes parameters;        ///< stored weights and master copies
    Bytes optimizer;         ///< optimizer state
    Bytes gradients;         ///< from this unit's backward until the step (from the start with accumulation, where the rules say so)
    Bytes saved;             ///< activations from forward to backward; under recompute only what the region keeps
    Bytes kept;              ///< gathered or cast copies held from forward to the end of this unit's backward
    Bytes gathered;          ///< full copy of the largest slice while it runs
    Bytes forwardTransient;  ///< all that is alive only while its forward runs, `gathered` included
    Bytes backwardTransient; ///< likewise in backward: gathered copy, full gradient, buffers, workspace, recomputed activations
    Bytes stepTransient;     ///< its share of what the optimizer step adds

    Seconds forwardCompute;
    Seconds backwardCompute; ///< recomputation included
    Seconds gatherForward;
    Seconds gatherBackward; ///< includes the gather of a recomputation where the rules have one
    Seconds reduce;         ///< reduce-scatter and all-reduce of gradients
    Seconds step;           ///< optimizer

    [[nodiscard]] Bytes states() const { return parameters + optimizer + gradients; }
    [[nodiscard]] Seconds compute() const { return forwardCompute + backwardCompute + step; }
    [[nodiscard]] Seconds communication() const { return gatherForward + gatherBackward + reduce; }
    [[nodiscard]] Seconds serial() const { return compute() + communication(); }
    friend bool operator==(const OptionCost&, const OptionCost&) = default;
};

/// What is planned as one, with every choice it has.
struct Unit {
    std::string name;                   ///< of its operator, its part ("model.layers.3.mlp") or its block
    std::vector<std::size_t> operators; ///< indices in Model::operators, execution order
    Place place = Place::Layer;
    int layer = -1;
    std::int64_t parameters = 0;
    bool estimated = true;     ///< some compute time does not come from a measurement
    std::size_t costClass = 0; ///< units of one class have equal `options`, in equal order
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
