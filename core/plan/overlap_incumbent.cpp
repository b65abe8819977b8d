// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/overlap_incumbent.hpp"

#include <algorithm>

namespace loadline {

double OverlapIncumbent::offer(const Places& places)
{
    const double seconds = m_chain.seconds(places);
    m_work += static_cast<std::int64_t>(places.size() / 8 + 1);
    if (seconds >= m_seconds)
        return m_seconds;
    m_work += static_cast<std::int64_t>(places.size() / 2 + 1);
    if (over(places) > Bytes())
        return m_seconds;
    m_seconds = seconds;
    m_best = places;
    return m_seconds;
}

void OverlapIncumbent::improve(std::int64_t trials)
{
    bool better = true;
    while (better && found()) {
        better = false;
        for (std::size_t unit = 0; unit < m_chain.units(); ++unit)
            for (std::uint32_t place = 0; place < m_chain.options(unit).size(); ++place) {
                if (place == m_best[unit])
                    continue;
                if (--trials < 0)
                    return;
                Places changed = m_best;
                changed[unit] = place;
                const double before = m_seconds;
                better = offer(changed) < before || better;
            }
    }
}

Places OverlapIncumbent::placesOf(const Choice& choice) const
{
    Places places(choice.size());
    for (std::size_t unit = 0; unit < choice.size(); ++unit) {
        const auto& options = m_state.space.groups[m_state.space.groupOfUnit[unit]].options;
        places[unit] = static_cast<std::uint32_t>(std::lower_bound(options.begin(), options.end(), choice[unit]) - options.begin());
    }
    return places;
}

Choice OverlapIncumbent::choiceOf(const Places& places) const
{
    Choice choice(places.size());
    for (std::size_t unit = 0; unit < places.size(); ++unit)
        choice[unit] = m_state.space.groups[m_state.space.groupOfUnit[unit]].options[places[unit]];
    return choice;
}

Bytes OverlapIncumbent::over(const Places& places) const
{
    return plannedPeak(m_state.space.table, choiceOf(places)) - m_budget;
}

} // namespace loadline
