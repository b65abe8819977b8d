// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace loadline::knapsack {

/// Picks about the `wanted` smallest of many values in three walks and no sorting: note all, count all, settle, then ask.
/// Values that fall into the same of 1,024 bins are drawn by hash, or a cut would keep one end of a tie.
class Selection {
public:
    /// `fine`: bins are narrow next to the smallest value and widen away from it, 64 to a doubling; else all are equal.
    Selection(std::size_t wanted, bool fine) : m_wanted(wanted), m_fine(fine) {}

    void note(double value)
    {
        m_least = std::min(m_least, value);
        m_most = std::max(m_most, value);
    }

    /// Call once all are noted.
    void count(double value) { ++m_counts[binOf(value)]; }

    void settle()
    {
        std::size_t taken = 0;
        for (m_cut = 0; m_cut < kBins && taken + m_counts[m_cut] <= m_wanted; ++m_cut)
            taken += m_counts[m_cut];
        if (m_cut < kBins) {
            const double share = static_cast<double>(m_wanted - taken) / static_cast<double>(m_counts[m_cut]);
            m_most32 = static_cast<std::uint64_t>(share * 0x1p32);
        }
    }

    [[nodiscard]] bool keeps(double value, std::uint32_t hash) const
    {
        const std::size_t bin = binOf(value);
        return bin < m_cut || (bin == m_cut && hash < m_most32);
    }

private:
    static constexpr std::size_t kBins = 1024;

    [[nodiscard]] std::size_t binOf(double value) const
    {
        double share = (value - m_least) / (m_most - m_least); // not a number if all are equal
        if (!m_fine)
            return share >= 0 ? std::min(static_cast<std::size_t>(share * kBins), kBins - 1) : 0;
        // The exponent and six bits of the mantissa: 16 doublings below the largest.
        constexpr double kSmallest = 0x1p-15;
        if (!(share > kSmallest))
            return 0;
        const auto bits = (std::bit_cast<std::uint64_t>(share) - std::bit_cast<std::uint64_t>(kSmallest)) >> 46;
        return std::min(static_cast<std::size_t>(bits), kBins - 1);
    }

    std::size_t m_wanted;
    bool m_fine;
    double m_least = std::numeric_limits<double>::infinity();
    double m_most = -std::numeric_limits<double>::infinity();
    std::size_t m_cut = 0;
    std::uint64_t m_most32 = 0;
    std::array<std::uint32_t, kBins> m_counts{};
};

} // namespace loadline::knapsack
