// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/overlap_labels.hpp"

#include <numeric>

namespace loadline {

OverlapLabels::OverlapLabels(const OverlapChain& chain, OverlapMemory memory, std::size_t labelCap)
    : m_chain(chain), m_memory(std::move(memory)), m_labelCap(labelCap), m_longestLag(chain.units())
{
    const double drained = chain.slowCompute / chain.slowTransfer;
    for (std::size_t unit = chain.units(); unit-- > 1;)
        for (const ChainTimes& times : chain.options(unit))
            for (std::size_t kind = 0; kind < chain.kinds; ++kind)
                m_longestLag[unit - 1][kind] = std::max(
                    m_longestLag[unit - 1][kind], std::max(0.0, m_longestLag[unit][kind] - drained * times.backward) + times.reduce[kind]);
}

double OverlapLabels::at(const OverlapLabel& label, const Lags& lags) const
{
    double sum = line(label, 0, lags[0]);
    if (m_chain.kinds > 1)
        sum += line(label, 1, lags[1]);
    return sum;
}

double OverlapLabels::leastAbove(const OverlapLabel& label, const OverlapLabel& other, const Lags& longest) const
{
    // The slopes are the same two on both sides, so the difference is monotone in each lag: its ends decide.
    double sum = 0;
    for (std::size_t kind = 0; kind < m_chain.kinds; ++kind)
        sum += std::min(line(label, kind, 0) - line(other, kind, 0), line(label, kind, longest[kind]) - line(other, kind, longest[kind]));
    return sum;
}

double OverlapLabels::mostAbove(const OverlapLabel& label, const OverlapLabel& other, const Lags& longest) const
{
    double sum = 0;
    for (std::size_t kind = 0; kind < m_chain.kinds; ++kind)
        sum += std::max(line(label, kind, 0) - line(other, kind, 0), line(label, kind, longest[kind]) - line(other, kind, longest[kind]));
    return sum;
}

double OverlapLabels::mostSlower(const ChainTimes& option, const ChainTimes& than) const
{
    // A gather, however short, waits for the whole queue: an option with one never stands in for one without.
    if (option.gatherBackward > 0 && than.gatherBackward <= 0)
        return std::numeric_limits<double>::infinity();
    const auto slower = [](double mine, double theirs) { return std::max(0.0, mine - theirs); };
    double sum =
        m_chain.microSteps * (slower(option.forward, than.forward) + slower(option.backward, than.backward) +
                              slower(option.gatherForward, than.gatherForward) + slower(option.gatherBackward, than.gatherBackward));
    for (std::size_t kind = 0; kind < m_chain.kinds; ++kind)
        sum += m_chain.repeats[kind] * slower(option.reduce[kind], than.reduce[kind]);
    return sum + option.step - than.step;
}

bool OverlapLabels::beaten(const OverlapMemory::Type& type, std::uint32_t place, std::uint32_t by, double price, double margin) const
{
    const MemoryTerm& mine = type.terms[place];
    const MemoryTerm& other = type.terms[by];
    if (by == place || other.transient > mine.transient || !type.allows(by))
        return false;
    const auto& times = m_chain.groupTimes[type.group];
    const double slower = mostSlower(times[by], times[place]);
    const double saved = price * static_cast<double>(mine.persist - other.persist);
    if (margin > 0 && slower < saved - margin)
        return true;
    if (slower > (margin > 0 ? 0 : saved) || (margin > 0 && other.persist > mine.persist))
        return false;
    // Of two that beat each other the first stays.
    const bool mutual = mine.transient == other.transient && mostSlower(times[place], times[by]) <= (margin > 0 ? 0 : -saved) &&
                        (margin <= 0 || other.persist == mine.persist);
    return by < place || !mutual;
}

OptionLists OverlapLabels::lists(double price, std::int64_t threshold, double margin) const
{
    OptionLists lists(m_memory.types.size());
    for (std::size_t index = 0; index < lists.size(); ++index) {
        const auto& type = m_memory.types[index];
        const auto count = static_cast<std::uint32_t>(type.terms.size());
        for (std::uint32_t place = 0; place < count; ++place) {
            bool dead = type.terms[place].transient >= threshold || !type.allows(place);
            for (std::uint32_t by = 0; by < count && !dead; ++by)
                dead = beaten(type, place, by, price, margin);
            if (!dead)
                lists[index].push_back(place);
        }
    }
    return lists;
}

OverlapLabel OverlapLabels::first(std::uint32_t place, double price) const
{
    const ChainTimes& cost = times(0, place);
    OverlapLabel label;
    for (std::size_t kind = 0; kind < m_chain.kinds; ++kind) {
        const double repeats = m_chain.repeats[kind];
        const bool waits = !m_chain.aheadBackward && cost.gatherBackward > 0;
        label.a[kind] = repeats * (cost.backward + cost.reduce[kind] + (waits ? cost.gatherBackward : 0));
        label.b[kind] = repeats * (cost.reduce[kind] + (waits ? cost.gatherBackward + cost.backward : m_chain.covered * cost.backward));
    }
    label.bytes = m_memory.terms(0)[place].persist;
    const double base = m_chain.microSteps * cost.gatherForward + cost.step + price * static_cast<double>(label.bytes);
    label.a[0] += base;
    label.b[0] += base;
    return label;
}

OverlapLabel OverlapLabels::extend(std::size_t unit, std::uint32_t place, std::uint32_t below, const OverlapLabel& label,
                                   double price) const
{
    const ChainTimes& cost = times(unit, place);
    const ChainTimes& lower = times(unit - 1, below);
    const double forward = m_chain.aheadForward ? m_chain.pair(lower.forward, cost.gatherForward) : lower.forward + cost.gatherForward;
    const double base = m_chain.microSteps * forward + cost.step + price * static_cast<double>(m_memory.terms(unit)[place].persist);
    const double gather = m_chain.aheadBackward ? lower.gatherBackward : cost.gatherBackward;
    OverlapLabel result;
    result.bytes = label.bytes + m_memory.terms(unit)[place].persist;
    for (std::size_t kind = 0; kind < m_chain.kinds; ++kind) {
        const double repeats = m_chain.repeats[kind];
        const double after = line(label, kind, cost.reduce[kind]); // with its reduction in the queue
        if (gather > 0 && m_chain.aheadBackward) {
            result.a[kind] = after + repeats * (cost.backward + m_chain.hidden * gather);
            result.b[kind] = after + repeats * (gather + m_chain.covered * cost.backward);
        } else if (gather > 0) {
            result.a[kind] = result.b[kind] = after + repeats * (gather + cost.backward);
        } else {
            result.a[kind] = after + repeats * cost.backward;
            result.b[kind] = label.b[kind] + repeats * (cost.reduce[kind] + m_chain.covered * cost.backward);
        }
    }
    result.a[0] += base;
    result.b[0] += base;
    return result;
}

double OverlapLabels::ending(std::uint32_t place) const
{
    const ChainTimes& last = times(m_chain.units() - 1, place);
    return m_chain.microSteps * (last.forward + (m_chain.aheadBackward ? last.gatherBackward : 0));
}

void OverlapLabels::appendCandidates(LabelTable& table, std::size_t unit, std::uint32_t place, const std::vector<std::uint32_t>& below)
{
    const std::uint32_t nodes = table.firstNode[unit - 1];
    const ChainTimes& cost = times(unit, place);
    for (std::uint32_t i = 0; i < below.size(); ++i) {
        const std::uint32_t begin = table.firstLabel[nodes + i];
        const std::uint32_t end = table.firstLabel[nodes + i + 1];
        const bool known = m_chain.aheadBackward ? emptiesQueue(unit - 1, below[i]) : emptiesQueue(unit, place);
        if (known && begin < end) { // the lags below are this option's reductions: one label is best for them
            std::uint32_t best = begin;
            double least = at(table.labels[begin], cost.reduce);
            for (std::uint32_t j = begin + 1; j < end; ++j)
                if (const double value = at(table.labels[j], cost.reduce); value < least) {
                    least = value;
                    best = j;
                }
            m_candidates.push_back(extend(unit, place, below[i], table.labels[best], table.price));
            m_candidates.back().parent = static_cast<std::int32_t>(best);
        } else {
            for (std::uint32_t j = begin; j < end; ++j) {
                m_candidates.push_back(extend(unit, place, below[i], table.labels[j], table.price));
                m_candidates.back().parent = static_cast<std::int32_t>(j);
            }
        }
    }
}

/// Keeps the candidates that are best for some lags. With one lag, what they are at none and at the longest decides, since the
/// difference of two is monotone between; with two, each is compared with the last ones kept.
void OverlapLabels::keepBest(std::vector<OverlapLabel>& labels, const Lags& longest)
{
    constexpr std::size_t kLooksBack = 24;
    const bool single = m_chain.kinds == 1;
    m_order.clear();
    for (std::uint32_t i = 0; i < m_candidates.size(); ++i)
        m_order.push_back({at(m_candidates[i], Lags{}), single ? at(m_candidates[i], longest) : 0, i});
    std::sort(m_order.begin(), m_order.end());
    const std::size_t begin = labels.size();
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [none, most, index] : m_order) {
        bool dead = single && most >= least;
        for (std::size_t i = labels.size(); !single && i-- > begin && labels.size() - i <= kLooksBack && !dead;)
            dead = mostAbove(labels[i], m_candidates[index], longest) <= 0;
        if (dead)
            continue;
        least = std::min(least, most);
        labels.push_back(m_candidates[index]);
    }
}

