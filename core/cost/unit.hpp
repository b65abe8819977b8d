// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/cost/cost_table.hpp"
#include "core/cost/setup.hpp"

#include <string>
#include <vector>

namespace loadline {

/// Cuts the model into units in execution order; costs are not filled in. Errors: a model without operators, an operator that
/// shares parameters with a name that no operator before it has.
///
/// Inside layers: every operator, every run of operators of one part, or every layer. Outside: every operator by itself.
/// Rules with a root unit: what no unit of its own wraps (outside layers all; with units of one operator all but linears,
/// routers, experts and convolutions; tied heads always) is stored by the unit "root", which stands where the first of them
/// runs; the others still run where they stand, as units without parameters. One rank has no root unit: nothing is gathered.
Result<std::vector<Unit>> buildUnits(const Setup& setup);

/// True if recomputation is set for this unit: `setup.recomputedPart` of the first `setup.recomputedBlocks` layers.
bool isRecomputed(const Setup& setup, const Unit& unit);

/// True where a run of recomputed units begins: its first unit keeps what it reads.
bool startsRegion(const Setup& setup, const std::vector<Unit>& units, std::size_t index);

/// The module of an operator's layer: "model.layers.3" of "model.layers.3.mlp.up_proj", up to and with the first number; the whole name if
/// there is none.
std::string blockName(const std::string& name);

} // namespace loadline
