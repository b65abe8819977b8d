// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/knapsack_core.hpp"

#include <algorithm>

namespace loadline::knapsack {

void Core::open(std::int64_t threshold, const std::vector<std::uint32_t>& levels, const Relaxation& relaxation, std::int64_t room)
{
    m_threshold = threshold;
    price = relaxation.price;
    baseTicks = relaxation.ticks;
    freeBytes = room - relaxation.persist;
    base.clear();
    items.clear();
    deviations.clear();
    for (std::uint32_t group = 0; group < levels.size(); ++group) {
        const std::uint32_t last = m_problem.levels[levels[group]].endCorner - 1;
        std::uint32_t corner = price > 0 ? cheapestCorner(m_problem, levels[group], price) : last;
        std::int64_t copies = m_problem.groups[group].count;
        // Corners that tie at this price cost nothing: take as many copies up as fit.
        while (price > 0 && corner < last && m_problem.corners[corner].slope >= price) {
            const Corner& from = m_problem.corners[corner];
            const Corner& to = m_problem.corners[corner + 1];
            const std::int64_t fit = std::min(copies, freeBytes / (to.persist - from.persist));
            freeBytes -= fit * (to.persist - from.persist);
            baseTicks -= fit * (from.ticks - to.ticks);
            if (fit < copies) {
                if (fit > 0)
                    base.push_back({group, to.option, fit});
                copies -= fit;
                break;
            }
            ++corner;
        }
        base.push_back({group, m_problem.corners[corner].option, copies});
    }
    if (baseTicks < m_incumbent.ticks) {
        m_incumbent.ticks = baseTicks;
        m_incumbent.picks = base;
    }
}

void Core::list()
{
    items.clear();
    deviations.clear();
    const double most = m_fixing ? allowance() : std::numeric_limits<double>::infinity();
    for (std::uint32_t entry = 0; entry < base.size(); ++entry) {
        const Group& group = m_problem.groups[base[entry].group];
        const KnapsackOption& from = m_problem.options[base[entry].option];
        const auto first = static_cast<std::uint32_t>(deviations.size());
        double cheapest = std::numeric_limits<double>::infinity();
        for (std::uint32_t option = group.firstOption; option < group.endOption; ++option) {
            const KnapsackOption& to = m_problem.options[option];
            const std::int64_t bytes = to.persist - from.persist;
            const std::int64_t ticks = to.ticks - from.ticks;
            if (to.transient > m_threshold || (bytes >= 0 && ticks >= 0))
                continue;
            const double cost = std::max(0.0, static_cast<double>(ticks) + price * static_cast<double>(bytes));
            if (cost > most)
                continue;
            deviations.push_back({bytes, ticks, cost, option});
            cheapest = std::min(cheapest, cost);
        }
        if (deviations.size() > first)
            items.push_back({entry, base[entry].count, cheapest, first, static_cast<std::uint32_t>(deviations.size())});
    }
}

void Core::sortItems(std::size_t most)
{
    const auto before = [](const Item& a, const Item& b) { return a.cheapest != b.cheapest ? a.cheapest < b.cheapest : a.base < b.base; };
    if (items.size() > most) {
        std::nth_element(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(most), items.end(), before);
        items.resize(most);
    }
    std::sort(items.begin(), items.end(), before);
}

bool Core::separate()
{
    constexpr std::size_t kMostItems = 50'000;
    std::vector<Item> single;
    for (const Item& item : items) {
        std::int64_t copies = item.copies;
        if (item.cheapest > 0) // no more of them can deviate and stay within the allowance
            copies = static_cast<std::int64_t>(std::min(static_cast<double>(copies), allowance() / item.cheapest + 1));
        if (static_cast<std::size_t>(copies) > kMostItems - single.size())
            return false;
        Item one = item;
        one.copies = 1;
        single.insert(single.end(), static_cast<std::size_t>(copies), one);
    }
    items = std::move(single);
    return true;
}

void Core::addSteps(std::uint32_t index, bool isFill)
{
    const Item& item = items[index];
    m_points.clear();
    for (std::uint32_t i = item.first; i < item.end; ++i) {
        const Deviation& one = deviations[i];
        if ((one.bytes > 0) == isFill)
            m_points.push_back({static_cast<double>(isFill ? one.bytes : -one.bytes), one.cost, static_cast<std::int32_t>(i)});
    }
    if (m_points.empty())
        return;
    std::sort(m_points.begin(), m_points.end(), [](const Point& a, const Point& b) {
        return a.bytes != b.bytes ? a.bytes < b.bytes : a.cost != b.cost ? a.cost < b.cost : a.deviation < b.deviation;
    });
    m_hull.assign(1, {});
    for (const Point& point : m_points) {
        while (m_hull.size() >= 2) {
            const Point& last = m_hull.back();
            const Point& before = m_hull[m_hull.size() - 2];
            if ((last.cost - before.cost) * (point.bytes - last.bytes) < (point.cost - last.cost) * (last.bytes - before.bytes))
                break;
            m_hull.pop_back();
        }
        if (point.bytes > m_hull.back().bytes)
            m_hull.push_back(point);
    }
    for (std::size_t i = 1; i < m_hull.size(); ++i) {
        const double bytes = m_hull[i].bytes - m_hull[i - 1].bytes;
        const double ratio = std::max(0.0, (m_hull[i].cost - m_hull[i - 1].cost) / bytes);
        if (isFill && ratio >= price) // leaving the bytes unused costs no more
            break;
        const Step step{ratio,
                        bytes * static_cast<double>(item.copies),
                        static_cast<std::int64_t>(bytes),
                        index,
                        m_hull[i - 1].deviation,
                        m_hull[i].deviation};
        (isFill ? fill : free).push_back(step);
    }
}

void Core::listSteps()
{
    fill.clear();
    free.clear();
    for (std::uint32_t i = 0; i < items.size(); ++i) {
        addSteps(i, true);
        addSteps(i, false);
    }
    const auto before = [](const Step& a, const Step& b) {
        return a.ratio != b.ratio ? a.ratio < b.ratio : a.item != b.item ? a.item < b.item : a.bytes < b.bytes;
    };
    std::sort(fill.begin(), fill.end(), before);
    std::sort(free.begin(), free.end(), before);
}

void Core::accept(std::int64_t ticks, const std::vector<Move>& moves)
{
    m_incumbent.ticks = ticks;
    m_incumbent.picks = base;
    for (const Move& move : moves) {
        m_incumbent.picks[move.base].count -= move.copies;
        m_incumbent.picks.push_back({base[move.base].group, move.option, move.copies});
    }
}

} // namespace loadline::knapsack
