// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/frontier_threshold.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace loadline::knapsack {
namespace {

constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();

/// Appends the point if it lowers the stair.
void append(Stair& stair, const FrontierPoint& point)
{
    if (!stair.empty() && point.ticks >= stair.back().ticks)
        return;
    if (!stair.empty() && stair.back().bytes == point.bytes)
        stair.back().ticks = point.ticks;
    else
        stair.push_back(point);
}

} // namespace

void mergeStairs(const Stair& a, const Stair& b, Stair& out)
{
    out.resize(a.size() + b.size());
    FrontierPoint* last = out.data();
    const FrontierPoint *left = a.data(), *right = b.data();
    const FrontierPoint *leftEnd = left + a.size(), *rightEnd = right + b.size();
    std::int64_t best = kFar;
    const auto take = [&](const FrontierPoint& point) {
        *last = point;
        last += point.ticks < best ? 1 : 0;
        best = std::min(best, point.ticks);
    };
    while (left != leftEnd && right != rightEnd) {
        const bool isLeft = left->bytes < right->bytes || (left->bytes == right->bytes && left->ticks <= right->ticks);
        take(isLeft ? *left : *right);
        left += isLeft ? 1 : 0;
        right += isLeft ? 0 : 1;
    }
    for (; left != leftEnd; ++left)
        take(*left);
    for (; right != rightEnd; ++right)
        take(*right);
    out.resize(static_cast<std::size_t>(last - out.data()));
}

bool ThresholdFrontier::open(std::int64_t threshold)
{
    m_threshold = threshold;
    if (!levelsAt(m_problem, threshold, m_levels))
        return false;
    struct Piece {
        double price;
        std::int64_t bytes, ticks;
    };
    std::vector<Piece> pieces;
    std::int64_t bytes = 0, ticks = 0;
    for (std::size_t i = 0; i < m_levels.size(); ++i) {
        const Level& level = m_problem.levels[m_levels[i]];
        const std::int64_t count = m_problem.groups[i].count;
        bytes += count * m_problem.corners[level.firstCorner].persist;
        ticks += count * m_problem.corners[level.firstCorner].ticks;
        for (std::uint32_t c = level.firstCorner; c + 1 < level.endCorner; ++c) {
            const Corner &from = m_problem.corners[c], &to = m_problem.corners[c + 1];
            pieces.push_back({from.slope, count * (to.persist - from.persist), count * (from.ticks - to.ticks)});
        }
    }
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.price > b.price; });
    m_segments.clear();
    for (const Piece& piece : pieces) {
        if (m_segments.empty() || m_segments.back().price != piece.price)
            m_segments.push_back({piece.price, bytes, ticks, bytes, 0});
        bytes += piece.bytes;
        ticks -= piece.ticks;
        m_segments.back().endBytes = bytes;
    }
    m_segments.push_back({0, bytes, ticks, kFar, 0});
    m_effort.spend(static_cast<std::int64_t>(m_segments.size() + m_levels.size()));
    return true;
}

void ThresholdFrontier::addWholeCorners(Stair& stair)
{
    struct Piece {
        double price;
        std::uint32_t group, corner;
    };
    std::vector<Piece> pieces;
    FrontierPoint point{m_threshold, 0};
    for (std::uint32_t i = 0; i < m_levels.size(); ++i) {
        const Level& level = m_problem.levels[m_levels[i]];
        point.bytes += m_problem.groups[i].count * m_problem.corners[level.firstCorner].persist;
        point.ticks += m_problem.groups[i].count * m_problem.corners[level.firstCorner].ticks;
        for (std::uint32_t c = level.firstCorner; c + 1 < level.endCorner; ++c)
            pieces.push_back({m_problem.corners[c].slope, i, c});
    }
    std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.price > b.price; });
    Stair own{point}, merged;
    for (const Piece& piece : pieces) {
        const Corner &from = m_problem.corners[piece.corner], &to = m_problem.corners[piece.corner + 1];
        // Every copy is a point, but beyond some thousands a stair this fine only costs time.
        const std::int64_t count = m_problem.groups[piece.group].count;
        const std::int64_t step = std::max<std::int64_t>(1, count / 4096);
        for (std::int64_t done = 0; done < count;) {
            const std::int64_t now = std::min(step, count - done);
            point.bytes += now * (to.persist - from.persist);
            point.ticks -= now * (from.ticks - to.ticks);
            append(own, point);
            done += now;
        }
    }
    m_effort.spend(static_cast<std::int64_t>(own.size() + stair.size()));
    mergeStairs(stair, own, merged);
    stair.swap(merged);
}

bool ThresholdFrontier::canImprove(const Stair& stair)
{
    return stair.empty() || m_segments.front().bytes + m_threshold < stair.front().bytes || measureGaps(stair);
}

