// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/knapsack_lists.hpp"

#include <algorithm>
#include <cmath>

namespace loadline::knapsack {
namespace {

constexpr std::size_t kFirstCompaction = std::size_t{1} << 20; ///< nodes, 8 bytes each
constexpr std::size_t kMostHistory = std::size_t{12} << 20;
constexpr std::size_t kPollEvery = std::size_t{1} << 15; ///< steps of some 10 ns

/// Spreads equal ranks evenly over the bytes; without it a cut would keep one end of a tie.
std::uint32_t spread(std::int64_t bytes)
{
    auto x = static_cast<std::uint64_t>(bytes);
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return static_cast<std::uint32_t>(x ^ (x >> 33));
}

/// 1, 2, 4, ... and a rest, largest first: their part sums are all of 0..total.
std::vector<std::int64_t> binaryParts(std::int64_t total)
{
    std::vector<std::int64_t> parts;
    for (std::int64_t part = 1; total > 0; part *= 2) {
        parts.push_back(std::min(part, total));
        total -= parts.back();
    }
    std::sort(parts.rbegin(), parts.rend());
    return parts;
}

} // namespace

PassResult PairedLists::run(std::size_t cap, std::size_t mostItems)
{
    m_result = {};
    m_cap = cap;
    m_overdraws = false;
    m_improved = false;
    m_bestFirst = m_bestSecond = -1;
    m_moves.clear();
    m_history.clear();
    m_nextCompaction = kFirstCompaction;
    m_place.assign(m_core.items.size(), Place::Open);
    for (Side* side : {&m_first, &m_second}) {
        side->states.start();
        side->itemsSince = 1'000'000;
        side->sizeThen = 1;
    }
    const std::size_t end = std::min(m_core.items.size(), mostItems);
    for (std::uint32_t index = 0; index < end; ++index) {
        const Item& item = m_core.items[index];
        m_allowance = m_core.allowance();
        if (m_allowance < 0 || item.cheapest > m_allowance)
            break;
        bool toFirst = m_first.states.size() <= m_second.states.size();
        // Long runs of equal copies cancel each other only inside one list.
        if (item.copies > 1 && item.cheapest * static_cast<double>(item.copies) <= 0.5 * m_allowance)
            toFirst = true;
        Side& side = toFirst ? m_first : m_second;
        m_place[index] = toFirst ? Place::First : Place::Second;
        refresh(side, m_place[index]);
        if (item.copies == 1)
            takeSingle(item, side);
        else
            takeCopies(index, side, m_place[index]);
        truncate(side.states, side.completion, m_cap);
        meet();
        if (m_effort.stopped()) {
            stop();
            break;
        }
        if (side.states.empty())
            break;
        if (m_history.size() > m_nextCompaction) {
            compactHistory();
            m_nextCompaction = std::max(kFirstCompaction, 2 * m_history.size());
            if (m_nextCompaction > kMostHistory) {
                stop();
                break;
            }
        }
    }
    acceptPair();
    return m_result;
}

/// Ends a pass between two items. Unless a step was cut short, every better plan still has its part in both lists, or was dropped.
void PairedLists::stop()
{
    m_result.stopped = true;
    if (m_effort.cancelled()) {
        m_result.droppedCost = 0;
        return;
    }
    double open = 0;
    for (const auto& [side, place] : {std::pair(&m_first, Place::First), std::pair(&m_second, Place::Second)}) {
        complete(m_partial, place);
        Completion::Walk walk(m_partial);
        double least = std::numeric_limits<double>::infinity();
        for (const State& state : side->states)
            least = std::min(least, static_cast<double>(state.ticks) + m_core.price * static_cast<double>(state.bytes) +
                                        walk.at(static_cast<double>(m_core.freeBytes - state.bytes)));
        open = std::max(open, least);
    }
    m_result.droppedCost = std::min(m_result.droppedCost, open);
}

void PairedLists::refresh(Side& side, Place place)
{
    // An old completion still counts items that this list has since taken in: weaker, but a bound all the same.
    const std::size_t size = side.states.size();
    if (side.itemsSince < 16 && size <= 2 * side.sizeThen && 4 * size <= m_core.fill.size() + m_core.free.size()) {
        ++side.itemsSince;
        return;
    }
    complete(side.completion, place);
    side.itemsSince = 0;
    side.sizeThen = size;
}

void PairedLists::complete(Completion& completion, Place without) const
{
    completion.reset(m_core.price, m_allowance);
    for (const Step& step : m_core.fill)
        if (m_place[step.item] != without && !completion.addFill(step.ratio, step.bytes))
            break;
    for (const Step& step : m_core.free)
        if (m_place[step.item] != without && !completion.addFree(step.ratio, step.bytes))
            break;
}

void PairedLists::completePartly(Completion& completion, Place without, const Item& item, const std::vector<std::int64_t>& left)
{
    m_extraFill.clear();
    m_extraFree.clear();
    for (std::uint32_t i = item.first; i < item.end; ++i) {
        const Deviation& one = m_core.deviations[i];
        const std::int64_t copies = left[i - item.first];
        if (copies == 0 || one.bytes == 0)
            continue;
        const double bytes = std::abs(static_cast<double>(one.bytes));
        if (one.bytes < 0)
            m_extraFree.emplace_back(one.cost / bytes, bytes * static_cast<double>(copies));
        else if (one.cost < m_core.price * bytes)
            m_extraFill.emplace_back(one.cost / bytes, bytes * static_cast<double>(copies));
    }
    std::sort(m_extraFill.begin(), m_extraFill.end());
    std::sort(m_extraFree.begin(), m_extraFree.end());
    completion.reset(m_core.price, m_allowance);
    const auto weave = [&](const std::vector<Step>& steps, const std::vector<std::pair<double, double>>& extra, const auto& add) {
        std::size_t next = 0;
        for (const Step& step : steps) {
            if (m_place[step.item] == without)
                continue;
            for (; next < extra.size() && extra[next].first <= step.ratio; ++next)
                if (!add(extra[next].first, extra[next].second))
                    return;
            if (!add(step.ratio, step.bytes))
                return;
        }
        for (; next < extra.size(); ++next)
            if (!add(extra[next].first, extra[next].second))
                return;
    };
    weave(m_core.fill, m_extraFill, [&](double ratio, double bytes) { return completion.addFill(ratio, bytes); });
    weave(m_core.free, m_extraFree, [&](double ratio, double bytes) { return completion.addFree(ratio, bytes); });
}

void PairedLists::takeSingle(const Item& item, Side& side)
{
    const StateList* kept = &side.states;
    for (std::uint32_t i = item.first; i < item.end && !m_effort.cancelled(); ++i) {
        const Deviation& deviation = m_core.deviations[i];
        if (deviation.cost > m_allowance)
            continue;
        m_moves.push_back({item.base, deviation.option, 1});
        mergeMoved(*kept, side.states, deviation, 1, m_other);
        m_work.swap(m_other);
        kept = &m_work;
        if (m_work.size() > 4 * m_cap) {
            prune(m_work, side.completion);
            truncate(m_work, side.completion, 2 * m_cap);
        }
    }
    if (kept == &side.states)
        return;
    prune(m_work, side.completion);
    side.states.swap(m_work);
    record(side.states);
}

void PairedLists::takeCopies(std::uint32_t index, Side& side, Place place)
{
    const Item& item = m_core.items[index];
    const std::uint32_t count = item.end - item.first;
    std::vector<std::int64_t> left(count, 0);
    std::vector<std::uint32_t> order;
    double sum = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const double cost = m_core.deviations[item.first + i].cost;
        if (cost > m_allowance)
            continue;
        left[i] = item.copies;
        if (cost * static_cast<double>(item.copies) > m_allowance)
            left[i] = std::min(item.copies, static_cast<std::int64_t>(m_allowance / cost) + 1);
        sum += static_cast<double>(left[i]);
        order.push_back(i);
    }
    // Several kinds of deviation may together move more copies than there are: checked whenever a choice would be accepted.
    m_overdraws = m_overdraws || sum > static_cast<double>(item.copies);
    const auto reach = [&](std::uint32_t i) {
        return std::abs(static_cast<double>(m_core.deviations[item.first + i].bytes)) * static_cast<double>(left[i]);
    };
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return reach(a) > reach(b); });
    for (const std::uint32_t i : order) {
        const Deviation& deviation = m_core.deviations[item.first + i];
        for (const std::int64_t part : binaryParts(left[i])) {
            left[i] -= part;
            if (m_effort.cancelled())
                return;
            if (deviation.cost * static_cast<double>(part) <= m_allowance) {
                m_moves.push_back({item.base, deviation.option, part});
                mergeMoved(side.states, side.states, deviation, part, m_work);
                side.states.swap(m_work);
            }
            if (side.states.size() > 64 || left[i] == 0) {
                completePartly(m_partial, place, item, left);
                prune(side.states, m_partial);
                record(side.states);
                truncate(side.states, m_partial, 4 * m_cap);
            } else {
                record(side.states);
            }
        }
    }
    prune(side.states, side.completion);
}

