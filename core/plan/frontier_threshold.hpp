// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/knapsack_effort.hpp"
#include "core/plan/knapsack_prepared.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace loadline::knapsack {

/// Bytes strictly ascending, ticks strictly descending.
using Stair = std::vector<FrontierPoint>;

/// The lower of two stairs.
void mergeStairs(const Stair& a, const Stair& b, Stair& out);

/// All corners under one threshold that lie below a known stair, docs/search.md, 9.
class ThresholdFrontier {
public:
    ThresholdFrontier(const Prepared& problem, Effort& effort) : m_problem(problem), m_effort(effort) {}

    /// Takes up a threshold. False if no group assignment under it exists.
    bool open(std::int64_t threshold);

    /// False if even the relaxation lies above the stair everywhere: nothing under the threshold is news.
    bool canImprove(const Stair& stair);

    /// Adds the corners of the relaxation that are whole assignments: a first stair.
    void addWholeCorners(Stair& stair);

    /// Lowers `stair` by what assignments under the threshold reach, with at most `most` states in a list. True if nothing was
    /// dropped on the way, so that the threshold has nothing more to give.
    bool improve(Stair& stair, std::size_t most);

    /// Points that the last `improve` found below the stair.
    [[nodiscard]] std::size_t gained() const { return m_gained; }

private:
    /// A piece of the relaxation's trade-off: one price.
    struct Segment {
        double price = 0;
        std::int64_t bytes = 0; ///< where it starts
        std::int64_t ticks = 0;
        std::int64_t endBytes = 0;
        double gap = 0; ///< most ticks above the relaxation at which a point can still lie below the stair
    };
    /// Of the groups a list has taken in: the least ticks + price x bytes at each segment's price.
    using Values = std::vector<double>;

    bool measureGaps(const Stair& stair);
    [[nodiscard]] std::vector<std::uint32_t> groupOrder() const;
    void groupValues(std::uint32_t group, Values& values) const;
    [[nodiscard]] Stair optionStair(std::uint32_t group) const;
    Stair allCopies(std::uint32_t group, const Values& one);
    /// All sums of a point of each that can still matter. `below`, if any, is the stair that sums of all
    /// groups must get below.
    Stair combine(const Stair& a, const Values& aValues, const Stair& b, const Values& bValues, const Stair* below);

    void drawEnvelope(const Values& values);
    void drawCeiling(const Stair& stair, const FrontierPoint& fixed, std::size_t bins);
    void addUnderEnvelope(const Stair& from, std::size_t first, std::size_t end, const FrontierPoint& shift, Stair& out);
    void mergeTopTwo(std::size_t depth);
    void reachOf(const Stair& list, const Values& values, std::vector<std::uint32_t>& low, std::vector<std::uint32_t>& high) const;
    void thin(Stair& list);
    [[nodiscard]] double height(std::size_t line, double bytes) const { return m_lines[line].height - m_lines[line].price * bytes; }

    struct Line {
        double height = 0;
        double price = 0;
    };

    struct Pending {
        Stair stair;
        int rank = 0; ///< doublings so far
    };
    /// For each of many equal bins of bytes, ticks that some point before the bin has: points in it that are no faster are
    /// beaten. A little too high, one look-up a point; it spares merging what the merge would drop.
    struct Ceiling {
        std::int64_t start = 0;
        double scale = 0;
        std::size_t last = 0;
        std::vector<std::int64_t> ticks;

        void reset(std::int64_t firstBytes, std::int64_t lastBytes, std::size_t bins);
        [[nodiscard]] std::size_t binOf(std::int64_t bytes) const
        {
            const double bin = static_cast<double>(bytes - start) * scale;
            return bin <= 0 ? 0 : std::min(static_cast<std::size_t>(bin), last);
        }
    };

    const Prepared& m_problem;
    Effort& m_effort;
    std::int64_t m_threshold = 0;
    std::size_t m_most = 0;
    std::size_t m_gained = 0;
    bool m_thinned = false;
    std::vector<std::uint32_t> m_levels;
    std::vector<Segment> m_segments; ///< by price descending; the last has price 0
    std::vector<Line> m_lines;       ///< upper envelope, for bytes ascending
    Ceiling m_ceiling;
    FrontierPoint m_fixed;        ///< groups that have no choice, and the threshold
    std::vector<Pending> m_stack; ///< keeps its memory
    Stair m_merged;
    std::vector<std::uint32_t> m_low, m_high, m_otherLow, m_otherHigh;
};

} // namespace loadline::knapsack
