// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace loadline {
namespace {

/// One measured size of an operator.
struct Point {
    double work;
    double forward;
    double backward;
    double recompute;
    double accumulate;
};

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    const auto middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Joins points of equal work into their median, in rising order of work.
std::vector<Point> joined(std::vector<Point> points)
{
    std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.work < b.work; });
    std::vector<Point> out;
    for (std::size_t first = 0; first < points.size();) {
        std::vector<double> forward;
        std::vector<double> backward;
        std::vector<double> recompute;
        std::vector<double> accumulate;
        auto next = first;
        for (; next < points.size() && points[next].work == points[first].work; ++next) {
            forward.push_back(points[next].forward);
            backward.push_back(points[next].backward);
            recompute.push_back(points[next].recompute);
            accumulate.push_back(points[next].accumulate);
        }
        out.push_back({points[first].work, median(std::move(forward)), median(std::move(backward)), median(std::move(recompute)),
                       median(std::move(accumulate))});
        first = next;
    }
    return out;
}

ProfiledTime scaled(const Point& point, double work)
{
    const double factor = point.work > 0 ? work / point.work : 1;
    // What is added to gradients has the size of the parameters, however many tokens there were.
    return {Seconds(point.forward * factor), Seconds(point.backward * factor), Seconds(point.recompute * factor), Seconds(point.accumulate),
            true};
}

/// `points` not empty, in rising order of work.
ProfiledTime interpolated(const std::vector<Point>& points, double work)
{
    if (work < points.front().work)
        return scaled(points.front(), work);
    if (work > points.back().work)
        return scaled(points.back(), work);
    const auto above =
        std::lower_bound(points.begin(), points.end(), work, [](const Point& point, double wanted) { return point.work < wanted; });
    if (above->work == work)
        return {Seconds(above->forward), Seconds(above->backward), Seconds(above->recompute), Seconds(above->accumulate), false};
    const auto below = std::prev(above);
    const double share = (work - below->work) / (above->work - below->work);
    const auto between = [&](double Point::*figure) { return Seconds(std::lerp((*below).*figure, (*above).*figure, share)); };
    return {between(&Point::forward), between(&Point::backward), between(&Point::recompute), between(&Point::accumulate), false};
}

/// Least-squares curve that never falls: neighbours that do are pooled into their mean (pool adjacent violators).
void makeMonotone(std::vector<std::pair<double, double>>& curve)
{
    struct Pool {
        double mean;
        std::size_t count;
    };
    std::vector<Pool> pools;
    for (const auto& [bytes, seconds] : curve) {
        pools.push_back({seconds, 1});
        while (pools.size() > 1 && pools[pools.size() - 2].mean > pools.back().mean) {
            const auto last = pools.back();
            pools.pop_back();
            auto& before = pools.back();
            const auto count = before.count + last.count;
            before.mean += (last.mean - before.mean) * (static_cast<double>(last.count) / static_cast<double>(count));
            before.count = count;
        }
    }
    std::size_t at = 0;
    for (const auto& pool : pools) {
        for (std::size_t i = 0; i < pool.count; ++i)
            curve[at++].second = pool.mean;
    }
}

/// Attention costs a square of its sequence length; other lengths do not lie on the same line as batches do.
bool needsSameSequence(const Operator& op)
{
    return std::holds_alternative<AttentionTraits>(op.traits);
}

} // namespace

Profile::Profile(ProfileHeader header, std::vector<OperatorRow> operators, std::vector<LinkRow> links, std::vector<OverlapRow> overlaps,
                 std::vector<StepRow> steps)
    : m_header(std::move(header)), m_operators(std::move(operators)), m_links(std::move(links)), m_overlaps(std::move(overlaps)),
      m_steps(std::move(steps))
{
    for (std::size_t row = 0; row < m_operators.size(); ++row) {
        const auto& r = m_operators[row];
        m_rowsOf[{r.key, r.precision, r.slices, r.attention}].push_back(row);
    }
    buildCurves();
}

void Profile::buildCurves()
{
    std::map<LinkId, std::map<double, std::vector<double>>> measured;
    for (const auto& link : m_links)
        measured[{link.collective, link.group, link.perNode}][static_cast<double>(link.bytes.count())].push_back(link.seconds.value());
    for (const auto& [id, sizes] : measured) {
        auto& curve = m_curves[id];
        for (const auto& [bytes, seconds] : sizes)
            curve.emplace_back(bytes, median(seconds));
        makeMonotone(curve);
    }
    std::map<std::string, std::map<double, std::vector<double>>> steps;
    for (const auto& step : m_steps)
        steps[step.optimizer][static_cast<double>(step.parameters)].push_back(step.seconds.value());
    for (const auto& [optimizer, sizes] : steps) {
        auto& curve = m_stepCurves[optimizer];
        curve.emplace_back(0, 0);
        for (const auto& [parameters, seconds] : sizes)
            curve.emplace_back(parameters, median(seconds));
        makeMonotone(curve);
    }
}

