// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/overlap_labels.hpp"

#include <cstdint>
#include <vector>

namespace loadline {

/// One way to fill a segment, over one label of the table below it.
struct SegmentContent {
    std::int64_t bytes = 0; ///< persist of the segment's units
    double extra = 0;       ///< what it adds to the table's cost-to-go, at least
    std::vector<std::uint32_t> places;
};

/// Units [begin, end) of the chain.
struct Segment {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// Every content of a segment that adds less than `most`, none that another one beats in bytes and seconds; by bytes ascending, seconds
/// without price descending. Over the cap contents are joined, so that some promise more than they hold.
class SegmentContents {
public:
    SegmentContents(OverlapLabels& labels, const LabelTable& table, const OptionLists& lists, double most, std::size_t cap)
        : m_labels(labels), m_table(table), m_lists(lists), m_most(most), m_cap(cap)
    {
    }

    [[nodiscard]] std::vector<SegmentContent> of(const Segment& segment);

private:
    struct Entry {
        OverlapLabel label; ///< parent: entry of the unit before
        std::int64_t bytes = 0;
        std::uint32_t place = 0;
        double extra = 0;
    };
    using Entries = std::vector<Entry>;

    [[nodiscard]] const std::vector<std::uint32_t>& list(std::size_t unit) const { return m_lists[m_labels.memory().typeOfUnit[unit]]; }
    [[nodiscard]] Entries start(std::size_t unit) const;
    [[nodiscard]] Entries next(std::size_t unit, const Entries& below);
    void prepareNode(std::size_t unit, std::size_t index);
    [[nodiscard]] double extra(const OverlapLabel& label) const;
    void keepBest(Entries& candidates) const;
    void joinOver(Entries& entries) const;

    OverlapLabels& m_labels;
    const LabelTable& m_table;
    const OptionLists& m_lists;
    double m_most;
    std::size_t m_cap;

    // The node that is looked at.
    std::vector<OverlapLabel> m_node;             ///< its labels in the table
    std::vector<std::pair<Lags, double>> m_known; ///< lags that can occur and the table's value there; empty: any up to m_longest
    Lags m_longest{};
};

} // namespace loadline
