// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/plan/planner.hpp"

#include <cstdint>
#include <vector>

namespace loadline {

/// One setting of the outer loops, with a range of recomputed blocks still open.
struct Candidate {
    std::int64_t batch = 1;
    std::int64_t accumulation = 1;
    std::int64_t fewestRecomputed = 0;
    std::int64_t mostRecomputed = 0;
    RecomputedPart part = RecomputedPart::Block; ///< of each recomputed block

    [[nodiscard]] bool single() const { return fewestRecomputed == mostRecomputed; }
    friend auto operator<=>(const Candidate&, const Candidate&) = default;
};

/// All settings that `request` leaves open, by batch ascending. Errors: a global batch that no batch and accumulation
/// give, an accumulation to be chosen without a global batch, numbers below 1.
Result<std::vector<Candidate>> candidatesOf(const PlanRequest& request);

/// `setup` with the candidate's batch, accumulation and part, and `recomputed` blocks.
Setup setupOf(const Setup& setup, const Candidate& candidate, std::int64_t recomputed);

} // namespace loadline
