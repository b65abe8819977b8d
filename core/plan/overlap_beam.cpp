// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/overlap_beam.hpp"

#include <utility>

namespace loadline {
namespace {

/// Choices that a peak turned down before completions are no longer offered.
constexpr int kMostRefused = 40;

/// Units above `unit` and itself are chosen.
struct State {
    double spent = 0;           ///< seconds of forward and backward above, and forward from this unit on
    Lags lag{};                 ///< when its backward starts
    std::int64_t bytes = 0;     ///< persist of the units above
    std::int64_t transient = 0; ///< largest of those and its own
    std::uint32_t index = 0;    ///< of its option in the unit's list
    std::int32_t parent = -1;   ///< state of the unit above
    std::uint32_t label = 0;    ///< that completes it best
    double completed = 0;       ///< seconds of the whole choice that the label makes of it
    double bound = 0;
};

class Beam {
public:
    Beam(OverlapLabels& labels, const BeamRequest& request)
        : m_labels(labels), m_chain(labels.chain()), m_memory(labels.memory()), m_request(request), m_upper(request.upper),
          m_table(labels.run(request.price, request.lists))
    {
    }

    BeamResult run()
    {
        BeamResult result;
        if (m_table.choice.empty()) {
            result.complete = true;
            return result;
        }
        sumLeastBytes();
        start();
        result.complete = true;
        for (std::size_t unit = m_chain.units() - 1; unit > 0; --unit) {
            prune(unit);
            offerBest(unit);
            m_history.push_back(m_states);
            if (m_made > m_request.work) {
                m_dropped = std::min(m_dropped, least(m_states));
                result.complete = false;
                break;
            }
            expand(unit);
        }
        if (result.complete) {
            prune(0);
            offerAll();
        }
        m_labels.addWork(m_made);
        result.complete = result.complete && !m_truncated;
        result.bound = m_dropped;
        return result;
    }

private:
    [[nodiscard]] const std::vector<std::uint32_t>& list(std::size_t unit) const { return m_request.lists[m_memory.typeOfUnit[unit]]; }
    [[nodiscard]] std::uint32_t place(std::size_t unit, const State& state) const { return list(unit)[state.index]; }
    [[nodiscard]] const MemoryTerm& term(std::size_t unit, const State& state) const { return m_memory.terms(unit)[place(unit, state)]; }

    [[nodiscard]] static double least(const std::vector<State>& states)
    {
        double bound = std::numeric_limits<double>::infinity();
        for (const State& state : states)
            bound = std::min(bound, state.bound);
        return bound;
    }

    void sumLeastBytes()
    {
        m_leastBelow.assign(m_chain.units() + 1, 0);
        for (std::size_t unit = 0; unit < m_chain.units(); ++unit) {
            std::int64_t least = std::numeric_limits<std::int64_t>::max();
            for (const std::uint32_t option : list(unit))
                least = std::min(least, m_memory.terms(unit)[option].persist);
            m_leastBelow[unit + 1] = m_leastBelow[unit] + least;
        }
    }

    void start()
    {
        const std::size_t last = m_chain.units() - 1;
        for (std::uint32_t i = 0; i < list(last).size(); ++i) {
            State state;
            state.index = i;
            state.spent = m_labels.ending(list(last)[i]);
            state.transient = m_memory.terms(last)[list(last)[i]].transient;
            enter(last, state);
        }
    }

