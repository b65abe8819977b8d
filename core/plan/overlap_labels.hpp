// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/overlap_chain.hpp"

#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

namespace loadline {

/// Places of the options still in play, by OverlapMemory type, ascending.
using OptionLists = std::vector<std::vector<std::uint32_t>>;

/// What is left of backward from a unit on, and all of forward up to it, as a function of the lags l (transfers left in the queue when
/// the unit's backward starts): sum over kinds of max(a + repeats x hidden x l, b + repeats x l). Two numbers a kind say it
/// all, for any fixed choice below; docs/search.md has the proof.
struct OverlapLabel {
    Lags a{};
    Lags b{};
    std::int64_t bytes = 0;   ///< persist of the choice below and at the unit
    std::int32_t parent = -1; ///< label of the unit before
};

/// Cost-to-go of every (unit, option) at one multiplier: the dynamic program along the chain, seconds + price x persist.
struct LabelTable {
    double price = 0;                      ///< seconds per byte
    std::vector<std::uint32_t> firstNode;  ///< [unit], [units]: end
    std::vector<std::uint32_t> firstLabel; ///< [node], [nodes]: end
    std::vector<OverlapLabel> labels;
    double value = std::numeric_limits<double>::infinity(); ///< least of seconds + price x persist; a lower bound where labels were merged
    std::vector<std::uint32_t> choice;                      ///< that has it, as places; empty if some list is
    bool merged = false;
    std::size_t mostLabels = 0; ///< at one node
};

/// The label arithmetic on one chain with one memory form. Limits are counters: `work` counts labels made.
class OverlapLabels {
public:
    OverlapLabels(const OverlapChain& chain, OverlapMemory memory, std::size_t labelCap = 48);

    /// Every list cut to options with a transient below `threshold`. Without a margin, also without those that another option beats at
    /// `price`. With a margin only without those that one beats in bytes and in every time, or at `price` by more than the margin:
    /// what holds such an option is more than the margin above the least of seconds + price x persist.
    [[nodiscard]] OptionLists lists(double price, std::int64_t threshold, double margin) const;

    [[nodiscard]] LabelTable run(double price, const OptionLists& lists);

    /// The label of `unit` under `place` over one label of the unit before under `below`.
    [[nodiscard]] OverlapLabel extend(std::size_t unit, std::uint32_t place, std::uint32_t below, const OverlapLabel& label,
                                      double price) const;

    [[nodiscard]] double at(const OverlapLabel& label, const Lags& lags) const;
    /// What the last unit adds once its backward may start: forward of its own and, gathering ahead, its gather.
    [[nodiscard]] double ending(std::uint32_t place) const;
    /// No lag at `unit` is longer, whatever is chosen above.
    [[nodiscard]] const Lags& longestLag(std::size_t unit) const { return m_longestLag[unit]; }
    /// Lags are known as soon as the option is: its own gather, or with gathering ahead the wait for it, empties the queue.
    [[nodiscard]] bool emptiesQueue(std::size_t unit, std::uint32_t place) const { return times(unit, place).gatherBackward > 0; }
    /// Least of `label` - other over all lags up to the longest: a lower bound where there are two kinds.
    [[nodiscard]] double leastAbove(const OverlapLabel& label, const OverlapLabel& other, const Lags& longest) const;
    /// Most of it; at most 0: `label` is never slower.
    [[nodiscard]] double mostAbove(const OverlapLabel& label, const OverlapLabel& other, const Lags& longest) const;

    [[nodiscard]] const ChainTimes& times(std::size_t unit, std::uint32_t place) const { return m_chain.options(unit)[place]; }
    [[nodiscard]] const OverlapChain& chain() const { return m_chain; }
    [[nodiscard]] const OverlapMemory& memory() const { return m_memory; }
    [[nodiscard]] std::int64_t work() const { return m_work; }
    /// Writes the choice of a label of `unit` to places[0..unit].
    void trace(const LabelTable& table, const OptionLists& lists, std::size_t unit, std::uint32_t label,
               std::vector<std::uint32_t>& places) const;
    void addWork(std::int64_t work) { m_work += work; }

private:
    [[nodiscard]] double line(const OverlapLabel& label, std::size_t kind, double lag) const
    {
        return std::max(label.a[kind] + m_chain.repeats[kind] * m_chain.hidden * lag, label.b[kind] + m_chain.repeats[kind] * lag);
    }
    [[nodiscard]] OverlapLabel first(std::uint32_t place, double price) const;
    /// Seconds that a step can take longer with `option` instead of `than`, whatever the neighbours do: a step's time moves by no more
    /// than any one of its times does.
    [[nodiscard]] double mostSlower(const ChainTimes& option, const ChainTimes& than) const;
    [[nodiscard]] bool beaten(const OverlapMemory::Type& type, std::uint32_t place, std::uint32_t by, double price, double margin) const;
    void appendCandidates(LabelTable& table, std::size_t unit, std::uint32_t place, const std::vector<std::uint32_t>& below);
    void keepBest(std::vector<OverlapLabel>& labels, const Lags& longest);
    void appendBest(LabelTable& table, std::size_t unit);
    void finish(LabelTable& table, const OptionLists& lists) const;

    const OverlapChain& m_chain;
    OverlapMemory m_memory;
    std::size_t m_labelCap;
    std::vector<Lags> m_longestLag;
    std::vector<OverlapLabel> m_candidates;                         ///< of one node
    std::vector<std::tuple<double, double, std::uint32_t>> m_order; ///< of them: at no lag, at the longest
    std::int64_t m_work = 0;
};

} // namespace loadline
