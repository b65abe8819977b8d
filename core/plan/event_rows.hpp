// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/planner_state.hpp"

#include <compare>
#include <map>
#include <vector>

namespace loadline {

/// One event's memory as a plain sum over units: row[unit][allowed option] bytes, overhead and constant apart. Never above
/// what the event holds in truth.
using EventRow = std::vector<std::vector<std::int64_t>>;

/// Rows made on demand, each once. For one search; not shared between threads.
class EventRows {
public:
    explicit EventRows(const SearchSpace& space) : m_space(space) {}

    struct Key {
        Phase phase = Phase::Forward;
        std::size_t unit = 0;
        bool neighbours = false; ///< counts what neighbours hold, as far as an unsliced unit feels it
        friend auto operator<=>(const Key&, const Key&) = default;
    };

    const EventRow& row(const Key& key);

    /// The event at which `choice` has its peak.
    [[nodiscard]] Key peakOf(const Choice& choice) const;

    [[nodiscard]] Bytes value(const EventRow& row, const Choice& choice) const;

private:
    const SearchSpace& m_space;
    std::map<Key, EventRow> m_rows;
};

/// Brings the peak of `start` under `budget`, event by event: swaps options inside a group where that lowers the peak for
/// nothing, else takes the change that costs the fewest ticks per byte. May stop above the budget.
PricedChoice repaired(const SearchSpace& space, EventRows& rows, PricedChoice start, Bytes budget);

} // namespace loadline
