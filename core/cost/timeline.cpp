// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/timeline.hpp"

#include "core/cost/timeline_player.hpp"

#include <algorithm>

namespace loadline {
namespace {

/// Bytes without a breakdown: all that the search needs.
class PlainSum {
public:
    void add(MemoryCategory, Bytes bytes) { m_total += bytes; }
    void remove(MemoryCategory, Bytes bytes) { m_total -= bytes; }
    [[nodiscard]] Bytes total() const { return m_total; }

private:
    Bytes m_total;
};

/// Bytes by category: what a chart draws.
class Breakdown {
public:
    void add(MemoryCategory category, Bytes bytes)
    {
        m_bytes[static_cast<std::size_t>(category)] += bytes;
        m_total += bytes;
    }
    void remove(MemoryCategory category, Bytes bytes)
    {
        m_bytes[static_cast<std::size_t>(category)] -= bytes;
        m_total -= bytes;
    }
    [[nodiscard]] Bytes total() const { return m_total; }
    [[nodiscard]] const std::array<Bytes, kMemoryCategories>& bytes() const { return m_bytes; }

private:
    std::array<Bytes, kMemoryCategories> m_bytes{};
    Bytes m_total;
};

const OptionCost& optionOf(const CostTable& table, const Choice& choice, std::size_t unit)
{
    return table.options(unit)[choice[unit]];
}

/// Largest sum of what the units of one recomputed region bring back.
Bytes largestRegion(const CostTable& table, const Choice& choice)
{
    Bytes largest;
    Bytes region;
    int layer = -1;
    for (std::size_t i = 0; i < table.units.size(); ++i) {
        const OptionCost& option = optionOf(table, choice, i);
        if (!option.strategy.recompute || table.units[i].layer != layer)
            region = Bytes();
        layer = table.units[i].layer;
        if (option.strategy.recompute)
            region += option.recomputed;
        largest = std::max(largest, region);
    }
    return largest;
}

} // namespace

Bytes TimelineEvent::total() const
{
    Bytes sum;
    for (const Bytes part : bytes)
        sum += part;
    return sum;
}

Timeline playTimeline(const CostTable& table, const Choice& choice)
{
    Timeline timeline;
    timeline.events.reserve(2 * table.units.size() + 2);
    timeline_player::play<Breakdown>(table, choice, [&](Phase phase, std::size_t unit, const Breakdown& sum) {
        if (sum.total() > timeline.peak || timeline.events.empty()) {
            timeline.peak = sum.total();
            timeline.peakEvent = timeline.events.size();
        }
        timeline.events.push_back({phase, unit, sum.bytes()});
    });
    return timeline;
}

Bytes timelinePeak(const CostTable& table, const Choice& choice)
{
    Bytes peak;
    timeline_player::play<PlainSum>(table, choice, [&](Phase, std::size_t, const PlainSum& sum) { peak = std::max(peak, sum.total()); });
    return peak;
}

Bytes paperPeak(const CostTable& table, const Choice& choice)
{
    Bytes states;
    Bytes activations;
    Bytes largest;
    Bytes step;
    Bytes end;
    for (std::size_t i = 0; i < table.units.size(); ++i) {
        const OptionCost& option = optionOf(table, choice, i);
        states += option.states();
        activations += option.saved + option.kept + option.keptToEnd + option.heldGradient;
        step += option.stepTransient;
        end += option.keptToEnd + option.heldGradient + option.finalBuffer;
        Bytes backward = option.backwardTransient;
        Bytes forward = option.forwardTransient;
        for (const std::size_t owner : table.units[i].borrows) {
            const OptionCost& lent = optionOf(table, choice, owner);
            forward += lent.gathered;
            backward += lent.gathered + lent.fullGradient;
        }
        largest = std::max({largest, forward, backward, option.recomputeTransient, option.reduceTransient});
    }
    const Bytes running = activations + largest + largestRegion(table, choice);
    return table.overhead + table.constant + states + std::max({running, step, end});
}

Bytes plannedPeak(const CostTable& table, const Choice& choice)
{
    return table.setup.memory == MemoryMode::Paper ? paperPeak(table, choice) : timelinePeak(table, choice);
}

} // namespace loadline
