// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/frontier_threshold.hpp"

#include <algorithm>
#include <limits>

namespace loadline::knapsack {

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

void ThresholdFrontier::addUnderEnvelope(const Stair& from, std::size_t first, std::size_t end, const FrontierPoint& shift,
                                         Stair& out) const
{
    out.resize(end - first);
    FrontierPoint* last = out.data();
    std::size_t line = 0;
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
        *last = point;
        last += static_cast<double>(point.ticks) <= most ? 1 : 0;
    }
    out.resize(static_cast<std::size_t>(last - out.data()));
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
    }
    for (std::size_t i = 1; i < list.size(); ++i)
        high[i] = std::max(high[i], high[i - 1]);
    for (std::size_t i = list.size(); i-- > 1;)
        low[i - 1] = std::min(low[i - 1], low[i]);
}

Stair ThresholdFrontier::combine(const Stair& a, const Values& aValues, const Stair& b, const Values& bValues)
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
    }
    // Shifted copies of the long list are merged like a binary counter, so that each point is touched log times.
    m_stack.clear();
    std::vector<std::uint32_t> ranks;
    Stair next, merged;
    for (std::size_t i = 0; i < small.size(); ++i) {
        std::size_t first = 0, end = large.size();
        if (useReach) {
            first = static_cast<std::size_t>(std::upper_bound(m_otherHigh.begin(), m_otherHigh.end(), m_low[i]) - m_otherHigh.begin());
            end = static_cast<std::size_t>(std::lower_bound(m_otherLow.begin(), m_otherLow.end(), m_high[i]) - m_otherLow.begin());
            if (first >= end)
                continue;
        }
        if (!m_effort.spend(static_cast<std::int64_t>(end - first)))
            return {};
        addUnderEnvelope(large, first, end, small[i], next);
        if (next.empty())
            continue;
        std::uint32_t rank = 0;
        while (!ranks.empty() && ranks.back() <= rank) {
            mergeStairs(m_stack.back(), next, merged);
            next.swap(merged);
            rank = ranks.back() + 1;
            m_stack.pop_back();
            ranks.pop_back();
        }
        m_stack.push_back(next);
        ranks.push_back(rank);
    }
    if (m_stack.empty())
        return {};
    next = std::move(m_stack.back());
    for (m_stack.pop_back(); !m_stack.empty(); m_stack.pop_back()) {
        mergeStairs(m_stack.back(), next, merged);
        next.swap(merged);
    }
    if (next.size() > m_most)
        thin(next);
    return next;
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
