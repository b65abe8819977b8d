// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/knapsack_lists.hpp"

#include <algorithm>

/// How the states of the two lists came about: chains of moves that share their beginnings.
namespace loadline::knapsack {

void PairedLists::record(StateList& states)
{
    for (State& state : states)
        if (state.move >= 0) {
            m_history.push_back({state.node, state.move});
            state.node = static_cast<std::int32_t>(m_history.size()) - 1;
            state.move = -1;
        }
}

bool PairedLists::hasCopies(std::int32_t first, std::int32_t second)
{
    m_used.clear();
    for (std::int32_t node : {first, second})
        for (; node >= 0; node = m_history[static_cast<std::size_t>(node)].parent) {
            const Move& move = m_moves[static_cast<std::size_t>(m_history[static_cast<std::size_t>(node)].move)];
            m_used.emplace_back(move.base, move.copies);
        }
    m_effort.spend(static_cast<std::int64_t>(m_used.size()));
    std::sort(m_used.begin(), m_used.end());
    for (std::size_t i = 0; i < m_used.size();) {
        const std::uint32_t entry = m_used[i].first;
        std::int64_t copies = 0;
        for (; i < m_used.size() && m_used[i].first == entry; ++i)
            copies += m_used[i].second;
        if (copies > m_core.base[entry].count)
            return false;
    }
    return true;
}

void PairedLists::acceptPair()
{
    if (!m_improved)
        return;
    std::vector<Move> moves;
    for (std::int32_t node : {m_bestFirst, m_bestSecond})
        for (; node >= 0; node = m_history[static_cast<std::size_t>(node)].parent)
            moves.push_back(m_moves[static_cast<std::size_t>(m_history[static_cast<std::size_t>(node)].move)]);
    m_core.accept(m_incumbent.ticks, moves);
}

void PairedLists::compactHistory()
{
    std::vector<std::int32_t> target(m_history.size(), -1);
    const auto mark = [&target](std::int32_t node) {
        if (node >= 0)
            target[static_cast<std::size_t>(node)] = 0;
    };
    for (const Side* side : {&m_first, &m_second})
        for (const State& state : side->states)
            mark(state.node);
    mark(m_bestFirst);
    mark(m_bestSecond);
    for (std::size_t i = m_history.size(); i-- > 0;) // parents stand before their children
        if (target[i] == 0)
            mark(m_history[i].parent);
    const auto moved = [&target](std::int32_t node) { return node < 0 ? node : target[static_cast<std::size_t>(node)]; };
    std::size_t kept = 0;
    for (std::size_t i = 0; i < m_history.size(); ++i)
        if (target[i] == 0) {
            target[i] = static_cast<std::int32_t>(kept);
            m_history[kept++] = {moved(m_history[i].parent), m_history[i].move};
        }
    m_history.resize(kept);
    for (Side* side : {&m_first, &m_second})
        for (State& state : side->states)
            state.node = moved(state.node);
    m_bestFirst = moved(m_bestFirst);
    m_bestSecond = moved(m_bestSecond);
}

} // namespace loadline::knapsack