bool ThresholdFrontier::measureGaps(const Stair& stair)
{
    bool any = false;
    auto corner = stair.begin();
    for (Segment& segment : m_segments) {
        const std::int64_t first = segment.bytes + m_threshold;
        const std::int64_t end = segment.endBytes == kFar ? kFar : segment.endBytes + m_threshold;
        while (corner + 1 != stair.end() && (corner + 1)->bytes <= first)
            ++corner;
        // The relaxation falls and the stair is level between its corners, so the gap is widest just before the next corner.
        double widest = -std::numeric_limits<double>::infinity();
        for (auto at = corner;; ++at) {
            const std::int64_t next = at + 1 == stair.end() ? kFar : (at + 1)->bytes - 1;
            const std::int64_t right = std::min(next, end);
            double gap = static_cast<double>(at->ticks - 1 - segment.ticks);
            if (segment.price > 0)
                gap += segment.price * static_cast<double>(right - first);
            widest = std::max(widest, gap);
            if (next >= end)
                break;
        }
        segment.gap = widest + m_problem.slack;
        any = any || segment.gap >= 0;
    }
    m_effort.spend(static_cast<std::int64_t>(stair.size() + m_segments.size()) / 8);
    return any;
}

std::vector<std::uint32_t> ThresholdFrontier::groupOrder() const
{
    std::vector<std::uint32_t> order(m_levels.size());
    std::iota(order.begin(), order.end(), 0U);
    std::vector<std::int64_t> largest(m_levels.size(), 0);
    for (std::size_t i = 0; i < m_levels.size(); ++i) {
        const Level& level = m_problem.levels[m_levels[i]];
        for (std::uint32_t c = level.firstCorner; c + 1 < level.endCorner; ++c)
            largest[i] = std::max(largest[i], m_problem.corners[c].ticks - m_problem.corners[c + 1].ticks);
    }
    std::stable_sort(order.begin(), order.end(), [&largest](std::uint32_t a, std::uint32_t b) { return largest[a] > largest[b]; });
    return order;
}

void ThresholdFrontier::groupValues(std::uint32_t group, Values& values) const
{
    const Level& level = m_problem.levels[m_levels[group]];
    std::uint32_t corner = level.firstCorner;
    values.resize(m_segments.size());
    for (std::size_t s = 0; s < m_segments.size(); ++s) { // prices fall, so the corner only moves up
        while (corner + 1 < level.endCorner && m_problem.corners[corner].slope > m_segments[s].price)
            ++corner;
        values[s] = static_cast<double>(m_problem.corners[corner].ticks) +
                    m_segments[s].price * static_cast<double>(m_problem.corners[corner].persist);
    }
}

Stair ThresholdFrontier::optionStair(std::uint32_t group) const
{
    Stair stair;
    for (std::uint32_t i = m_problem.groups[group].firstOption; i < m_problem.groups[group].endOption; ++i)
        if (m_problem.options[i].transient <= m_threshold)
            append(stair, {m_problem.options[i].persist, m_problem.options[i].ticks});
    return stair;
}

/// The sums of `count` options, by repeated doubling.
Stair ThresholdFrontier::allCopies(std::uint32_t group, const Values& one)
{
    Stair power = optionStair(group);
    Values powerValues = one, sumValues(one.size(), 0);
    Stair sum{{0, 0}};
    for (std::int64_t left = m_problem.groups[group].count; left > 0 && !m_effort.stopped(); left /= 2) {
        if (left % 2 == 1) {
            sum = combine(sum, sumValues, power, powerValues, nullptr);
            for (std::size_t s = 0; s < one.size(); ++s)
                sumValues[s] += powerValues[s];
        }
        if (left > 1) {
            power = combine(power, powerValues, power, powerValues, nullptr);
            for (double& value : powerValues)
                value *= 2;
        }
    }
    return sum;
}

bool ThresholdFrontier::improve(Stair& stair, std::size_t most)
{
    m_thinned = false;
    m_most = most;
    m_gained = 0;
    if (!measureGaps(stair))
        return true;
    if (m_effort.stopped())
        return false;
    Stair list{{0, 0}};
    Values values(m_segments.size(), 0), one, all;
    m_fixed = {m_threshold, 0};
    std::vector<std::uint32_t> order = groupOrder();
    std::erase_if(order, [&](std::uint32_t group) {
        const Stair only = optionStair(group);
        if (only.size() > 1)
            return false;
        m_fixed.bytes += m_problem.groups[group].count * only[0].bytes;
        m_fixed.ticks += m_problem.groups[group].count * only[0].ticks;
        return true;
    });
    for (const std::uint32_t group : order) {
        groupValues(group, one);
        const Stair copies = allCopies(group, one);
        all.resize(one.size());
        for (std::size_t s = 0; s < one.size(); ++s)
            all[s] = one[s] * static_cast<double>(m_problem.groups[group].count);
        list = combine(list, values, copies, all, group == order.back() ? &stair : nullptr);
        for (std::size_t s = 0; s < one.size(); ++s)
            values[s] += all[s];
        if (m_effort.stopped())
            return false;
        if (list.empty())
            return !m_thinned;
    }
    m_gained = list.size();
    for (FrontierPoint& point : list) {
        point.bytes += m_fixed.bytes;
        point.ticks += m_fixed.ticks;
    }
    Stair merged;
    mergeStairs(stair, list, merged);
    stair.swap(merged);
    m_effort.spend(static_cast<std::int64_t>(stair.size()) / 8);
    return !m_thinned;
}

} // namespace loadline::knapsack
