// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace loadline {

/// How one unit is stored and run: the decision that a plan takes for each unit.
struct Strategy {
    std::int64_t group = 1;          ///< d: ranks that share one copy; 1 = DP (replicated), all ranks = ZDP (sharded)
    int slices = 1;                  ///< g: split granularity
    int shardedSlices = 0;           ///< k: the first k slices are sharded over `group`, the rest replicated; group 1 <=> 0
    bool recompute = false;          ///< drop activations after forward and compute them again in backward
    bool reshardAfterForward = true; ///< false: keep the gathered copy until backward (ZeRO-2 like)

    [[nodiscard]] bool replicated() const { return shardedSlices == 0; }
    friend auto operator<=>(const Strategy&, const Strategy&) = default;
};

/// "dp", "zdp", "d8", "zdp/4", "2of4", with "+recompute" and "+keep": as `--pin` reads it.
std::string strategyLabel(const Strategy& strategy, std::int64_t ranks);

} // namespace loadline
