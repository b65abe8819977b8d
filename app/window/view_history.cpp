// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/view_history.hpp"

namespace loadline {

void ViewHistory::record(const Place& place)
{
    if (m_showing || (!m_places.empty() && m_places[m_at] == place))
        return;
    if (!m_places.empty())
        m_places.resize(m_at + 1);
    m_places.push_back(place);
    if (m_places.size() > kMostPlaces)
        m_places.erase(m_places.begin());
    m_at = m_places.size() - 1;
    emit changed();
}

void ViewHistory::back()
{
    if (canGoBack())
        show(m_at - 1);
}

void ViewHistory::forward()
{
    if (canGoForward())
        show(m_at + 1);
}

void ViewHistory::show(std::size_t at)
{
    m_at = at;
    const Place place = m_places[at];
    m_showing = true;
    emit shown(place);
    m_showing = false;
    emit changed();
}

} // namespace loadline
