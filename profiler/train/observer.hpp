// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/timeline.hpp"
#include "profiler/device/memory_meter.hpp"

#include <chrono>
#include <cstddef>
#include <vector>

namespace loadline {

/// Seconds of one unit in one step, on this rank.
struct UnitSeconds {
    double forward = 0;
    double backward = 0;
};

/// Watches one step from event to event: the peak of memory between two boundaries belongs to the unit that ran, and so does the time.
/// One thread.
class Observer {
public:
    Observer(MemoryMeter& meter, std::size_t units) : m_meter(meter), m_seconds(units) {}

    void beginStep();
    /// The unit begins in this phase; what ran before it ends.
    void begin(Phase phase, std::size_t unit);
    /// What runs ends; nothing begins.
    void end();

    [[nodiscard]] const std::vector<TimelineEvent>& events() const { return m_events; } ///< of the last micro-step and the optimizer
    [[nodiscard]] const std::vector<UnitSeconds>& seconds() const { return m_seconds; } ///< of all micro-steps
    [[nodiscard]] Bytes peak() const { return m_peak; }
    [[nodiscard]] const CategoryBytes& atPeak() const { return m_atPeak; }
    /// A new micro-step: events so far are dropped, the peak stays.
    void forgetEvents() { m_events.clear(); }

private:
    MemoryMeter& m_meter;
    std::vector<TimelineEvent> m_events;
    std::vector<UnitSeconds> m_seconds;
    bool m_open = false;
    Phase m_phase = Phase::Forward;
    std::size_t m_unit = 0;
    std::chrono::steady_clock::time_point m_since;
    Bytes m_peak;
    CategoryBytes m_atPeak;
};

} // namespace loadline
