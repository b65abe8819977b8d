// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/cost_table.hpp"

#include <QString>

namespace loadline {

/// A unit's name taken apart at its block number: "model.layers.12.mlp.down_proj" is stack "model.layers", block 12,
/// kind "mlp.down_proj". Outside blocks: block −1 and the kind is the last part of the name.
struct UnitName {
    QString stack;
    int block = -1;
    QString kind; ///< empty where a whole block is the unit
};

UnitName unitName(const Unit& unit);

/// "mlp.down_proj in 12", "lm_head": short enough for a label.
QString shortUnitName(const Unit& unit);

} // namespace loadline
