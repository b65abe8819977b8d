// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/knapsack_relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace loadline::knapsack {
namespace {

/// Persist and ticks of the corners that a multiplier picks.
struct Totals {
    std::int64_t persist = 0;
    std::int64_t ticks = 0;
    friend bool operator==(const Totals&, const Totals&) = default;
};

/// The two ends of what the multiplier leaves open: least and most persist.
struct Ends {
    Totals least;
    Totals most;
};

class Evaluation {
public:
    Evaluation(const Prepared& problem, const std::vector<std::uint32_t>& levels, Effort& effort)
        : m_problem(problem), m_levels(levels), m_effort(effort)
    {
    }

    [[nodiscard]] Ends at(double price)
    {
        m_effort.spend(static_cast<std::int64_t>(m_levels.size()));
        Ends ends;
        for (std::size_t i = 0; i < m_levels.size(); ++i) {
            const std::int64_t count = m_problem.groups[i].count;
            const std::uint32_t last = m_problem.levels[m_levels[i]].endCorner - 1;
            std::uint32_t corner = cheapestCorner(m_problem, m_levels[i], price);
            add(ends.least, count, corner);
            while (corner < last && m_problem.corners[corner].slope >= price)
                ++corner;
            add(ends.most, count, corner);
        }
        return ends;
    }

    /// The ends of the whole range: every group at its first corner, and at its last.
    [[nodiscard]] Ends range() const
    {
        Ends ends;
        for (std::size_t i = 0; i < m_levels.size(); ++i) {
            const Level& level = m_problem.levels[m_levels[i]];
            add(ends.least, m_problem.groups[i].count, level.firstCorner);
            add(ends.most, m_problem.groups[i].count, level.endCorner - 1);
        }
        return ends;
    }

private:
    void add(Totals& totals, std::int64_t count, std::uint32_t corner) const
    {
        totals.persist += count * m_problem.corners[corner].persist;
        totals.ticks += count * m_problem.corners[corner].ticks;
    }

    const Prepared& m_problem;
    const std::vector<std::uint32_t>& m_levels;
    Effort& m_effort;
};

Relaxation settle(const Totals& least, double price, std::int64_t room)
{
    return {true, price, least.persist, least.ticks, static_cast<double>(least.ticks) - price * static_cast<double>(room - least.persist)};
}

} // namespace

Relaxation relax(const Prepared& problem, const std::vector<std::uint32_t>& levels, std::int64_t room, double firstPrice, Effort& effort)
{
    Evaluation evaluation(problem, levels, effort);
    auto [low, high] = evaluation.range();
    if (low.persist > room)
        return {};
    if (high.persist <= room)
        return {true, 0, high.persist, high.ticks, static_cast<double>(high.ticks)};
    // Chords (Eisner and Severance 1976): the multiplier where the lines of both ends meet; it is the break, or it moves an end.
    double lowPrice = std::numeric_limits<double>::infinity(); // the multipliers that gave the ends
    double highPrice = 0;
    for (int round = 1;; ++round) {
        const double chord = static_cast<double>(low.ticks - high.ticks) / static_cast<double>(high.persist - low.persist);
        double price = chord;
        if (round == 1 && firstPrice > 0)
            price = firstPrice;
        else if (round % 3 == 0 && highPrice > 0 && std::isfinite(lowPrice))
            price = std::sqrt(lowPrice * highPrice); // chords alone can creep along a strongly bent hull
        const Ends ends = evaluation.at(price);
        if (ends.least.persist <= room && room <= ends.most.persist)
            return settle(ends.least, price, room);
        const bool isLow = ends.most.persist < room;
        const bool still = isLow ? ends.most == low : ends.least == high;
        if (still && price == chord) {
            // Rounding hides the break between two neighbouring doubles. Any multiplier bounds; take the next that leaves room.
            for (double step = 0x1p-52;; step *= 2) {
                const double above = price * (1 + step);
                const Ends next = evaluation.at(above);
                if (next.least.persist <= room)
                    return settle(next.least, above, room);
            }
        }
        if (isLow) {
            low = ends.most;
            lowPrice = price;
        } else {
            high = ends.least;
            highPrice = price;
        }
    }
}