std::optional<Seconds> Profile::optimizer(const std::string& name, std::int64_t parameters) const
{
    const auto found = m_stepCurves.find(name);
    if (found == m_stepCurves.end())
        return std::nullopt;
    const auto& curve = found->second;
    const auto wanted = static_cast<double>(parameters);
    if (wanted <= 0)
        return Seconds(0);
    if (wanted >= curve.back().first)
        return Seconds(curve.back().second * (wanted / curve.back().first));
    const auto above = std::upper_bound(curve.begin(), curve.end(), wanted,
                                        [](double size, const std::pair<double, double>& point) { return size < point.first; });
    const auto below = std::prev(above);
    return Seconds(std::lerp(below->second, above->second, (wanted - below->first) / (above->first - below->first)));
}

std::optional<ProfiledTime> Profile::time(const Operator& op, const ActivationSettings& settings, int slices) const
{
    const auto* attention = std::get_if<AttentionTraits>(&op.traits);
    const std::string kernel = attention != nullptr ? std::string(attentionName(chosenAttention(*attention, settings))) : std::string();
    const auto rows = m_rowsOf.find({operatorKey(op), settings.compute, slices, kernel});
    if (rows == m_rowsOf.end())
        return std::nullopt;

    const auto sequence = op.tokens.of(settings.sequence);
    const double work = operatorWork(op, settings.batch, sequence);
    double leastOutOfMemory = std::numeric_limits<double>::infinity();
    std::vector<Point> points;
    std::vector<Point> others; // of other sequence lengths
    for (const auto row : rows->second) {
        const auto& r = m_operators[row];
        const double measured = operatorWork(op, r.batch, r.sequence);
        const bool same = !needsSameSequence(op) || r.sequence == sequence;
        if (r.outOfMemory) {
            if (same)
                leastOutOfMemory = std::min(leastOutOfMemory, measured);
            continue;
        }
        (same ? points : others)
            .push_back({measured, r.forward.value(), r.backward.value(), r.recompute.value_or(r.forward).value(), r.accumulate.value()});
    }
    if (points.empty() && others.empty())
        return std::nullopt;
    if (points.empty()) {
        const auto distance = [work](const Point& p) { return std::abs(std::log(std::max(p.work, 1.0) / std::max(work, 1.0))); };
        others = joined(std::move(others));
        return scaled(
            *std::min_element(others.begin(), others.end(), [&](const Point& a, const Point& b) { return distance(a) < distance(b); }),
            work);
    }
    auto result = interpolated(joined(std::move(points)), work);
    result.extrapolated = result.extrapolated || work >= leastOutOfMemory;
    return result;
}

std::optional<Seconds> Profile::collective(Collective collective, std::int64_t group, std::int64_t perNode, Bytes bytes) const
{
    const auto found = m_curves.find({collective, group, perNode});
    if (found == m_curves.end())
        return std::nullopt;
    if (bytes.count() <= 0 || group <= 1)
        return Seconds(0);
    const auto& curve = found->second;
    const auto wanted = static_cast<double>(bytes.count());
    if (wanted <= curve.front().first)
        return Seconds(curve.front().second);
    if (wanted >= curve.back().first)
        return Seconds(curve.back().second * (wanted / curve.back().first));
    const auto above = std::lower_bound(curve.begin(), curve.end(), wanted,
                                        [](const std::pair<double, double>& point, double size) { return point.first < size; });
    const auto below = std::prev(above);
    return Seconds(std::lerp(below->second, above->second, (wanted - below->first) / (above->first - below->first)));
}

std::vector<LinkPoint> Profile::linkCurve(Collective collective, std::int64_t group, std::int64_t perNode) const
{
    std::vector<LinkPoint> points;
    const auto found = m_curves.find({collective, group, perNode});
    if (found != m_curves.end()) {
        for (const auto& [bytes, seconds] : found->second)
            points.push_back({Bytes(static_cast<std::int64_t>(bytes)), Seconds(seconds)});
    }
    return points;
}

std::optional<OverlapFactors> Profile::overlap() const
{
    if (m_overlaps.empty())
        return std::nullopt;
    std::vector<double> compute;
    std::vector<double> transfer;
    for (const auto& row : m_overlaps) {
        compute.push_back(std::max(1.0, row.compute));
        transfer.push_back(std::max(1.0, row.transfer));
    }
    OverlapFactors factors{median(std::move(compute)), median(std::move(transfer))};
    // 1/a + 1/b >= 1 is (a - 1)(b - 1) <= 1; the last factor keeps rounding on the right side of it.
    const double excess = std::sqrt((factors.compute - 1) * (factors.transfer - 1));
    if (excess > 1) {
        factors.compute = 1 + (factors.compute - 1) / excess * (1 - 1e-12);
        factors.transfer = 1 + (factors.transfer - 1) / excess * (1 - 1e-12);
    }
    return factors;
}

std::string Profile::provenance() const
{
    std::string text = m_header.device;
    if (!m_header.driver.empty())
        text += fmt::format(", driver {}", m_header.driver);
    for (const auto& [name, version] : m_header.versions)
        text += fmt::format(", {} {}", name, version);
    text += fmt::format(", {} {}", m_header.ranks, m_header.ranks == 1 ? "rank" : "ranks");
    text += fmt::format(", measured {}", m_header.date);
    return text;
}

} // namespace loadline
