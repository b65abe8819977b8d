// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/knapsack.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

/// Lower bounds recomputed in exact integers from the classes alone: for a largest transient W and a price p/q >= 0,
/// sum over operators of min(ticks + p/q x persist) - p/q x (budget - W) is at most the ticks of any plan under W.
namespace loadline::test {

__extension__ typedef __int128 Wide;

/// `ticks` per `bytes`.
struct Price {
    std::int64_t ticks = 0;
    std::int64_t bytes = 1;
};

struct Bound {
    bool feasible = false; ///< some choice under W fits
    Wide numerator = 0;    ///< over price.bytes
    std::int64_t bytes = 1;

    [[nodiscard]] std::int64_t ceiling() const
    {
        const Wide whole = numerator / bytes;
        return static_cast<std::int64_t>(whole + (numerator > 0 && numerator % bytes != 0 ? 1 : 0));
    }
    friend bool operator<(const Bound& a, const Bound& b) { return a.numerator * b.bytes < b.numerator * a.bytes; }
};

inline Bound boundAt(const std::vector<KnapsackClass>& classes, std::int64_t budget, std::int64_t transient, Price price)
{
    Bound bound{true, -static_cast<Wide>(price.ticks) * (budget - transient), price.bytes};
    Wide leastPersist = 0;
    for (const KnapsackClass& one : classes) {
        bool any = false;
        Wide cheapest = 0;
        std::int64_t persist = 0;
        for (const KnapsackOption& option : one.options) {
            if (option.transient > transient)
                continue;
            const Wide cost = static_cast<Wide>(price.bytes) * option.ticks + static_cast<Wide>(price.ticks) * option.persist;
            cheapest = any ? std::min(cheapest, cost) : cost;
            persist = any ? std::min(persist, option.persist) : option.persist;
            any = true;
        }
        if (!any)
            return {};
        bound.numerator += cheapest * one.count;
        leastPersist += static_cast<Wide>(persist) * one.count;
    }
    bound.feasible = leastPersist + transient <= budget;
    return bound;
}

inline std::vector<std::int64_t> transientsOf(const std::vector<KnapsackClass>& classes)
{
    std::set<std::int64_t> all;
    for (const KnapsackClass& one : classes)
        for (const KnapsackOption& option : one.options)
            all.insert(option.transient);
    return {all.begin(), all.end()};
}

/// The least over W of the greatest over prices: the best that this kind of bound can give. Small problems only. `feasible`
/// false if nothing fits.
inline Bound bestBound(const std::vector<KnapsackClass>& classes, std::int64_t budget)
{
    std::vector<Price> prices{{0, 1}}; // the bound is concave in the price with kinks only where two options of a class tie
    for (const KnapsackClass& one : classes)
        for (const KnapsackOption& a : one.options)
            for (const KnapsackOption& b : one.options)
                if (a.ticks > b.ticks && a.persist < b.persist)
                    prices.push_back({a.ticks - b.ticks, b.persist - a.persist});
    Bound least;
    for (const std::int64_t transient : transientsOf(classes)) {
        Bound greatest;
        for (const Price& price : prices)
            if (const Bound bound = boundAt(classes, budget, transient, price); bound.feasible && (!greatest.feasible || greatest < bound))
                greatest = bound;
        if (greatest.feasible && (!least.feasible || greatest < least))
            least = greatest;
    }
    return least;
}

/// A double as an exact fraction, cut to 40 bits: any price will do for a valid bound.
inline Price priceOf(double value)
{
    int exponent = 0;
    const double mantissa = std::frexp(value, &exponent);
    auto ticks = static_cast<std::int64_t>(std::ldexp(mantissa, 40));
    std::int64_t shift = 40 - exponent;
    for (; shift > 60; --shift)
        ticks /= 2;
    for (; shift < 0; ++shift)
        ticks *= 2;
    return {ticks, std::int64_t{1} << shift};
}

} // namespace loadline::test
