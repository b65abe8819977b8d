// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/stream_player.hpp"

#include <algorithm>

namespace loadline {

StreamPlayer::StreamPlayer(double slowCompute, double slowTransfer, std::size_t units)
    : m_slowCompute(slowCompute), m_slowTransfer(slowTransfer), m_exposed(units, 0.0)
{
}

std::size_t StreamPlayer::issue(StreamSpan::Kind kind, std::size_t unit, double seconds)
{
    if (!(seconds > 0))
        return 0;
    m_queue.push_back({kind, unit, seconds, -1});
    return ++m_issued;
}

void StreamPlayer::waitFor(std::size_t transfer)
{
    while (m_ended < transfer) {
        auto& first = m_queue.front();
        begin(first);
        m_now += first.left;
        m_exposed[first.unit] += first.left;
        finishFirst();
    }
}

void StreamPlayer::compute(StreamSpan::Kind kind, std::size_t unit, double seconds)
{
    const double start = m_now;
    double left = seconds;
    while (left > 0 && !m_queue.empty()) {
        auto& first = m_queue.front();
        begin(first);
        const double untilComputed = left * m_slowCompute;
        const double untilMoved = first.left * m_slowTransfer;
        const double both = std::min(untilComputed, untilMoved);
        m_now += both;
        m_exposed[first.unit] += both - both / m_slowCompute; // what the transfer slows this computation by
        left = untilMoved < untilComputed ? std::max(0.0, left - both / m_slowCompute) : 0;
        if (untilMoved <= untilComputed)
            finishFirst();
        else
            first.left -= both / m_slowTransfer;
    }
    m_now += left;
    span(kind, unit, start);
}

void StreamPlayer::begin(Transfer& transfer) const
{
    if (transfer.start < 0)
        transfer.start = m_now;
}

void StreamPlayer::finishFirst()
{
    const auto first = m_queue.front();
    m_queue.pop_front();
    ++m_ended;
    span(first.kind, first.unit, first.start);
}

void StreamPlayer::span(StreamSpan::Kind kind, std::size_t unit, double start) const
{
    if (m_spans != nullptr && m_now > start)
        m_spans->push_back({kind, unit, Seconds(start), Seconds(m_now)});
}

} // namespace loadline
