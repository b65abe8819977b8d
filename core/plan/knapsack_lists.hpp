// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/knapsack_core.hpp"
#include "core/plan/knapsack_selection.hpp"

#include <cstdint>
#include <vector>

namespace loadline::knapsack {

/// A choice for the items that one list has taken in, as a difference to the base.
struct State {
    std::int64_t bytes = 0;
    std::int64_t ticks = 0;
    std::int32_t node = -1; ///< how it came about; -1 the base
    std::int32_t move = -1; ///< made since, not yet in the history
};

/// A list of states of which none beats another: bytes ascending, ticks descending. Keeps its memory when it shrinks.
class StateList {
public:
    void start()
    {
        room(1)[0] = {};
        m_size = 1;
    }
    State* room(std::size_t size)
    {
        if (m_storage.size() < size)
            m_storage.resize(size + size / 2);
        return m_storage.data();
    }
    void resize(std::size_t size) { m_size = size; }
    void clear() { m_size = 0; }
    [[nodiscard]] std::size_t size() const { return m_size; }
    [[nodiscard]] bool empty() const { return m_size == 0; }
    [[nodiscard]] State* begin() { return m_storage.data(); }
    [[nodiscard]] State* end() { return m_storage.data() + m_size; }
    [[nodiscard]] const State* begin() const { return m_storage.data(); }
    [[nodiscard]] const State* end() const { return m_storage.data() + m_size; }
    State& operator[](std::size_t index) { return m_storage[index]; }
    const State& operator[](std::size_t index) const { return m_storage[index]; }
    void swap(StateList& other)
    {
        m_storage.swap(other.m_storage);
        std::swap(m_size, other.m_size);
    }

private:
    std::vector<State> m_storage;
    std::size_t m_size = 0;
};

/// How a pass over the lists ended.
struct PassResult {
    bool stopped = false;   ///< by the effort; not all items were taken in
    bool truncated = false; ///< states were dropped
    /// Least cost of a choice that was dropped with them; a choice not seen costs at least this.
    double droppedCost = std::numeric_limits<double>::infinity();
    /// Ticks of the best choice that moved more copies of an item than there are; int64 max if none was met.
    std::int64_t overdrawn = std::numeric_limits<std::int64_t>::max();
};

/// The whole choices of a core from two balanced Pareto lists (meet in the middle), docs/search.md, 7.
class PairedLists {
public:
    PairedLists(const Prepared& problem, Core& core, Incumbent& incumbent, Effort& effort)
        : m_problem(problem), m_core(core), m_incumbent(incumbent), m_effort(effort)
    {
    }

    /// Takes in the core's first `mostItems` items with at most some `cap` states in a list. Needs the core's steps.
    PassResult run(std::size_t cap, std::size_t mostItems);

private:
    enum class Place : unsigned char { Nowhere, First, Second, Open };
    struct Side {
        StateList states;
        Completion completion;
        int itemsSince = 0;
        std::size_t sizeThen = 0;
    };
    struct Node {
        std::int32_t parent = -1;
        std::int32_t move = -1;
    };
    struct Rank {
        double bound = 0; ///< cost with the cheapest completion
        std::uint32_t hash = 0;
    };

    void stop();
    void takeSingle(const Item& item, Side& side);
    void takeCopies(std::uint32_t index, Side& side, Place place);
    void mergeMoved(const StateList& kept, const StateList& from, const Deviation& deviation, std::int64_t copies, StateList& out);
    void prune(StateList& states, const Completion& completion);
    void truncate(StateList& states, const Completion& completion, std::size_t cap);
    void record(StateList& states);
    void meet();
    [[nodiscard]] bool hasCopies(std::int32_t first, std::int32_t second);
    void acceptPair();
    void compactHistory();

    void complete(Completion& completion, Place without) const;
    void completePartly(Completion& completion, Place without, const Item& item, const std::vector<std::int64_t>& left);
    void refresh(Side& side, Place place);

    const Prepared& m_problem;
    Core& m_core;
    Incumbent& m_incumbent;
    Effort& m_effort;
    PassResult m_result;
    std::size_t m_cap = 0;
    double m_allowance = 0;
    bool m_overdraws = false; ///< some item may have moved more copies than it has
    bool m_improved = false;
    std::int32_t m_bestFirst = -1;
    std::int32_t m_bestSecond = -1;
    Side m_first, m_second;
    StateList m_work, m_other;
    std::vector<Place> m_place;
    std::vector<Move> m_moves;
    std::vector<Node> m_history;
    std::size_t m_nextCompaction = 0;
    std::vector<Rank> m_ranks;
    std::vector<std::pair<std::uint32_t, std::int64_t>> m_used;
    std::vector<std::pair<double, double>> m_extraFill, m_extraFree;
    Completion m_partial;
};

} // namespace loadline::knapsack