    /// Bounds a state and keeps it if it may lead to something faster that fits.
    void enter(std::size_t unit, State state)
    {
        ++m_made;
        const std::int64_t own = term(unit, state).persist;
        const std::int64_t transient = std::max(state.transient, m_memory.leastTransient);
        if (state.bytes + own + m_leastBelow[unit] + transient > m_memory.capacity)
            return;
        if (!m_request.line.empty() && std::abs(state.bytes - m_request.line[unit]) > m_request.window)
            return;
        const std::size_t node = m_table.firstNode[unit] + state.index;
        double value = std::numeric_limits<double>::infinity();
        for (std::uint32_t j = m_table.firstLabel[node]; j < m_table.firstLabel[node + 1]; ++j)
            if (const double at = m_labels.at(m_table.labels[j], state.lag); at < value) {
                value = at;
                state.label = j;
            }
        state.completed = state.spent + value - m_request.price * static_cast<double>(m_table.labels[state.label].bytes);
        const std::int64_t charged = state.bytes + std::max(state.transient, m_request.piece.transient) - m_memory.capacity;
        state.bound = state.spent + value + m_request.price * static_cast<double>(charged);
        if (state.bound < m_upper)
            m_states.push_back(state);
    }

    /// Chooses the unit below for every state.
    void expand(std::size_t unit)
    {
        const std::vector<State> above = std::exchange(m_states, {});
        for (std::size_t i = 0; i < above.size(); ++i)
            for (std::uint32_t index = 0; index < list(unit - 1).size(); ++index)
                enter(unit - 1, below(unit, above[i], i, index));
    }

    [[nodiscard]] State below(std::size_t unit, const State& above, std::size_t parent, std::uint32_t index) const
    {
        const ChainTimes& cost = m_labels.times(unit, place(unit, above));
        const std::uint32_t option = list(unit - 1)[index];
        const ChainTimes& lower = m_labels.times(unit - 1, option);
        State state;
        state.index = index;
        state.parent = static_cast<std::int32_t>(parent);
        state.bytes = above.bytes + term(unit, above).persist;
        state.transient = std::max(above.transient, m_memory.terms(unit - 1)[option].transient);
        const double forward = m_chain.aheadForward ? m_chain.pair(lower.forward, cost.gatherForward) : lower.forward + cost.gatherForward;
        state.spent = above.spent + m_chain.microSteps * forward + cost.step;
        const double gather = m_chain.aheadBackward ? lower.gatherBackward : cost.gatherBackward;
        for (std::size_t kind = 0; kind < m_chain.kinds; ++kind) {
            const double lag = above.lag[kind];
            double seconds = 0;
            double left = 0;
            if (gather > 0) {
                seconds = m_chain.aheadBackward ? m_chain.pair(cost.backward, lag + gather) : lag + gather + cost.backward;
            } else {
                seconds = std::min(m_chain.slowCompute * cost.backward, cost.backward + m_chain.hidden * lag);
                left = std::max(0.0, lag - m_chain.slowCompute / m_chain.slowTransfer * cost.backward);
            }
            state.spent += m_chain.repeats[kind] * seconds;
            state.lag[kind] = left + cost.reduce[kind];
        }
        return state;
    }

    /// No more bytes, no larger transient, and no later whatever follows: time moves by no more than a lag does.
    [[nodiscard]] bool beats(const State& better, const State& other) const
    {
        if (better.bytes > other.bytes || better.transient > other.transient)
            return false;
        double later = better.spent - other.spent;
        for (std::size_t kind = 0; kind < m_chain.kinds; ++kind)
            later += m_chain.repeats[kind] * std::max(0.0, better.lag[kind] - other.lag[kind]);
        return later <= 0;
    }

    void prune(std::size_t unit)
    {
        std::erase_if(m_states, [&](const State& state) { return state.bound >= m_upper; });
        std::stable_sort(m_states.begin(), m_states.end(), [](const State& x, const State& y) { return x.bound < y.bound; });
        std::vector<State> kept;
        std::vector<std::vector<std::uint32_t>> byOption(list(unit).size());
        constexpr std::size_t kEnough = 4; // times the width: what is beyond is cut anyway
        for (const State& state : m_states) {
            auto& same = byOption[state.index];
            const bool dead = std::any_of(same.begin(), same.end(), [&](std::uint32_t i) { return beats(kept[i], state); });
            if (dead)
                continue;
            if (kept.size() >= kEnough * m_request.width) {
                m_dropped = std::min(m_dropped, state.bound);
                m_truncated = true;
                break; // in order of bounds: the rest is no better
            }
            same.push_back(static_cast<std::uint32_t>(kept.size()));
            kept.push_back(state);
        }
        m_states = std::move(kept);
        if (m_states.size() > m_request.width)
            truncate();
    }

