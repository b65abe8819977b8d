// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/event_rows.hpp"

#include "core/plan/memory_terms.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace loadline {
namespace {

std::size_t placeOf(const std::vector<std::uint32_t>& options, std::uint32_t option)
{
    return static_cast<std::size_t>(std::lower_bound(options.begin(), options.end(), option) - options.begin());
}

/// One change of a choice and what it does to the event that is too large.
struct Change {
    std::size_t unit = 0;
    std::uint32_t option = 0;
    double ticksPerByte = std::numeric_limits<double>::infinity();
};

/// The change that lowers the event for the least time.
std::optional<Change> cheapestChange(const SearchSpace& space, const EventRow& row, const PricedChoice& now, std::int64_t excess)
{
    std::optional<Change> best;
    for (std::size_t unit = 0; unit < row.size(); ++unit) {
        const auto& options = space.groups[space.groupOfUnit[unit]].options;
        const std::int64_t bytes = row[unit][placeOf(options, now.choice[unit])];
        const std::int64_t ticks = space.ticks(unit, now.choice[unit]);
        for (std::size_t i = 0; i < options.size(); ++i) {
            const std::int64_t saved = bytes - row[unit][i];
            if (saved <= 0)
                continue;
            const double price = static_cast<double>(space.ticks(unit, options[i]) - ticks) / static_cast<double>(std::min(saved, excess));
            if (!best || price < best->ticksPerByte)
                best = Change{unit, options[i], price};
        }
    }
    return best;
}

/// `choice` with the change, made to as many units like the changed one as the excess takes.
Choice changed(const SearchSpace& space, const EventRow& row, Choice choice, const Change& change, std::int64_t excess)
{
    const UnitGroup& group = space.groups[space.groupOfUnit[change.unit]];
    const std::uint32_t from = choice[change.unit];
    const std::size_t fromPlace = placeOf(group.options, from);
    const std::size_t toPlace = placeOf(group.options, change.option);
    const auto saved = [&](std::size_t unit) { return row[unit][fromPlace] - row[unit][toPlace]; };
    const std::int64_t each = saved(change.unit);
    for (const std::size_t unit : group.units) {
        if (unit < change.unit || choice[unit] != from || saved(unit) != each)
            continue;
        choice[unit] = change.option;
        excess -= each;
        if (excess <= 0)
            break;
    }
    return choice;
}

/// Lets the unit at the peak take the option of another one of its group, and the other way round: no time is lost.
bool swapAtPeak(const SearchSpace& space, std::size_t pivot, PricedChoice& now)
{
    std::vector<std::uint32_t> tried{now.choice[pivot]};
    for (const std::size_t other : space.groups[space.groupOfUnit[pivot]].units) {
        const std::uint32_t option = now.choice[other];
        if (std::find(tried.begin(), tried.end(), option) != tried.end())
            continue;
        tried.push_back(option);
        Choice swapped = now.choice;
        std::swap(swapped[pivot], swapped[other]);
        PricedChoice candidate = priced(space, std::move(swapped));
        if (candidate.peak < now.peak) {
            now = std::move(candidate);
            return true;
        }
    }
    return false;
}

} // namespace

const EventRow& EventRows::row(const Key& key)
{
    const auto [place, isNew] = m_rows.try_emplace(key);
    EventRow& row = place->second;
    if (!isNew)
        return row;
    MemoryTerms terms = termsAt(m_space, {key.phase, key.unit, {}});
    if (key.neighbours) {
        MemoryTerms more = terms;
        if (addNeighboursOfUnsliced(m_space, key.unit, more))
            terms = std::move(more);
    }
    row.resize(terms.size());
    for (std::size_t unit = 0; unit < terms.size(); ++unit)
        for (const MemoryTerm& term : terms[unit])
            row[unit].push_back(term.persist + (unit == key.unit && key.phase != Phase::Step ? term.transient : 0));
    return row;
}

EventRows::Key EventRows::peakOf(const Choice& choice) const
{
    const Timeline timeline = playTimeline(m_space.table, choice);
    const TimelineEvent& event = timeline.events[timeline.peakEvent];
    const bool unsliced = m_space.option(event.unit, choice[event.unit]).strategy.slices == 1;
    return {event.phase, event.unit, event.phase == Phase::Backward && unsliced};
}

Bytes EventRows::value(const EventRow& row, const Choice& choice) const
{
    std::int64_t sum = 0;
    for (std::size_t unit = 0; unit < choice.size(); ++unit)
        sum += row[unit][placeOf(m_space.groups[m_space.groupOfUnit[unit]].options, choice[unit])];
    return m_space.table.overhead + m_space.table.constant + Bytes(sum);
}

PricedChoice repaired(const SearchSpace& space, EventRows& rows, PricedChoice now, Bytes budget)
{
    constexpr int kChanges = 60;
    const bool timeline = space.table.setup.memory == MemoryMode::Timeline;
    for (int i = 0; timeline && i < kChanges && now.peak > budget; ++i) {
        const EventRows::Key key = rows.peakOf(now.choice);
        if (key.phase != Phase::Step && swapAtPeak(space, key.unit, now))
            continue;
        const EventRow& row = rows.row(key);
        const std::int64_t excess = (now.peak - budget).count();
        const auto change = cheapestChange(space, row, now, excess);
        if (!change)
            break;
        now = priced(space, changed(space, row, now.choice, *change, excess));
    }
    return now;
}

} // namespace loadline
