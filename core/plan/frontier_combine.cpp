// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/frontier_threshold.hpp"

#include <algorithm>
#include <limits>

namespace loadline::knapsack {
namespace {

constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kNoBin = std::numeric_limits<std::size_t>::max();

} // namespace

/// A sum (m, t) of some groups can still lead below the stair only if at some segment's price its reduced cost
/// t + price x m - value is at most the segment's gap: only if it lies under one of these lines.
void ThresholdFrontier::drawEnvelope(const Values& values)
{
    m_lines.clear();
    for (std::size_t s = 0; s < m_segments.size(); ++s) {
        if (m_segments[s].gap < 0)
            continue;
        const Line line{m_segments[s].gap + values[s], m_segments[s].price};
        while (!m_lines.empty()) {
            const Line& last = m_lines.back();
            if (m_lines.size() == 1) {
                if (line.height >= last.height && line.price <= last.price) { // above it everywhere
                    m_lines.pop_back();
                    continue;
                }
                break;
            }
            const Line& before = m_lines[m_lines.size() - 2];
            const double meetsNew = (before.height - line.height) / (before.price - line.price);
            const double meetsLast = (before.height - last.height) / (before.price - last.price);
            if (meetsNew > meetsLast)
                break;
            m_lines.pop_back();
        }
        m_lines.push_back(line);
    }
}

void ThresholdFrontier::addUnderEnvelope(const Stair& from, std::size_t first, std::size_t end, const FrontierPoint& shift, Stair& out)
{
    if (out.size() < end - first)
        out.resize(end - first);
    FrontierPoint* last = out.data();
    std::size_t line = 0;
    std::size_t reached = kNoBin; // bins up to here know of the last point added
    for (std::size_t i = first; i < end; ++i) {
        const FrontierPoint point{from[i].bytes + shift.bytes, from[i].ticks + shift.ticks};
        const auto bytes = static_cast<double>(point.bytes);
        double most = height(line, bytes);
        while (line + 1 < m_lines.size()) {
            const double next = height(line + 1, bytes);
            if (next < most)
                break;
            most = next;
            ++line;
        }
        if (static_cast<double>(point.ticks) > most)
            continue;
        const std::size_t bin = m_ceiling.binOf(point.bytes);
        if (reached != kNoBin)
            for (; reached < bin; ++reached)
                m_ceiling.ticks[reached + 1] = std::min(m_ceiling.ticks[reached + 1], last[-1].ticks);
        if (point.ticks >= m_ceiling.ticks[bin])
            continue;
        reached = bin;
        *last++ = point;
    }
    if (reached != kNoBin)
        m_ceiling.ticks[reached + 1] = std::min(m_ceiling.ticks[reached + 1], last[-1].ticks);
    out.resize(static_cast<std::size_t>(last - out.data()));
}

void ThresholdFrontier::Ceiling::reset(std::int64_t firstBytes, std::int64_t lastBytes, std::size_t bins)
{
    start = firstBytes;
    scale = static_cast<double>(bins) / (static_cast<double>(lastBytes - firstBytes) + 1);
    last = bins + 1;
    ticks.assign(bins + 3, kFar);
}

/// Sums of all groups are points of the trade-off: they must lie below the stair itself.
void ThresholdFrontier::drawCeiling(const Stair& stair, const FrontierPoint& fixed, std::size_t bins)
{
    m_ceiling.reset(stair.front().bytes - fixed.bytes, stair.back().bytes - fixed.bytes, bins);
    for (const FrontierPoint& corner : stair) {
        // Points before the corner's own bin do not reach it; those in it may. From the next bin on all do.
        std::int64_t& ticks = m_ceiling.ticks[m_ceiling.binOf(corner.bytes - fixed.bytes) + 1];
        ticks = std::min(ticks, corner.ticks - fixed.ticks);
    }
    for (std::size_t bin = 1; bin < m_ceiling.ticks.size(); ++bin)
        m_ceiling.ticks[bin] = std::min(m_ceiling.ticks[bin], m_ceiling.ticks[bin - 1]);
}

/// For each point the first and last segment whose gap still admits it; made monotone, so that ranges can be searched.
void ThresholdFrontier::reachOf(const Stair& list, const Values& values, std::vector<std::uint32_t>& low,
                                std::vector<std::uint32_t>& high) const
{
    double widest = 0;
    for (const Segment& segment : m_segments)
        widest = std::max(widest, segment.gap);
    const auto count = static_cast<std::uint32_t>(m_segments.size());
    low.resize(list.size());
    high.resize(list.size());
    std::int64_t steps = 0;
    std::uint32_t cheapest = 0; // segment with the least reduced cost; moves up with the bytes
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto cost = [&](std::uint32_t s) {
            return static_cast<double>(list[i].ticks) + m_segments[s].price * static_cast<double>(list[i].bytes) - values[s];
        };
        while (cheapest + 1 < count && cost(cheapest + 1) <= cost(cheapest))
            ++cheapest;
        low[i] = count;
        high[i] = 0;
        const auto note = [&](std::uint32_t s) {
            ++steps;
            const double now = cost(s);
            if (now <= m_segments[s].gap) {
                low[i] = std::min(low[i], s);
                high[i] = std::max(high[i], s + 1);
            }
            return now <= widest; // the reduced cost is convex along the segments: beyond the widest gap it stays there
        };
        for (std::uint32_t s = cheapest + 1; s-- > 0;)
            if (!note(s))
                break;
        for (std::uint32_t s = cheapest + 1; s < count; ++s)
            if (!note(s))
                break;
        if (steps >= 16'384) {
            if (!m_effort.spend(steps / 4))
                return; // the caller gives up too
            steps = 0;
        }
    }
    for (std::size_t i = 1; i < list.size(); ++i)
        high[i] = std::max(high[i], high[i - 1]);
    for (std::size_t i = list.size(); i-- > 1;)
        low[i - 1] = std::min(low[i - 1], low[i]);
}