void PairedLists::mergeMoved(const StateList& kept, const StateList& from, const Deviation& deviation, std::int64_t copies, StateList& out)
{
    constexpr std::int64_t kWorst = std::numeric_limits<std::int64_t>::max();
    const std::int64_t bytes = deviation.bytes * copies;
    const std::int64_t ticks = deviation.ticks * copies;
    const double most = m_allowance - deviation.cost * static_cast<double>(copies);
    const double price = m_core.price;
    const auto move = static_cast<std::int32_t>(m_moves.size()) - 1;
    State* last = out.room(kept.size() + from.size());
    const State* left = kept.begin();
    std::int64_t best = kWorst;
    std::size_t seen = 0;
    for (const State& state : from) {
        if (++seen % kPollEvery == 0 && !m_effort.poll())
            break;
        if (static_cast<double>(state.ticks) + price * static_cast<double>(state.bytes) > most)
            continue;
        const State moved{state.bytes + bytes, state.ticks + ticks, state.node, move};
        for (; left != kept.end() && (left->bytes < moved.bytes || (left->bytes == moved.bytes && left->ticks <= moved.ticks)); ++left)
            if (left->ticks < best) {
                best = left->ticks;
                *last++ = *left;
            }
        if (moved.ticks < best) {
            best = moved.ticks;
            *last++ = moved;
        }
    }
    for (; left != kept.end(); ++left)
        if (left->ticks < best) {
            best = left->ticks;
            *last++ = *left;
        }
    out.resize(static_cast<std::size_t>(last - out.begin()));
    m_effort.spend(static_cast<std::int64_t>(kept.size() + from.size()));
}

