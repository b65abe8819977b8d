// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/train/observer.hpp"

namespace loadline {

void Observer::beginStep()
{
    m_open = false;
    m_events.clear();
    m_seconds.assign(m_seconds.size(), UnitSeconds());
    m_meter.resetPeak();
    m_peak = m_meter.total();
    m_atPeak = m_meter.alive();
}

void Observer::begin(Phase phase, std::size_t unit)
{
    end();
    m_open = true;
    m_phase = phase;
    m_unit = unit;
    m_meter.resetPeak();
    m_since = std::chrono::steady_clock::now();
}

void Observer::end()
{
    if (!m_open)
        return;
    m_open = false;
    TimelineEvent event;
    event.phase = m_phase;
    event.unit = m_unit;
    event.bytes = m_meter.atPeak();
    if (m_meter.peak() > m_peak) {
        m_peak = m_meter.peak();
        m_atPeak = event.bytes;
    }
    m_events.push_back(event);
    const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_since).count();
    if (m_phase == Phase::Forward)
        m_seconds[m_unit].forward += passed;
    else if (m_phase != Phase::Step)
        m_seconds[m_unit].backward += passed;
}

} // namespace loadline