/// Over the cap, neighbours are merged into what neither is better than.
void OverlapLabels::appendBest(LabelTable& table, std::size_t unit)
{
    const std::size_t begin = table.labels.size();
    keepBest(table.labels, m_longestLag[unit]);
    m_work += static_cast<std::int64_t>(m_candidates.size());
    table.mostLabels = std::max(table.mostLabels, table.labels.size() - begin);
    while (table.labels.size() - begin > m_labelCap) {
        std::size_t out = begin;
        for (std::size_t i = begin; i < table.labels.size(); i += 2, ++out) {
            OverlapLabel joined = table.labels[i];
            for (std::size_t kind = 0; kind < kMicroStepKinds && i + 1 < table.labels.size(); ++kind) {
                joined.a[kind] = std::min(joined.a[kind], table.labels[i + 1].a[kind]);
                joined.b[kind] = std::min(joined.b[kind], table.labels[i + 1].b[kind]);
            }
            table.labels[out] = joined;
        }
        table.labels.resize(out);
        table.merged = true;
    }
    table.firstLabel.push_back(static_cast<std::uint32_t>(table.labels.size()));
}

LabelTable OverlapLabels::run(double price, const OptionLists& lists)
{
    LabelTable table;
    table.price = price;
    table.firstLabel.push_back(0);
    for (std::size_t unit = 0; unit < m_chain.units(); ++unit) {
        table.firstNode.push_back(static_cast<std::uint32_t>(table.firstLabel.size() - 1));
        for (const std::uint32_t place : lists[m_memory.typeOfUnit[unit]]) {
            m_candidates.clear();
            if (unit == 0)
                m_candidates.push_back(first(place, price));
            else
                appendCandidates(table, unit, place, lists[m_memory.typeOfUnit[unit - 1]]);
            appendBest(table, unit);
        }
    }
    table.firstNode.push_back(static_cast<std::uint32_t>(table.firstLabel.size() - 1));
    finish(table, lists);
    return table;
}

