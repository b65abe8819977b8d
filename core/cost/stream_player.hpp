// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/step_time.hpp"

#include <cstddef>
#include <deque>
#include <vector>

namespace loadline {

/// Two streams of one rank, played in order: computations one after another, transfers in one first-in-first-out queue
/// behind them. While both run, computing takes `slowCompute` times and a transfer `slowTransfer` times longer.
/// Every transfer enters and leaves the queue once, so a play is linear in computations + transfers.
class StreamPlayer {
public:
    StreamPlayer(double slowCompute, double slowTransfer, std::size_t units);

    /// Queues a transfer now; its number is for `waitFor`. One of no length takes no place in the
    /// queue and has number 0, for which nobody waits.
    std::size_t issue(StreamSpan::Kind kind, std::size_t unit, double seconds);

    /// Lets transfers run until number `transfer` has ended; the computing stream idles and the time is exposed.
    void waitFor(std::size_t transfer);
    void waitForAll() { waitFor(m_issued); }

    void compute(StreamSpan::Kind kind, std::size_t unit, double seconds);

    void record(std::vector<StreamSpan>* spans) { m_spans = spans; }
    [[nodiscard]] double now() const { return m_now; }
    [[nodiscard]] const std::vector<double>& exposed() const { return m_exposed; } ///< per unit, by whose transfer runs

private:
    struct Transfer {
        StreamSpan::Kind kind;
        std::size_t unit;
        double left;
        double start; ///< < 0: waits in the queue
    };

    void begin(Transfer& transfer) const;
    void finishFirst();
    void span(StreamSpan::Kind kind, std::size_t unit, double start) const;

    double m_slowCompute;
    double m_slowTransfer;
    double m_now = 0;
    std::deque<Transfer> m_queue;
    std::size_t m_issued = 0;
    std::size_t m_ended = 0;
    std::vector<double> m_exposed;
    std::vector<StreamSpan>* m_spans = nullptr;
};

} // namespace loadline
