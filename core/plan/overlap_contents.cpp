// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/overlap_contents.hpp"

#include <map>

namespace loadline {

SegmentContents::Entries SegmentContents::start(std::size_t unit) const
{
    Entries entries;
    const auto& options = list(unit);
    for (std::size_t i = 0; i < options.size(); ++i) {
        const std::size_t node = m_table.firstNode[unit] + i;
        for (std::uint32_t j = m_table.firstLabel[node]; j < m_table.firstLabel[node + 1]; ++j) {
            Entry entry{m_table.labels[j], m_labels.memory().terms(unit)[options[i]].persist, options[i], 0};
            entry.label.parent = -1;
            entries.push_back(entry);
        }
    }
    return entries;
}

/// What the table says of one option of `unit`, and the lags at which it will be asked.
void SegmentContents::prepareNode(std::size_t unit, std::size_t index)
{
    const std::size_t node = m_table.firstNode[unit] + index;
    m_node.assign(m_table.labels.begin() + m_table.firstLabel[node], m_table.labels.begin() + m_table.firstLabel[node + 1]);
    m_known.clear();
    m_longest = m_labels.longestLag(unit);
    const std::uint32_t place = list(unit)[index];
    const auto value = [&](const Lags& lags) {
        double least = std::numeric_limits<double>::infinity();
        for (const OverlapLabel& label : m_node)
            least = std::min(least, m_labels.at(label, lags));
        return least;
    };
    if (unit + 1 == m_labels.chain().units()) {
        m_known.emplace_back(Lags{}, m_table.value - m_labels.ending(place));
        return;
    }
    if (!m_labels.chain().aheadBackward || !m_labels.emptiesQueue(unit, place))
        return;
    for (const std::uint32_t above : list(unit + 1)) {
        const Lags& lags = m_labels.times(unit + 1, above).reduce;
        if (std::none_of(m_known.begin(), m_known.end(), [&](const auto& known) { return known.first == lags; }))
            m_known.emplace_back(lags, value(lags));
    }
}

double SegmentContents::extra(const OverlapLabel& label) const
{
    if (!m_known.empty()) {
        double least = std::numeric_limits<double>::infinity();
        for (const auto& [lags, value] : m_known)
            least = std::min(least, m_labels.at(label, lags) - value);
        return least;
    }
    // The table is the least of its labels, so the content is above it by at least what it is above any one of them.
    double most = -std::numeric_limits<double>::infinity();
    for (const OverlapLabel& other : m_node)
        most = std::max(most, m_labels.leastAbove(label, other, m_longest));
    return most;
}

/// Drops entries that another one with no more bytes never is slower than, bytes paid for or not.
void SegmentContents::keepBest(Entries& candidates) const
{
    const double price = m_table.price;
    std::stable_sort(candidates.begin(), candidates.end(), [](const Entry& x, const Entry& y) { return x.bytes < y.bytes; });
    if (m_labels.chain().kinds > 1) { // two lags: compared one by one, with the last ones only
        constexpr std::size_t kLooksBack = 64;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            bool dead = false;
            for (std::size_t j = kept; j-- > 0 && kept - j <= kLooksBack && !dead;)
                dead = m_labels.mostAbove(candidates[j].label, candidates[i].label, m_longest) <=
                       price * static_cast<double>(candidates[j].bytes - candidates[i].bytes);
            if (!dead)
                candidates[kept++] = candidates[i];
        }
        candidates.resize(kept);
        return;
    }
    // Seconds without price at no lag and at the longest decide (the difference of two is monotone between): a falling stair.
    std::map<double, double> stair;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const double paid = price * static_cast<double>(candidates[i].bytes);
        const double none = m_labels.at(candidates[i].label, Lags{}) - paid;
        const double longest = m_labels.at(candidates[i].label, m_longest) - paid;
        auto after = stair.upper_bound(none);
        if (after != stair.begin() && std::prev(after)->second <= longest)
            continue;
        while (after != stair.end() && after->second >= longest)
            after = stair.erase(after);
        stair[none] = longest;
        candidates[kept++] = candidates[i];
    }
    candidates.resize(kept);
}

