// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/overlap_segments.hpp"

#include "core/plan/overlap_contents.hpp"

#include <cmath>
#include <numeric>
#include <optional>

namespace loadline {
namespace {

/// Two places of the table that differ by a constant: by how much; empty if by more than that.
std::optional<double> shiftBetween(const LabelTable& table, std::size_t one, std::size_t other, double tolerance)
{
    const std::uint32_t nodes = table.firstNode[one + 1] - table.firstNode[one];
    if (table.firstNode[other + 1] - table.firstNode[other] != nodes)
        return std::nullopt;
    std::optional<Lags> shift;
    for (std::uint32_t node = 0; node < nodes; ++node) {
        const std::uint32_t a = table.firstLabel[table.firstNode[one] + node];
        const std::uint32_t b = table.firstLabel[table.firstNode[other] + node];
        const std::uint32_t count = table.firstLabel[table.firstNode[one] + node + 1] - a;
        if (table.firstLabel[table.firstNode[other] + node + 1] - b != count)
            return std::nullopt;
        for (std::uint32_t i = 0; i < count; ++i)
            for (std::size_t kind = 0; kind < kMicroStepKinds; ++kind) {
                const OverlapLabel& x = table.labels[a + i];
                const OverlapLabel& y = table.labels[b + i];
                if (!shift)
                    shift = Lags{y.a[0] - x.a[0], y.a[1] - x.a[1]};
                if (std::abs(y.a[kind] - x.a[kind] - (*shift)[kind]) > tolerance ||
                    std::abs(y.b[kind] - x.b[kind] - (*shift)[kind]) > tolerance)
                    return std::nullopt;
            }
    }
    return shift ? std::optional<double>((*shift)[0] + (*shift)[1]) : std::nullopt;
}

/// Segments with one list of contents.
struct SegmentClass {
    std::vector<Segment> members;
    std::vector<SegmentContent> contents;
    std::int64_t leastBytes = 0;
    double leastCost = 0;
};

/// One bound. Costs are seconds without the price: extra - price x bytes.
class Bounding {
public:
    Bounding(OverlapLabels& labels, const SegmentRequest& request) : m_labels(labels), m_request(request) {}

    SegmentBound run()
    {
        SegmentBound result;
        result.bound = m_request.upper;
        const double charged = m_request.price * static_cast<double>(m_request.piece.transient - m_labels.memory().capacity);
        const double margin = m_request.upper - m_request.piece.bound(m_request.price, m_labels.memory().capacity);
        if (!(margin > 0))
            return result;
        m_lists = m_labels.lists(m_request.price, m_request.piece.threshold, margin);
        m_table = m_labels.run(m_request.price, m_lists);
        m_most = m_request.upper - charged - m_table.value;
        if (m_table.choice.empty() || !(m_most > 0))
            return result;
        m_tolerance = 1e-12 * std::abs(m_table.value);
        if (!cut())
            return result;
        solve(result);
        return result;
    }

private:
    [[nodiscard]] std::vector<Segment> segments() const
    {
        const std::size_t count = m_labels.chain().units();
        std::vector<Segment> result;
        std::size_t begin = 0;
        for (std::size_t end = m_request.offset == 0 ? m_request.period : m_request.offset; end < count; end += m_request.period) {
            result.push_back({begin, end});
            begin = end;
        }
        result.push_back({begin, count});
        return result;
    }

    /// As `segment`, but for a constant: the units, what is below, and what is above. The constant is added to the bound.
    [[nodiscard]] std::optional<double> alike(const Segment& known, const Segment& segment) const
    {
        const auto& types = m_labels.memory().typeOfUnit;
        if (known.end - known.begin != segment.end - segment.begin || known.begin == 0 || segment.begin == 0 || segment.end == types.size())
            return std::nullopt;
        for (std::size_t i = 0; i <= segment.end - segment.begin + 1; ++i)
            if (types[known.begin - 1 + i] != types[segment.begin - 1 + i])
                return std::nullopt;
        const auto below = shiftBetween(m_table, known.begin - 1, segment.begin - 1, m_tolerance);
        const auto above = shiftBetween(m_table, known.end - 1, segment.end - 1, m_tolerance);
        return below && above ? std::optional<double>(*below - *above) : std::nullopt;
    }

    /// False: some segment has no content that could be part of something faster than `upper`.
    bool cut()
    {
        SegmentContents contents(m_labels, m_table, m_lists, m_most, m_request.contentCap);
        for (const Segment& segment : segments()) {
            bool known = false;
            for (SegmentClass& other : m_classes)
                if (const auto shift = alike(other.members.front(), segment)) {
                    other.members.push_back(segment);
                    m_constant += *shift - 4 * m_tolerance; // what "alike" lets through, on both sides
                    known = true;
                    break;
                }
            if (known)
                continue;
            SegmentClass added;
            added.members.push_back(segment);
            added.contents = contents.of(segment);
            if (added.contents.empty())
                return false;
            added.leastBytes = added.contents.front().bytes;
            added.leastCost = cost(added.contents.back());
            m_classes.push_back(std::move(added));
        }
        return true;
    }

