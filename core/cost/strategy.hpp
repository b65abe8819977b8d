// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

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

/// "dp", "zdp", "d8", "zdp/4" (in 4 slices), "2of4" (the first 2 of 4 slices sharded over all ranks), "d8:2of4" (over 8),
/// with "+recompute" and "+keep": as `--pin` reads it.
std::string strategyLabel(const Strategy& strategy, std::int64_t ranks);

/// Reads what `strategyLabel` writes; "recompute" or "keep" alone leave the unit replicated or sharded over all ranks.
/// Errors: an unknown word, a group that does not divide `ranks`, more sharded slices than slices, "dp" kept.
Result<Strategy> parseStrategy(std::string_view text, std::int64_t ranks);

} // namespace loadline
