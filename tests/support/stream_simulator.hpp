// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>
#include <vector>

namespace loadline::test {

/// What one unit does in one micro-step, in seconds.
struct StreamWork {
    double gatherForward = 0;
    double computeForward = 0;
    double gatherBackward = 0;
    double computeBackward = 0;
    double reduce = 0; ///< in the last micro-step
    double step = 0;
    double scatter = 0; ///< in every micro-step but the last
};

struct StreamRules {
    int aheadForward = 1;
    int aheadBackward = 1;
    double slowCompute = 1;  ///< while both streams run
    double slowTransfer = 1; ///< likewise
    int microSteps = 1;
};

/// A second way to find the time of a step: two machines with a state each, advanced from event to event at the rates
/// that hold between them. Knows nothing of the product's code and keeps no clever state.
class StreamSimulator {
public:
    StreamSimulator(std::vector<StreamWork> work, StreamRules rules) : m_work(std::move(work)), m_rules(rules)
    {
        const int units = static_cast<int>(m_work.size());
        for (int micro = 0; micro < m_rules.microSteps; ++micro) {
            const int forward = static_cast<int>(m_tasks.size());
            m_barriers.push_back(forward);
            for (int u = 0; u < units; ++u)
                add(m_work[at(u)].computeForward, m_work[at(u)].gatherForward, 0, m_rules.aheadForward, forward + units);
            const int backward = static_cast<int>(m_tasks.size());
            const bool last = micro + 1 == m_rules.microSteps;
            for (int u = units - 1; u >= 0; --u)
                add(m_work[at(u)].computeBackward, m_work[at(u)].gatherBackward, last ? m_work[at(u)].reduce : m_work[at(u)].scatter,
                    m_rules.aheadBackward, backward + units);
        }
    }

    /// Seconds until the last optimizer step has ended; < 0 if the machines block each other.
    double run()
    {
        while (true) {
            startWhatCan();
            if (!m_computing && !m_moving)
                break;
            const double computeRate = m_computing && m_moving ? 1 / m_rules.slowCompute : 1;
            const double moveRate = m_computing && m_moving ? 1 / m_rules.slowTransfer : 1;
            double next = std::numeric_limits<double>::infinity();
            if (m_computing)
                next = std::min(next, m_computeLeft / computeRate);
            if (m_moving)
                next = std::min(next, m_queue.front().left / moveRate);
            const bool computed = m_computing && m_computeLeft / computeRate <= next;
            const bool moved = m_moving && m_queue.front().left / moveRate <= next;
            m_now += next;
            m_computeLeft = computed ? 0 : m_computeLeft - next * computeRate;
            if (m_moving)
                m_queue.front().left = moved ? 0 : m_queue.front().left - next * moveRate;
            if (moved)
                endTransfer();
            if (computed)
                endCompute();
        }
        if (m_next < m_tasks.size() || !m_queue.empty())
            return -1;
        for (const auto& unit : m_work)
            m_now += unit.step;
        return m_now;
    }

private:
    struct Task {
        double compute = 0;
        double gather = 0;
        double reduce = 0;
        int ahead = 0;
        int phaseEnd = 0; ///< first task after its phase
        bool asked = false;
        bool gathered = false;
    };
    struct Transfer {
        double left = 0;
        int task = 0; ///< whose gather it is; -1 for a reduction
    };

    static std::size_t at(int index) { return static_cast<std::size_t>(index); }

    void add(double compute, double gather, double reduce, int ahead, int phaseEnd)
    {
        m_tasks.push_back({compute, gather, reduce, ahead, phaseEnd});
    }

    void ask(int task)
    {
        auto& t = m_tasks[at(task)];
        if (t.asked)
            return;
        t.asked = true;
        t.gathered = t.gather <= 0;
        if (!t.gathered)
            m_queue.push_back({t.gather, task});
    }

    void startWhatCan()
    {
        if (!m_computing && m_next < m_tasks.size()) {
            const int task = static_cast<int>(m_next);
            const bool barred = std::find(m_barriers.begin(), m_barriers.end(), task) != m_barriers.end() && !m_tasks[m_next].asked;
            if (!barred || m_queue.empty())
                ask(task);
            if (m_tasks[m_next].gathered) {
                m_computing = true;
                m_computeLeft = m_tasks[m_next].compute;
                for (int i = 1; i <= m_tasks[at(task)].ahead && task + i < m_tasks[at(task)].phaseEnd; ++i)
                    ask(task + i);
            }
        }
        if (!m_moving && !m_queue.empty())
            m_moving = true;
        // The optimizer steps after the last reduction; with tasks used up the queue simply runs empty.
    }

    void endTransfer()
    {
        if (m_queue.front().task >= 0)
            m_tasks[at(m_queue.front().task)].gathered = true;
        m_queue.pop_front();
        m_moving = false;
    }

    void endCompute()
    {
        if (m_tasks[m_next].reduce > 0)
            m_queue.push_back({m_tasks[m_next].reduce, -1});
        m_computing = false;
        ++m_next;
    }

    std::vector<StreamWork> m_work;
    StreamRules m_rules;
    std::vector<Task> m_tasks;
    std::vector<int> m_barriers; ///< first task of each micro-step: nothing of it begins before all reductions have ended
    std::deque<Transfer> m_queue;
    std::size_t m_next = 0;
    bool m_computing = false;
    bool m_moving = false;
    double m_computeLeft = 0;
    double m_now = 0;
};

} // namespace loadline::test
