// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/event_rows.hpp"

#include "core/cost/timeline_player.hpp"
#include "core/plan/memory_terms.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace loadline {
namespace {

/// The timeline's sum without a breakdown and without storing events: repairs look at many peaks.
class Total {
public:
    void add(MemoryCategory, Bytes bytes) { m_total += bytes; }
    void remove(MemoryCategory, Bytes bytes) { m_total -= bytes; }
    [[nodiscard]] Bytes total() const { return m_total; }

private:
    Bytes m_total;
};

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

/// The change that lowers `row` for the least time and raises none of the rows `seen` before: without that, repairs of two
/// events undo each other.
std::optional<Change> cheapestChange(const SearchSpace& space, const EventRow& row, const std::vector<const EventRow*>& seen,
                                     const PricedChoice& now, std::int64_t excess)
{
    std::optional<Change> best;
    std::vector<std::size_t> lastLooked(space.groups.size(), row.size());
    for (std::size_t unit = 0; unit < row.size(); ++unit) {
        const std::size_t group = space.groupOfUnit[unit];
        const std::size_t alike = std::exchange(lastLooked[group], unit);
        if (alike < unit && now.choice[alike] == now.choice[unit] && row[alike] == row[unit])
            continue; // the same change again
        const auto& options = space.groups[group].options;
        const std::size_t from = placeOf(options, now.choice[unit]);
        for (std::size_t to = 0; to < options.size(); ++to) {
            const std::int64_t saved = row[unit][from] - row[unit][to];
            if (saved <= 0)
                continue;
            const std::int64_t ticks = space.ticks(unit, options[to]) - space.ticks(unit, options[from]);
            const double price = static_cast<double>(ticks) / static_cast<double>(std::min(saved, excess));
            const auto raises = [&](const EventRow* other) { return (*other)[unit][to] > (*other)[unit][from]; };
            if ((!best || price < best->ticksPerByte) && std::none_of(seen.begin(), seen.end(), raises))
                best = Change{unit, options[to], price};
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
    MemoryTerms terms = key.phase == Phase::Backward ? backwardTermsAlone(m_space, key.unit) : termsAt(m_space, {key.phase, key.unit, {}});
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
    Key peak;
    Bytes most(-1);
    timeline_player::play<Total>(m_space.table, choice, [&](Phase phase, std::size_t unit, const Total& sum) {
        if (sum.total() > most) {
            most = sum.total();
            peak = {phase, unit, false};
        }
    });
    peak.neighbours = peak.phase == Phase::Backward && m_space.option(peak.unit, choice[peak.unit]).strategy.slices == 1;
    return peak;
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
    constexpr int kChanges = 40;
    constexpr int kSwaps = 10;
    int swaps = 0;
    const bool timeline = space.table.setup.memory == MemoryMode::Timeline;
    std::vector<const EventRow*> seen;
    for (int i = 0; timeline && i < kChanges && now.peak > budget; ++i) {
        const EventRows::Key key = rows.peakOf(now.choice);
        if (key.phase != Phase::Step && swaps < kSwaps && swapAtPeak(space, key.unit, now)) {
            ++swaps;
            continue;
        }
        const EventRow& row = rows.row(key);
        const std::int64_t excess = (now.peak - budget).count();
        const auto change = cheapestChange(space, row, seen, now, excess);
        if (std::find(seen.begin(), seen.end(), &row) == seen.end())
            seen.push_back(&row);
        if (!change)
            break;
        now = priced(space, changed(space, row, now.choice, *change, excess));
    }
    return now;
}

} // namespace loadline
