// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/knapsack_prepared.hpp"

namespace loadline::knapsack {
namespace {

/// Whether `middle` lies on or above the line from `left` to the option, so that the hull does without it.
bool isAbove(const Corner& left, const Corner& middle, const KnapsackOption& right)
{
    // Products of two 62-bit differences: 128 bits are enough and exact.
    const auto before = static_cast<Wide>(left.ticks - middle.ticks) * (right.persist - middle.persist);
    const auto after = static_cast<Wide>(middle.ticks - right.ticks) * (middle.persist - left.persist);
    return before <= after;
}

} // namespace

void appendHull(const std::vector<KnapsackOption>& options, std::uint32_t first, std::uint32_t end, std::int64_t transient,
                std::vector<Corner>& corners)
{
    const std::size_t start = corners.size();
    for (std::uint32_t index = first; index < end; ++index) {
        const KnapsackOption& option = options[index];
        if (option.transient > transient)
            continue;
        if (corners.size() > start && option.ticks >= corners.back().ticks)
            continue;
        if (corners.size() > start && option.persist == corners.back().persist)
            corners.pop_back();
        while (corners.size() >= start + 2 && isAbove(corners[corners.size() - 2], corners.back(), option))
            corners.pop_back();
        corners.push_back({option.persist, option.ticks, 0, index});
    }
    for (std::size_t i = start; i + 1 < corners.size(); ++i)
        corners[i].slope =
            static_cast<double>(corners[i].ticks - corners[i + 1].ticks) / static_cast<double>(corners[i + 1].persist - corners[i].persist);
}

} // namespace loadline::knapsack
