// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/overlap_leaf.hpp"
#include "core/plan/overlap_segments.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace loadline {

/// Brings the best choice down and the bound of one leaf up, in turns: walks along the chain, segment bounds at several cuts
/// (docs/search.md). Stops where the leaf holds nothing faster than the best choice, or `goOn` says so.
class OverlapClosing {
public:
    OverlapClosing(OverlapLeaf& leaf, OverlapIncumbent& best, const SearchLimits& limits, double ticksPerSecond, std::function<bool()> goOn)
        : m_leaf(leaf), m_best(best), m_limits(limits), m_ticksPerSecond(ticksPerSecond), m_goOn(std::move(goOn))
    {
    }

    /// The cheap part: enough to tell whether the form is worth more.
    void sketch();
    void run();
    /// The fastest relaxed answer that would beat the best choice but for its peak: what the form does not see. Empty: none.
    [[nodiscard]] const Places& exceeding() const { return m_exceeding; }
    [[nodiscard]] std::int64_t work() const { return m_work; } ///< beside the leaf's and the incumbent's own

private:
    [[nodiscard]] bool open() const;
    void improve();
    void segmentsWhileBetter(std::size_t period, std::size_t offset);
    double segmentBound(const OverlapPiece& piece, std::size_t period, std::size_t offset);
    SegmentBound solve(const SegmentRequest& request);
    void proposeLess(SegmentRequest request, const SegmentBound& first);
    void beam(std::size_t width, bool near, bool known);
    void keepKnown(OptionLists& lists) const;
    void drawLine(struct BeamRequest& request) const;
    template <class Bound>
    void forEachPiece(Bound&& bound);

    OverlapLeaf& m_leaf;
    OverlapIncumbent& m_best;
    const SearchLimits& m_limits;
    double m_ticksPerSecond;
    std::function<bool()> m_goOn;
    std::vector<Places> m_pool; ///< choices worth mixing
    Places m_exceeding;
    double m_exceedingSeconds = std::numeric_limits<double>::infinity();
    std::int64_t m_work = 0;
};

} // namespace loadline