ThresholdBounds::ThresholdBounds(const Prepared& problem, std::int64_t budget, Effort& effort)
    : m_problem(problem), m_budget(budget), m_effort(effort)
{
    const double steps = static_cast<double>(problem.groups.size() + problem.drops.size());
    m_slack = problem.slack + steps * static_cast<double>(problem.mostTicks) * 0x1p-50;
    m_bounds.resize(problem.thresholds.size());
    for (std::size_t i = 0; i < m_bounds.size(); ++i)
        m_bounds[i].threshold = problem.thresholds[i];
    sweep(0, std::numeric_limits<double>::infinity());
}

/// Each group falls one level at a time.
void ThresholdBounds::sweep(double price, double until)
{
    m_effort.spend(static_cast<std::int64_t>(m_problem.groups.size()));
    double value = 0;         // sum of min(ticks + price x persist) under the present threshold
    std::int64_t persist = 0; // least sum of persist under it
    const auto add = [&](std::uint32_t group, std::uint32_t level, std::int64_t sign) {
        const Corner& corner = m_problem.corners[cheapestCorner(m_problem, level, price)];
        const std::int64_t count = sign * m_problem.groups[group].count;
        value += static_cast<double>(count) * (static_cast<double>(corner.ticks) + price * static_cast<double>(corner.persist));
        persist += count * m_problem.corners[m_problem.levels[level].firstCorner].persist;
    };
    for (std::uint32_t i = 0; i < m_problem.groups.size(); ++i)
        add(i, m_problem.groups[i].endLevel - 1, 1);
    const double least = static_cast<double>(m_problem.thresholds.back());
    std::size_t next = 0;
    for (auto one = m_bounds.begin(); one != m_bounds.end(); ++one) {
        const std::size_t first = next;
        for (; next < m_problem.drops.size() && m_problem.drops[next].transient > one->threshold; ++next) {
            const Drop& drop = m_problem.drops[next];
            add(drop.group, drop.level, -1);
            add(drop.group, drop.level - 1, 1);
        }
        m_effort.spend(static_cast<std::int64_t>(next - first));
        if (!one->isRelaxed)
            one->bound = std::max(one->bound, value - price * static_cast<double>(m_budget - one->threshold));
        one->feasible = persist <= m_budget - one->threshold;
        // The value only grows as the threshold falls, so its part without the threshold bounds all that follow.
        if (value - price * (static_cast<double>(m_budget) - least) < until)
            continue;
        for (++one; one != m_bounds.end(); ++one)
            if (!one->isRelaxed)
                one->bound = std::max(one->bound, until);
        return;
    }
}

const ThresholdBound* ThresholdBounds::search(int most)
{
    const ThresholdBound* best = nullptr;
    std::vector<std::uint32_t> levels;
    double price = 0;
    for (int count = 0; count < most; ++count) {
        ThresholdBound* least = nullptr;
        for (ThresholdBound& one : m_bounds)
            if (one.feasible && (!least || one.bound < least->bound))
                least = &one;
        if (!least || least->isRelaxed)
            break;
        levelsAt(m_problem, least->threshold, levels);
        least->relaxation = relax(m_problem, levels, m_budget - least->threshold, price, m_effort);
        least->bound = least->relaxation.bound;
        least->isRelaxed = true;
        if (!best || least->bound < best->bound)
            best = least;
        price = least->relaxation.price;
        sweep(price, best->bound + m_slack);
    }
    return best;
}

std::int64_t wholeBound(const Prepared& problem, double bound)
{
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(bound - problem.slack)));
}

} // namespace loadline::knapsack
