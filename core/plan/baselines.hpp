// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/planner.hpp"

#include <string>
#include <vector>

namespace loadline {

/// A known way to choose, priced with the same cost model.
struct Baseline {
    std::string name;      ///< "all DP", "all ZDP (FSDP)", "ZeRO-2", "HSDP", "greedy (DeepCompile)", "OSDP release"
    bool available = true; ///< false where the cluster has no such choice; `note` says why
    Bytes peak;
    Seconds objective; ///< in the same time mode as the plan's
    Bytes shortBy;     ///< > 0: does not fit the budget, by so much
    Choice choice;
    std::string note;
};

std::vector<Baseline> baselines(const CostTable& table, Bytes budget);

} // namespace loadline