void PairedLists::prune(StateList& states, const Completion& completion)
{
    Completion::Walk walk(completion);
    const double price = m_core.price;
    State* kept = states.begin();
    std::size_t seen = 0;
    for (const State& state : states) {
        if (++seen % kPollEvery == 0 && !m_effort.poll())
            break;
        const double cost = static_cast<double>(state.ticks) + price * static_cast<double>(state.bytes);
        if (cost + walk.at(static_cast<double>(m_core.freeBytes - state.bytes)) <= m_allowance)
            *kept++ = state;
    }
    states.resize(static_cast<std::size_t>(kept - states.begin()));
}

/// Half of what stays is good as it stands, half promises most.
void PairedLists::truncate(StateList& states, const Completion& completion, std::size_t cap)
{
    if (states.size() <= cap)
        return;
    m_result.truncated = true;
    m_effort.spend(static_cast<std::int64_t>(states.size()) * 2);
    Completion::Walk walk(completion);
    m_ranks.resize(states.size());
    Selection finished(cap / 2, true), promising(cap - cap / 2, false);
    for (std::size_t i = 0; i < states.size(); ++i) {
        const State& state = states[i];
        const std::int64_t left = m_core.freeBytes - state.bytes;
        const double cost = static_cast<double>(state.ticks) + m_core.price * static_cast<double>(state.bytes);
        m_ranks[i] = {cost + walk.at(static_cast<double>(left)), spread(state.bytes)};
        if (left >= 0)
            finished.note(static_cast<double>(state.ticks));
        if (i % kPollEvery == 0 && !m_effort.poll())
            return;
    }
    for (const State& state : states)
        if (m_core.freeBytes >= state.bytes)
            finished.count(static_cast<double>(state.ticks));
    finished.settle();
    const auto isFinished = [&](std::size_t i) {
        return m_core.freeBytes >= states[i].bytes && finished.keeps(static_cast<double>(states[i].ticks), m_ranks[i].hash);
    };
    for (std::size_t i = 0; i < states.size(); ++i)
        if (!isFinished(i))
            promising.note(m_ranks[i].bound);
    for (std::size_t i = 0; i < states.size(); ++i)
        if (!isFinished(i))
            promising.count(m_ranks[i].bound);
    promising.settle();
    State* kept = states.begin();
    for (std::size_t i = 0; i < states.size(); ++i) {
        if (isFinished(i) || promising.keeps(m_ranks[i].bound, m_ranks[i].hash))
            *kept++ = states[i];
        else
            m_result.droppedCost = std::min(m_result.droppedCost, m_ranks[i].bound);
    }
    states.resize(static_cast<std::size_t>(kept - states.begin()));
}

void PairedLists::meet()
{
    const StateList& second = m_second.states;
    std::size_t end = second.size();
    for (const State& state : m_first.states) {
        while (end > 0 && second[end - 1].bytes > m_core.freeBytes - state.bytes)
            --end;
        if (end == 0)
            break;
        const State& partner = second[end - 1];
        const std::int64_t ticks = m_core.baseTicks + state.ticks + partner.ticks;
        if (ticks >= m_incumbent.ticks)
            continue;
        if (m_overdraws && !hasCopies(state.node, partner.node)) {
            m_result.overdrawn = std::min(m_result.overdrawn, ticks);
            continue;
        }
        m_incumbent.ticks = ticks; // prunes at once; the picks follow at the end of the pass
        m_improved = true;
        m_bestFirst = state.node;
        m_bestSecond = partner.node;
    }
    m_effort.spend(static_cast<std::int64_t>(m_first.states.size() + second.size()) / 2);
}

} // namespace loadline::knapsack
