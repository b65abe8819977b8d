// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/trade_off.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace loadline {
namespace {

constexpr std::int64_t kMostCounts = 65; ///< numbers of recomputed blocks tried: finer than a chart shows

/// Numbers of recomputed blocks, those nearest the ends first: stopped early, they span the whole range.
std::vector<std::int64_t> recomputedCounts(const PlanRequest& request)
{
    const std::int64_t blocks = request.setup.model->layerCount();
    if (request.recompute == Recompute::Off)
        return {request.setup.recomputedBlocks};
    if (request.recompute == Recompute::All)
        return {blocks};
    const std::int64_t gaps = std::min(blocks, kMostCounts - 1);
    std::vector<std::int64_t> counts;
    for (std::int64_t i = 0; i <= gaps; ++i)
        counts.push_back(gaps == 0 ? 0 : blocks * i / gaps);
    std::stable_sort(counts.begin(), counts.end(),
                     [blocks](std::int64_t a, std::int64_t b) { return std::min(a, blocks - a) < std::min(b, blocks - b); });
    return counts;
}

std::vector<std::pair<RecomputedPart, std::int64_t>> recomputations(const PlanRequest& request)
{
    std::vector<RecomputedPart> parts{RecomputedPart::Block};
    if (request.recompute == Recompute::Off)
        parts = {request.setup.recomputedPart};
    else if (request.recompute == Recompute::Auto)
        parts = request.recomputedParts;
    std::vector<std::pair<RecomputedPart, std::int64_t>> all;
    for (const std::int64_t count : recomputedCounts(request))
        for (const RecomputedPart part : parts)
            if (count > 0 || part == parts.front())
                all.emplace_back(part, count);
    return all;
}

/// Sorted by bytes, without points that a leaner one beats.
std::vector<TradeOffPoint> lowerEnvelope(std::vector<TradeOffPoint> points)
{
    std::sort(points.begin(), points.end(),
              [](const TradeOffPoint& a, const TradeOffPoint& b) { return std::tie(a.peak, a.time) < std::tie(b.peak, b.time); });
    std::vector<TradeOffPoint> stair;
    for (const TradeOffPoint& point : points)
        if (stair.empty() || point.time < stair.back().time)
            stair.push_back(point);
    return stair;
}

} // namespace

Result<std::vector<TradeOffPoint>> tradeOff(const PlanRequest& request, int steps)
{
    std::vector<TradeOffPoint> points;
    for (const auto& [part, count] : recomputations(request)) {
        if (request.limits.stop.stop_requested())
            break;
        Setup setup = request.setup;
        setup.recomputedBlocks = count;
        setup.recomputedPart = part;
        auto table = buildCostTable(setup);
        if (!table)
            return table.error();
        const auto planner = Planner::prepare(*std::move(table), request.pins);
        if (!planner)
            return planner.error();
        const auto stair = planner->tradeOff(steps, request.limits);
        points.insert(points.end(), stair.begin(), stair.end());
    }
    return lowerEnvelope(std::move(points));
}

} // namespace loadline
