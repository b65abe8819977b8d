// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/event_rows.hpp"
#include "core/plan/memory_terms.hpp"

#include <vector>

namespace loadline {

/// Weights of the events that bind a budget together. A weighted mean of rows stays below the peak, whatever the weights,
/// so they only decide how tight the bound is. Multiplicative updates, as in a game between weights and choices
/// (Arora, Hazan, Kale, Theory of Computing 8, 2012).
class EventWeights {
public:
    /// Weights are whole parts of this, so that bytes stay whole.
    static constexpr std::int64_t kScale = 256;

    EventWeights(EventRows& rows, Bytes budget) : m_rows(rows), m_budget(budget) {}

    /// Shifts weight to the events that `choice` exceeds. False if no known event is exceeded: nothing can be learned.
    bool learn(const Choice& choice);

    /// The weighted sum of the rows, `kScale` steps in all.
    [[nodiscard]] MemoryTerms terms() const;

private:
    struct Entry {
        EventRows::Key key;
        double logWeight = 0;
    };

    EventRows& m_rows;
    Bytes m_budget;
    std::vector<Entry> m_entries;
    int m_rounds = 0;
};

} // namespace loadline
