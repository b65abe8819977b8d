// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/cost_table.hpp"

#include <string>
#include <variant>
#include <vector>

namespace loadline {

/// Where one figure of a unit comes from: the formula in words, the same with the values put in, and what they give.
struct Derivation {
    std::string what;    ///< "optimizer state"
    std::string formula; ///< "trainable parameters here x bytes of state"
    std::string values;  ///< "2,097,152 x 8 B"
    std::variant<Bytes, Seconds> result;
    bool measured = false; ///< from a profile, not from the formula
};

/// The figures of one unit under one of its options, bytes first; figures that are 0 are left out. States, the gathered copy, compute and
/// the optimizer step are worked out here from the values shown and equal the option's (a test holds that); what is saved and
/// communicated is the option's own. `unit` and `option` must be valid. O(operators of the model).
std::vector<Derivation> derivations(const CostTable& table, std::size_t unit, std::size_t option);

} // namespace loadline
