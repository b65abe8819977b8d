// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/train/observer.hpp"

namespace loadline {

void Observer::beginStep()
{
    m_open = false;
    m_events.clear();
    m_runs.clear();
    m_waits.clear();
    m_seconds.assign(m_seconds.size(), UnitSeconds());
    m_waited = 0;
    m_optimizer = 0;
    m_meter.resetPeak();
    m_peak = m_meter.total();
    m_atPeak = m_meter.alive();
}

std::unique_ptr<Event> Observer::now() const
{
    auto event = m_device.event();
    event->record();
    return event;
}

void Observer::begin(Phase phase, std::size_t unit)
{
    end();
    m_open = true;
    m_meter.resetPeak();
    m_runs.push_back({phase, unit, now(), nullptr});
}

void Observer::end()
{
    if (!m_open)
        return;
    m_open = false;
    Run& run = m_runs.back();
    run.to = now();
    TimelineEvent event;
    event.phase = run.phase;
    event.unit = run.unit;
    event.bytes = m_meter.atPeak();
    if (m_meter.peak() > m_peak) {
        m_peak = m_meter.peak();
        m_atPeak = event.bytes;
    }
    m_events.push_back(event);
}

void Observer::beginWait(WaitKind kind, std::size_t unit)
{
    m_waits.push_back({kind, unit, m_open ? m_runs.size() - 1 : m_runs.max_size(), now(), nullptr});
}

void Observer::endWait()
{
    m_waits.back().to = now();
}

double* Observer::placeOf(const Run& run)
{
    if (run.phase == Phase::Step)
        return &m_optimizer;
    return run.phase == Phase::Forward ? &m_seconds[run.unit].forward : &m_seconds[run.unit].backward;
}

void Observer::endStep()
{
    end();
    for (const Run& run : m_runs)
        *placeOf(run) += run.to->since(*run.from).value();
    for (const Wait& wait : m_waits) {
        const double seconds = wait.to->since(*wait.from).value();
        (wait.kind == WaitKind::Gather ? m_seconds[wait.unit].gather : m_seconds[wait.unit].reduce) += seconds;
        m_waited += seconds;
        if (wait.run < m_runs.size())
            *placeOf(m_runs[wait.run]) -= seconds;
    }
}

} // namespace loadline
