// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/knapsack.hpp"

#include <cstdint>

namespace loadline::knapsack {

/// Counts the work of one search and says when to stop: the same count on every machine, never a clock.
class Effort {
public:
    explicit Effort(const SearchLimits& limits) : m_limits(limits) {}

    /// Adds `units` (states merged, or steps that cost about as much). False once the search has to stop.
    bool spend(std::int64_t units)
    {
        m_work += units;
        if (m_work >= m_nextPoll) {
            m_nextPoll = m_work + kPollEvery;
            poll();
        }
        return !stopped();
    }

    /// Looks whether to stop, inside one long step. False if so.
    bool poll()
    {
        m_cancelled = m_cancelled || m_limits.stop.stop_requested();
        return !m_cancelled;
    }

    [[nodiscard]] bool stopped() const { return m_cancelled || m_work >= m_limits.work; }
    [[nodiscard]] bool cancelled() const { return m_cancelled; }
    [[nodiscard]] std::int64_t work() const { return m_work; }
    [[nodiscard]] const SearchLimits& limits() const { return m_limits; }

private:
    static constexpr std::int64_t kPollEvery = 20'000; ///< well under 1 ms at some 10 ns a unit

    const SearchLimits& m_limits;
    std::int64_t m_work = 0;
    std::int64_t m_nextPoll = 0;
    bool m_cancelled = false;
};

} // namespace loadline::knapsack
