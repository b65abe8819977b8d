// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace loadline::knapsack {

/// A piece of an item's convex hull of (bytes, cost): `bytes` can be bought or freed at `ratio` cost a byte.
struct Step {
    double ratio = 0;
    double bytes = 0;      ///< of all copies
    std::int64_t each = 0; ///< of one copy
    std::uint32_t item = 0;
    std::int32_t from = -1; ///< deviation where the piece starts; -1 the base
    std::int32_t to = 0;
};

/// Least cost at which the other items can close a partial choice, as a convex function of its free bytes (docs/search.md, 6).
class Completion {
public:
    /// Starts again from nothing: with no steps, free bytes cost `price` each and missing bytes cannot be had.
    void reset(double price, double mostCost);

    /// Adds the next dearer way to use free bytes; false once dearer ones do not matter.
    bool addFill(double ratio, double bytes) { return add(m_fill, ratio, bytes); }
    /// Adds the next dearer way to free bytes.
    bool addFree(double ratio, double bytes) { return add(m_free, ratio, bytes); }

    /// Walks down: each `at` must ask for no more free bytes than the one before.
    class Walk {
    public:
        explicit Walk(const Completion& completion) : m_completion(completion), m_fill(completion.m_fill.size() - 1) {}

        double at(double freeBytes)
        {
            if (freeBytes >= 0) {
                const auto& knots = m_completion.m_fill;
                while (m_fill > 0 && knots[m_fill].bytes > freeBytes)
                    --m_fill;
                const double ratio = m_fill + 1 < knots.size() ? knots[m_fill + 1].ratio : m_completion.m_price;
                return knots[m_fill].cost + ratio * (freeBytes - knots[m_fill].bytes);
            }
            const double missing = -freeBytes;
            const auto& knots = m_completion.m_free;
            while (m_free < knots.size() && knots[m_free].bytes < missing)
                ++m_free;
            if (m_free == knots.size())
                // Whole bytes below 2^53 are exact here; the margin serves sums above.
                return knots.back().bytes >= missing * (1 - 1e-12) ? knots.back().cost : std::numeric_limits<double>::infinity();
            return knots[m_free].cost - knots[m_free].ratio * (knots[m_free].bytes - missing);
        }

    private:
        const Completion& m_completion;
        std::size_t m_fill;
        std::size_t m_free = 0;
    };

private:
    struct Knot {
        double bytes = 0;
        double cost = 0;
        double ratio = 0; ///< of the piece that ends here
    };
    bool add(std::vector<Knot>& knots, double ratio, double bytes);

    std::vector<Knot> m_fill;
    std::vector<Knot> m_free;
    double m_price = 0;
    double m_mostCost = 0;
};

} // namespace loadline::knapsack
