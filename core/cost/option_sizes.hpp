// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/cost_table.hpp"
#include "core/cost/setup.hpp"
#include "core/cost/strategy.hpp"

#include <cstdint>
#include <vector>

namespace loadline {

/// Elements of one slice of a unit under one strategy; a unit that is not split is one slice.
struct SliceSizes {
    bool sharded = false;
    std::int64_t full = 0;            ///< as the model describes it
    std::int64_t trainable = 0;       ///< of them
    std::int64_t padded = 0;          ///< what a gather makes: whole shards of every rank
    std::int64_t paddedTrainable = 0; ///< what a reduction reads
    std::int64_t acrossRows = 0;      ///< of `padded`, what is not cut along dimension 0
    std::int64_t local = 0;           ///< stored by the rank that stores most
    std::int64_t localTrainable = 0;
    std::int64_t localFactors = 0; ///< rows and columns of a factored second moment (Adafactor), trainable parameters only
};

/// The slices of `unit` under `strategy`. Shards are whole rows of dimension 0 of each parameter, ceil(dim0 / d) x rest
/// (FSDP2), or whole elements of the unit's flat buffer, ceil(all / d). Experts are split by expert, or along
/// dimension 1 where there are more ranks than experts and that divides (`setup.shardExpertsOnDim1`).
/// Slice s of a linear has input features [s in / g, (s + 1) in / g), uneven ones first; the bias goes with slice 0.
std::vector<SliceSizes> sliceSizes(const Setup& setup, const Unit& unit, const Strategy& strategy);

/// Dimension of a parameter of `op` that is cut into shards where whole rows are: 0, or 1 for experts beyond as many ranks.
std::size_t shardDimension(const Setup& setup, const Operator& op, const std::vector<std::int64_t>& shape, std::int64_t group);

/// `elements` x `bytesPerElement`, rounded up.
Bytes bytesOf(std::int64_t elements, double bytesPerElement);

} // namespace loadline
