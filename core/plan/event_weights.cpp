// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/event_weights.hpp"

#include <algorithm>
#include <cmath>

namespace loadline {

bool EventWeights::learn(const Choice& choice)
{
    const EventRows::Key key = m_rows.peakOf(choice);
    double most = 0;
    for (const Entry& entry : m_entries)
        most = std::max(most, entry.logWeight);
    if (std::none_of(m_entries.begin(), m_entries.end(), [&](const Entry& entry) { return entry.key == key; }))
        m_entries.push_back({key, most});

    std::vector<double> excess;
    double largest = 0;
    bool exceeded = false;
    for (const Entry& entry : m_entries) {
        const Bytes over = m_rows.value(m_rows.row(entry.key), choice) - m_budget;
        exceeded = exceeded || over > Bytes();
        excess.push_back(static_cast<double>(over.count()));
        largest = std::max(largest, std::abs(excess.back()));
    }
    const double step = 2.0 / (1.0 + 0.5 * m_rounds++);
    for (std::size_t i = 0; i < m_entries.size() && largest > 0; ++i)
        m_entries[i].logWeight += step * excess[i] / largest;
    return exceeded;
}

MemoryTerms EventWeights::terms() const
{
    double most = 0;
    double sum = 0;
    for (const Entry& entry : m_entries)
        most = std::max(most, entry.logWeight);
    for (const Entry& entry : m_entries)
        sum += std::exp(entry.logWeight - most);
    std::int64_t left = kScale;
    MemoryTerms terms;
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        const double share = std::exp(m_entries[i].logWeight - most) / sum;
        const bool last = i + 1 == m_entries.size();
        const std::int64_t weight =
            last ? left : std::min(left, static_cast<std::int64_t>(std::llround(share * static_cast<double>(kScale))));
        left -= weight;
        const EventRow& row = m_rows.row(m_entries[i].key);
        terms.resize(row.size());
        for (std::size_t unit = 0; unit < row.size(); ++unit) {
            terms[unit].resize(row[unit].size());
            for (std::size_t option = 0; option < row[unit].size(); ++option)
                terms[unit][option].persist += weight * row[unit][option];
        }
    }
    return terms;
}

} // namespace loadline