/// Joins neighbours by bytes into what neither is better than.
void SegmentContents::joinOver(Entries& entries) const
{
    while (entries.size() > m_cap) {
        std::size_t out = 0;
        for (std::size_t i = 0; i < entries.size(); i += 2, ++out) {
            Entry joined = entries[i];
            if (i + 1 < entries.size()) {
                const Entry& other = entries[i + 1];
                const double paid = m_table.price * static_cast<double>(other.bytes - joined.bytes);
                for (std::size_t kind = 0; kind < kMicroStepKinds; ++kind) {
                    const double refund = kind == 0 ? paid : 0;
                    joined.label.a[kind] = std::min(joined.label.a[kind], other.label.a[kind] - refund);
                    joined.label.b[kind] = std::min(joined.label.b[kind], other.label.b[kind] - refund);
                }
                joined.extra = std::min(joined.extra, other.extra - paid);
            }
            entries[out] = joined;
        }
        entries.resize(out);
    }
}

SegmentContents::Entries SegmentContents::next(std::size_t unit, const Entries& below)
{
    Entries result;
    Entries candidates;
    const auto& options = list(unit);
    for (std::size_t i = 0; i < options.size(); ++i) {
        prepareNode(unit, i);
        candidates.clear();
        const std::int64_t bytes = m_labels.memory().terms(unit)[options[i]].persist;
        for (std::size_t j = 0; j < below.size(); ++j) {
            Entry entry{m_labels.extend(unit, options[i], below[j].place, below[j].label, m_table.price), below[j].bytes + bytes,
                        options[i], 0};
            entry.extra = extra(entry.label);
            if (entry.extra >= m_most)
                continue;
            entry.label.parent = static_cast<std::int32_t>(j);
            candidates.push_back(entry);
        }
        m_labels.addWork(static_cast<std::int64_t>(below.size() + 4 * candidates.size()));
        keepBest(candidates);
        joinOver(candidates);
        result.insert(result.end(), candidates.begin(), candidates.end());
    }
    return result;
}

std::vector<SegmentContent> SegmentContents::of(const Segment& segment)
{
    std::vector<Entries> levels;
    levels.push_back(start(segment.begin));
    for (std::size_t unit = segment.begin + 1; unit < segment.end; ++unit)
        levels.push_back(next(unit, levels.back()));
    if (levels.size() == 1) { // its labels are the table's own; what they add depends on the lags that can occur
        Entries& only = levels.front();
        for (std::size_t i = 0; i < list(segment.begin).size(); ++i) {
            prepareNode(segment.begin, i);
            for (Entry& entry : only)
                if (entry.place == list(segment.begin)[i])
                    entry.extra = extra(entry.label);
        }
    }
    const Entries& last = levels.back();
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < last.size(); ++i)
        order.push_back(i);
    const auto unpriced = [&](std::size_t i) { return last[i].extra - m_table.price * static_cast<double>(last[i].bytes); };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
        return last[x].bytes != last[y].bytes ? last[x].bytes < last[y].bytes : unpriced(x) < unpriced(y);
    });
    std::vector<SegmentContent> contents;
    double least = std::numeric_limits<double>::infinity();
    for (const std::size_t i : order) {
        if (unpriced(i) >= least)
            continue;
        least = unpriced(i);
        SegmentContent content{last[i].bytes, last[i].extra, std::vector<std::uint32_t>(levels.size())};
        auto at = static_cast<std::int32_t>(i);
        for (std::size_t level = levels.size(); level-- > 0; at = levels[level].at(static_cast<std::size_t>(at)).label.parent)
            content.places[level] = levels[level][static_cast<std::size_t>(at)].place;
        contents.push_back(std::move(content));
    }
    return contents;
}

} // namespace loadline