    /// Half by bound, half by bytes: the best of each stratum, so that the width also covers what will be needed later.
    void truncate()
    {
        const std::size_t width = m_request.width;
        const std::size_t half = width / 2;
        std::int64_t low = std::numeric_limits<std::int64_t>::max();
        std::int64_t high = 0;
        for (const State& state : m_states) {
            low = std::min(low, state.bytes);
            high = std::max(high, state.bytes);
        }
        const std::size_t strata = width - half;
        std::vector<bool> taken(strata, false);
        std::vector<State> kept(m_states.begin(), m_states.begin() + static_cast<std::ptrdiff_t>(half));
        for (std::size_t i = half; i < m_states.size(); ++i) {
            const double share = static_cast<double>(m_states[i].bytes - low) / static_cast<double>(high - low + 1);
            const auto stratum = std::min(strata - 1, static_cast<std::size_t>(share * static_cast<double>(strata)));
            if (taken[stratum]) {
                m_dropped = std::min(m_dropped, m_states[i].bound);
                m_truncated = true;
                continue;
            }
            taken[stratum] = true;
            kept.push_back(m_states[i]);
        }
        m_states = std::move(kept);
    }

    [[nodiscard]] bool mayFit(const State& state) const
    {
        return state.bytes + m_table.labels[state.label].bytes + std::max(state.transient, m_memory.leastTransient) <= m_memory.capacity;
    }

    [[nodiscard]] std::vector<std::uint32_t> placesOf(std::size_t unit, const State& state) const
    {
        std::vector<std::uint32_t> places(m_chain.units());
        m_labels.trace(m_table, m_request.lists, unit, state.label, places);
        std::int32_t parent = state.parent;
        for (std::size_t at = unit + 1; at < m_chain.units(); ++at) {
            const State& above = m_history[m_chain.units() - 1 - at][static_cast<std::size_t>(parent)];
            places[at] = place(at, above);
            parent = above.parent;
        }
        return places;
    }

    void offerBest(std::size_t unit)
    {
        const State* best = nullptr;
        for (const State& state : m_states)
            if (m_refused < kMostRefused && state.completed < m_upper && mayFit(state) &&
                (best == nullptr || state.completed < best->completed))
                best = &state;
        if (best != nullptr && !take(placesOf(unit, *best)))
            ++m_refused;
    }

    /// What is left at the first unit is complete: a choice that fits the form and not the true peak still bounds those it stood for.
    void offerAll()
    {
        for (const State& state : m_states) {
            if (state.completed >= m_upper)
                continue;
            if (mayFit(state) && !take(placesOf(0, state)))
                m_dropped = std::min(m_dropped, state.completed);
        }
    }

    bool take(const std::vector<std::uint32_t>& places)
    {
        const double before = m_upper;
        m_upper = std::min(m_upper, m_request.offer(places));
        return m_upper < before;
    }

    OverlapLabels& m_labels;
    const OverlapChain& m_chain;
    const OverlapMemory& m_memory;
    const BeamRequest& m_request;
    double m_upper;
    LabelTable m_table;
    std::vector<std::int64_t> m_leastBelow;
    std::vector<State> m_states;
    std::vector<std::vector<State>> m_history; ///< from the last unit down
    double m_dropped = std::numeric_limits<double>::infinity();
    bool m_truncated = false;
    int m_refused = 0;
    std::int64_t m_made = 0;
};

} // namespace

BeamResult walkBeam(OverlapLabels& labels, const BeamRequest& request)
{
    return Beam(labels, request).run();
}

} // namespace loadline
