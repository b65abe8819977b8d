// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "profiler/measure/links.hpp"
#include "profiler/measure/links_timing.hpp"

namespace loadline {

/// What one rank saw: alone, and both at once.
struct OverlapTimes {
    double compute = 0;      ///< seconds of the work alone
    double transfer = 0;     ///< seconds of the collective alone, longer than the work
    double both = 0;         ///< from starting both to the end of the work
    double bothToTheEnd = 0; ///< from starting both to the end of the collective
};

/// Slow-downs out of those: the work takes both / compute times as long. What was left of the collective when the work ended ran
/// alone, so `transfer - (bothToTheEnd - both)` seconds of it went on meanwhile, in `both` seconds. Each from 1 to 100.
OverlapFactors overlapOf(const OverlapTimes& times);

/// One collective of `bytes`, which takes `seconds` alone, against matrix products in all ranks. Collective.
OverlapRow measureOverlap(Communicator& world, Communicator& group, ComputeDevice& device, const LinkGroup& kind, Collective collective,
                          std::int64_t bytes, double seconds);

} // namespace loadline
