// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/timeline.hpp"
#include "profiler/device/device.hpp"
#include "profiler/device/memory_meter.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace loadline {

/// Seconds of one unit in one step, on this rank.
struct UnitSeconds {
    double forward = 0;  ///< computing alone: waits are taken off
    double backward = 0; ///< likewise; recomputation included
    double gather = 0;   ///< waited for its copy
    double reduce = 0;   ///< waited for its gradient's reduction
};

enum class WaitKind { Gather, Reduce };

/// Watches one step from event to event: the peak of memory between two boundaries belongs to the unit that ran, and so does the time.
/// Times are those of the device's queue, so on a GPU they are known only when the step is over. One thread.
class Observer {
public:
    /// Keeps references to the arguments.
    Observer(MemoryMeter& meter, ComputeDevice& device, std::size_t units) : m_meter(meter), m_device(device), m_seconds(units) {}

    void beginStep();
    /// The unit begins in this phase; what ran before it ends.
    void begin(Phase phase, std::size_t unit);
    /// What runs ends; nothing begins.
    void end();
    /// Around waiting for a collective that `unit` needs.
    void beginWait(WaitKind kind, std::size_t unit);
    void endWait();
    /// After everything that was queued is done: seconds() is complete from then on.
    void endStep();

    [[nodiscard]] const std::vector<TimelineEvent>& events() const { return m_events; } ///< of the last micro-step and the optimizer
    [[nodiscard]] const std::vector<UnitSeconds>& seconds() const { return m_seconds; } ///< of all micro-steps
    [[nodiscard]] double waited() const { return m_waited; }                            ///< in the whole step
    [[nodiscard]] double optimizer() const { return m_optimizer; }                      ///< seconds of the optimizer's phase
    [[nodiscard]] Bytes peak() const { return m_peak; }
    [[nodiscard]] const CategoryBytes& atPeak() const { return m_atPeak; }
    /// A new micro-step: events so far are dropped, the peak stays.
    void forgetEvents() { m_events.clear(); }

private:
    struct Run {
        Phase phase = Phase::Forward;
        std::size_t unit = 0;
        std::unique_ptr<Event> from;
        std::unique_ptr<Event> to;
    };
    struct Wait {
        WaitKind kind = WaitKind::Gather;
        std::size_t unit = 0;
        std::size_t run = 0; ///< index of the one that it happened in; beyond the last: in none
        std::unique_ptr<Event> from;
        std::unique_ptr<Event> to;
    };
    [[nodiscard]] std::unique_ptr<Event> now() const;
    double* placeOf(const Run& run);

    MemoryMeter& m_meter;
    ComputeDevice& m_device;
    std::vector<TimelineEvent> m_events;
    std::vector<UnitSeconds> m_seconds;
    std::vector<Run> m_runs;
    std::vector<Wait> m_waits;
    bool m_open = false;
    double m_waited = 0;
    double m_optimizer = 0;
    Bytes m_peak;
    CategoryBytes m_atPeak;
};

} // namespace loadline
