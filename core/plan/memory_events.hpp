// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/search_space.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace loadline {

/// The event formulas of core/cost/timeline.hpp, per unit and option.
class MemoryEvents {
public:
    explicit MemoryEvents(const SearchSpace& space) : m_space(space) {}

    [[nodiscard]] std::size_t units() const { return m_space.table.units.size(); }
    [[nodiscard]] const RuntimeRules& rules() const { return m_space.table.setup.rules; }
    [[nodiscard]] const std::vector<std::uint32_t>& options(std::size_t unit) const
    {
        return m_space.groups[m_space.groupOfUnit[unit]].options;
    }
    [[nodiscard]] const OptionCost& cost(std::size_t unit, std::size_t i) const { return m_space.option(unit, options(unit)[i]); }
    [[nodiscard]] const Unit& unit(std::size_t index) const { return m_space.table.units[index]; }
    [[nodiscard]] bool holds(std::size_t index) const { return unit(index).parameters > 0 && !unit(index).root; }

    [[nodiscard]] std::int64_t always(std::size_t u, std::size_t i) const
    {
        const OptionCost& c = cost(u, i);
        return (c.parameters + c.optimizer + c.steadyGradients + c.keptToEnd).count();
    }
    [[nodiscard]] std::int64_t before(std::size_t u, std::size_t i) const { return (cost(u, i).saved + cost(u, i).kept).count(); }
    [[nodiscard]] std::int64_t after(std::size_t u, std::size_t i) const
    {
        const OptionCost& c = cost(u, i);
        return c.heldGradient.count() + (unit(u).root ? 0 : (c.gradients - c.steadyGradients + c.averaged).count());
    }
    /// What a recomputed unit holds while later units of its region run backward.
    [[nodiscard]] std::int64_t broughtBack(std::size_t u, std::size_t i) const
    {
        const OptionCost& c = cost(u, i);
        return c.recomputed.count() + (rules().recomputeKeepsGathered ? c.gathered.count() : 0);
    }
    /// Above what is alive with `before` counted, while it runs backward or reduces.
    [[nodiscard]] std::int64_t backward(std::size_t u, std::size_t i) const { return std::max(running(u, i), reducing(u, i)); }
    [[nodiscard]] std::int64_t running(std::size_t u, std::size_t i) const
    {
        return (cost(u, i).backwardTransient + cost(u, i).recomputed).count();
    }
    [[nodiscard]] std::int64_t reducing(std::size_t u, std::size_t i) const { return cost(u, i).reduceTransient.count() - before(u, i); }

    template <class Value>
    [[nodiscard]] std::int64_t most(std::size_t u, Value value) const
    {
        std::int64_t result = 0;
        for (std::size_t i = 0; i < options(u).size(); ++i)
            result = std::max(result, value(i));
        return result;
    }

    [[nodiscard]] bool alwaysRecomputed(std::size_t u) const
    {
        for (std::size_t i = 0; i < options(u).size(); ++i)
            if (!cost(u, i).strategy.recompute)
                return false;
        return true;
    }
    /// First unit of the region that certainly is brought back together with `u`; `u` itself if none is.
    [[nodiscard]] std::size_t regionStart(std::size_t u) const
    {
        std::size_t first = u;
        while (first > 0 && alwaysRecomputed(first) && alwaysRecomputed(first - 1) && unit(first - 1).layer == unit(u).layer)
            --first;
        return first;
    }
    [[nodiscard]] std::size_t regionEnd(std::size_t u) const
    {
        std::size_t last = u;
        while (last + 1 < units() && alwaysRecomputed(last + 1) && unit(last + 1).layer == unit(u).layer)
            ++last;
        return last;
    }
    /// Sliced units hold buffers of their own, beside which the neighbours' may not count.
    [[nodiscard]] bool feelsNeighbours(std::size_t u) const
    {
        for (std::size_t i = 0; holds(u) && i < options(u).size(); ++i)
            if (cost(u, i).strategy.slices > 1)
                return false;
        return true;
    }

private:
    const SearchSpace& m_space;
};

} // namespace loadline