    [[nodiscard]] double cost(const SegmentContent& content) const
    {
        return content.extra - m_request.price * static_cast<double>(content.bytes);
    }

    void solve(SegmentBound& result)
    {
        std::int64_t capacity = m_labels.memory().capacity - m_request.piece.transient - m_request.reserve;
        double constant = m_table.value + m_constant;
        std::vector<KnapsackClass> classes;
        for (const SegmentClass& segment : m_classes) {
            const auto count = static_cast<std::int64_t>(segment.members.size());
            capacity -= segment.leastBytes * count;
            constant += segment.leastCost * static_cast<double>(count);
            KnapsackClass& added = classes.emplace_back();
            added.count = count;
            for (const SegmentContent& content : segment.contents)
                added.options.push_back(
                    {content.bytes - segment.leastBytes, 0,
                     static_cast<std::int64_t>(std::floor((cost(content) - segment.leastCost) * m_request.ticksPerSecond))});
        }
        if (capacity < 0)
            return;
        const auto knapsack = Knapsack::prepare(std::move(classes));
        if (!knapsack) {
            result.bound = m_request.piece.bound(m_request.price, m_labels.memory().capacity);
            return;
        }
        const KnapsackPlan plan = knapsack->solve(capacity, m_request.limits);
        result.work = plan.work;
        result.cancelled = plan.cancelled;
        if (plan.status == SearchStatus::Infeasible && !plan.cancelled)
            return;
        // Rounding: some 1e-16 a sum of two, in a thousand sums.
        const double rounding = 1e-12 * constant;
        result.bound = std::min(m_request.upper, constant - rounding + static_cast<double>(plan.lowerBound) / m_request.ticksPerSecond);
        propose(plan, result);
    }

    /// The relaxed answer's contents laid over the segments: in order, in reverse, and mixed evenly.
    void propose(const KnapsackPlan& plan, SegmentBound& result) const
    {
        if (plan.picks.size() != m_classes.size())
            return;
        for (const int way : {0, 1, 2}) {
            std::vector<std::uint32_t> choice(m_labels.chain().units());
            for (std::size_t i = 0; i < m_classes.size(); ++i) {
                const auto order = arranged(plan.picks[i], way);
                const auto& members = m_classes[i].members;
                for (std::size_t j = 0; j < members.size() && j < order.size(); ++j) {
                    const auto& places = m_classes[i].contents[order[j]].places;
                    std::copy(places.begin(), places.end(), choice.begin() + static_cast<std::ptrdiff_t>(members[j].begin));
                }
            }
            if (std::find(result.proposals.begin(), result.proposals.end(), choice) == result.proposals.end())
                result.proposals.push_back(std::move(choice));
        }
    }

    [[nodiscard]] static std::vector<std::uint32_t> arranged(const std::vector<std::pair<std::uint32_t, std::int64_t>>& picks, int way)
    {
        std::vector<std::uint32_t> order;
        for (const auto& [content, count] : picks)
            order.insert(order.end(), static_cast<std::size_t>(count), content);
        if (way == 1)
            std::reverse(order.begin(), order.end());
        if (way < 2)
            return order;
        std::vector<std::pair<double, std::uint32_t>> spread;
        for (const auto& [content, count] : picks)
            for (std::int64_t i = 0; i < count; ++i)
                spread.emplace_back((static_cast<double>(i) + 0.5) / static_cast<double>(count), content);
        std::stable_sort(spread.begin(), spread.end());
        for (std::size_t i = 0; i < spread.size(); ++i)
            order[i] = spread[i].second;
        return order;
    }

    OverlapLabels& m_labels;
    const SegmentRequest& m_request;
    OptionLists m_lists;
    LabelTable m_table;
    double m_most = 0; ///< a content that adds more is not part of anything faster than `upper`
    double m_tolerance = 0;
    double m_constant = 0;
    std::vector<SegmentClass> m_classes;
};

} // namespace

SegmentBound boundBySegments(OverlapLabels& labels, const SegmentRequest& request)
{
    return Bounding(labels, request).run();
}

std::size_t periodOf(const std::vector<std::size_t>& groupOfUnit)
{
    constexpr std::size_t kWithout = 8;
    const std::size_t count = groupOfUnit.size();
    for (std::size_t period = 1; period * 3 <= count; ++period) {
        std::size_t same = 0;
        for (std::size_t i = 0; i + period < count; ++i)
            same += static_cast<std::size_t>(groupOfUnit[i] == groupOfUnit[i + period]);
        if (same * 10 >= (count - period) * 7)
            return std::max<std::size_t>(period, 2);
    }
    return kWithout;
}

} // namespace loadline