void OverlapLabels::finish(LabelTable& table, const OptionLists& lists) const
{
    const std::size_t last = m_chain.units() - 1;
    const auto& options = lists[m_memory.typeOfUnit[last]];
    std::int32_t best = -1;
    for (std::uint32_t i = 0; i < options.size(); ++i) {
        const std::uint32_t node = table.firstNode[last] + i;
        for (std::uint32_t j = table.firstLabel[node]; j < table.firstLabel[node + 1]; ++j)
            if (const double value = at(table.labels[j], Lags{}) + ending(options[i]); value < table.value) {
                table.value = value;
                best = static_cast<std::int32_t>(j);
            }
    }
    if (best < 0)
        return;
    table.choice.resize(m_chain.units());
    trace(table, lists, last, static_cast<std::uint32_t>(best), table.choice);
}

void OverlapLabels::trace(const LabelTable& table, const OptionLists& lists, std::size_t unit, std::uint32_t label,
                          std::vector<std::uint32_t>& places) const
{
    for (std::size_t at = unit + 1; at-- > 0; label = static_cast<std::uint32_t>(table.labels[label].parent)) {
        const auto begin = table.firstLabel.begin() + table.firstNode[at];
        const auto end = table.firstLabel.begin() + table.firstNode[at + 1] + 1;
        const auto node = std::upper_bound(begin, end, label) - begin - 1;
        places[at] = lists[m_memory.typeOfUnit[at]][static_cast<std::size_t>(node)];
    }
}

} // namespace loadline
