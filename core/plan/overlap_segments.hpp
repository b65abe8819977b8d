// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/knapsack.hpp"
#include "core/plan/overlap_dual.hpp"

#include <cstdint>
#include <vector>

namespace loadline {

struct SegmentRequest {
    OverlapPiece piece;
    double price = 0;
    double upper = 0; ///< seconds of a choice that is known to fit: only faster ones are looked for
    std::size_t period = 8;
    std::size_t offset = 0;       ///< of the first cut
    std::size_t contentCap = 512; ///< contents kept at one option of one unit; beyond it neighbours are joined, which weakens the bound
    std::int64_t reserve = 0;     ///< bytes left free: proposals then fit where the form promises too much, and nothing is proven
    double ticksPerSecond = 1e12;
    SearchLimits limits;
};

struct SegmentBound {
    double bound = 0;                                  ///< no choice of the piece that fits takes fewer seconds; `upper` if none is faster
    std::vector<std::vector<std::uint32_t>> proposals; ///< choices made of the relaxed answer: often good, not checked
    std::int64_t work = 0;
    bool cancelled = false;
};

/// The chain is cut into segments, a period each; every content of a segment costs what it adds to the dual's cost-to-go; one exact
/// knapsack over the segments then weighs those costs against memory. Proof: docs/search.md.
SegmentBound boundBySegments(OverlapLabels& labels, const SegmentRequest& request);

/// After how many units the chain repeats itself; 8 where it does not.
std::size_t periodOf(const std::vector<std::size_t>& groupOfUnit);

} // namespace loadline