Stair ThresholdFrontier::combine(const Stair& a, const Values& aValues, const Stair& b, const Values& bValues, const Stair* below)
{
    const bool aIsShort = a.size() <= b.size();
    const Stair &small = aIsShort ? a : b, &large = aIsShort ? b : a;
    const Values &smallValues = aIsShort ? aValues : bValues, &largeValues = aIsShort ? bValues : aValues;
    Values values(aValues.size());
    for (std::size_t s = 0; s < values.size(); ++s)
        values[s] = aValues[s] + bValues[s];
    drawEnvelope(values);
    if (m_lines.empty() || small.empty())
        return {};
    const bool useReach = small.size() > 8;
    if (useReach) {
        reachOf(small, smallValues, m_low, m_high);
        reachOf(large, largeValues, m_otherLow, m_otherHigh);
        if (m_effort.stopped())
            return {};
    }
    const std::size_t bins = std::clamp<std::size_t>(2 * large.size(), 256, std::size_t{1} << 19);
    if (below)
        drawCeiling(*below, m_fixed, bins);
    else
        m_ceiling.reset(a.front().bytes + b.front().bytes, a.back().bytes + b.back().bytes, bins);
    m_effort.spend(static_cast<std::int64_t>(bins) / 8);
    // Shifted copies of the long list are merged like a binary counter, so that each point is touched log times. The copy shifted
    // furthest goes first: it has the fewest ticks, so that the ceiling then drops nine in ten points of the others.
    std::size_t depth = 0;
    for (std::size_t i = small.size(); i-- > 0;) {
        std::size_t first = 0, end = large.size();
        if (useReach) {
            first = static_cast<std::size_t>(std::upper_bound(m_otherHigh.begin(), m_otherHigh.end(), m_low[i]) - m_otherHigh.begin());
            end = static_cast<std::size_t>(std::lower_bound(m_otherLow.begin(), m_otherLow.end(), m_high[i]) - m_otherLow.begin());
            if (first >= end)
                continue;
        }
        if (!m_effort.spend(static_cast<std::int64_t>(end - first)))
            return {};
        if (m_stack.size() < depth + 2)
            m_stack.resize(depth + 2);
        Pending& next = m_stack[depth];
        next.rank = 0;
        addUnderEnvelope(large, first, end, small[i], next.stair);
        if (next.stair.empty())
            continue;
        for (++depth; depth > 1 && m_stack[depth - 2].rank <= m_stack[depth - 1].rank; --depth)
            mergeTopTwo(depth);
    }
    if (depth == 0)
        return {};
    for (; depth > 1; --depth)
        mergeTopTwo(depth);
    Stair result;
    result.swap(m_stack[0].stair);
    if (result.size() > m_most)
        thin(result);
    return result;
}

void ThresholdFrontier::mergeTopTwo(std::size_t depth)
{
    Pending &lower = m_stack[depth - 2], &upper = m_stack[depth - 1];
    mergeStairs(lower.stair, upper.stair, m_merged);
    lower.stair.swap(m_merged);
    ++lower.rank;
    m_effort.spend(static_cast<std::int64_t>(lower.stair.size()) / 4);
}

/// Keeps in each of `m_most` equal stretches of bytes the point that lies deepest under the envelope.
void ThresholdFrontier::thin(Stair& list)
{
    m_thinned = true;
    const double span = static_cast<double>(list.back().bytes - list.front().bytes) + 1;
    const auto stretches = static_cast<double>(std::max<std::size_t>(m_most, 2));
    const std::int64_t start = list.front().bytes;
    std::size_t kept = 0, line = 0;
    double lastStretch = -1, deepest = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto bytes = static_cast<double>(list[i].bytes);
        while (line + 1 < m_lines.size() && height(line + 1, bytes) >= height(line, bytes))
            ++line;
        const double depth = height(line, bytes) - static_cast<double>(list[i].ticks);
        const auto stretch = static_cast<double>(static_cast<std::int64_t>(static_cast<double>(list[i].bytes - start) / span * stretches));
        if (stretch != lastStretch) {
            list[kept++] = list[i];
            lastStretch = stretch;
            deepest = depth;
        } else if (depth > deepest) {
            list[kept - 1] = list[i];
            deepest = depth;
        }
    }
    list.resize(kept);
}

} // namespace loadline::knapsack
