// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/knapsack.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

/// Problems shaped like real tables: operators that can be replicated or sharded in slices.
namespace loadline::test {

/// How an operator's times behave.
enum class Family {
    Grouped,   ///< few different operators, each many times
    Noisy,     ///< all different, times scattered by some per cent
    Analytic,  ///< all different sizes, the same cost a byte and a fixed cost a collective: the hard one
    SubsetSum, ///< every option on one line
    Uncorrelated
};

inline std::vector<KnapsackClass> familyOf(Family family, int operators, int slices, std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    const auto uniform = [&random] { return static_cast<double>(random() >> 11) * 0x1p-53; };
    std::vector<KnapsackClass> classes;
    const int different = family == Family::Grouped ? std::min(operators, 5) : operators;
    for (int i = 0; i < different; ++i) {
        KnapsackClass one;
        one.count = operators / different + (i < operators % different ? 1 : 0);
        const double parameters = std::floor(std::exp(14 + 4 * uniform()));
        const double saved = std::floor(parameters * uniform());
        for (int k = 0; k <= slices; ++k) {
            const double share = static_cast<double>(k) / slices;
            KnapsackOption option;
            option.persist = std::llround(16 * parameters * (1 - share + share / 8) + saved);
            option.transient = k > 0 ? std::llround(4 * parameters / slices) : 0;
            double ticks = 1e9 + parameters * 400 * (1 + 0.5 * share) + 6e7 * k;
            if (family == Family::Noisy)
                ticks *= 1 + 0.1 * uniform();
            if (family == Family::SubsetSum)
                ticks = 1e12 - static_cast<double>(option.persist);
            if (family == Family::Uncorrelated) {
                option.persist = static_cast<std::int64_t>(random() % 1'000'000'000);
                option.transient = static_cast<std::int64_t>(random() % 500'000'000);
                ticks = uniform() * 1e12;
            }
            option.ticks = std::llround(ticks);
            one.options.push_back(option);
        }
        classes.push_back(one);
    }
    return classes;
}

/// Where nothing binds any more.
inline std::int64_t ampleBudget(const std::vector<KnapsackClass>& classes)
{
    std::int64_t persist = 0, transient = 0;
    for (const KnapsackClass& one : classes) {
        std::int64_t most = 0;
        for (const KnapsackOption& option : one.options) {
            most = std::max(most, option.persist);
            transient = std::max(transient, option.transient);
        }
        persist += one.count * most;
    }
    return persist + transient;
}

} // namespace loadline::test
