// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/knapsack.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// Synthetic problems for the benchmarks: own operators and own simple cost model, so that they stay the same whatever
/// becomes of the product's.
namespace loadline::bench {

/// How many ways each operator has: 4 (replicate or shard), 18 (two group sizes, slices of 4), 62 (slices of 2, 4 and 8), each with
/// and without recomputation.
enum class Ways { Few, Some, Many };

struct Machine {
    int gpus = 64;
    int perNode = 8;
    double noise = 0; ///< standard deviation of the logarithm of each time, as measured tables have it
};

/// GPT-like: `layers` equal layers of 8 operators, and 4 around them. One class an operator, as a planner hands them over.
std::vector<KnapsackClass> transformer(int layers, Ways ways, const Machine& machine = {});

/// The same for about `operators` operators.
inline std::vector<KnapsackClass> transformerOf(int operators, Ways ways, const Machine& machine = {})
{
    return transformer((operators - 4 + 7) / 8, ways, machine);
}

/// Operators that all differ in size and length; `seed` picks another draw.
std::vector<KnapsackClass> different(int operators, Ways ways, const Machine& machine, std::uint64_t seed = 1);

/// The same operator over and over is given once, with its count.
std::vector<KnapsackClass> aggregated(const std::vector<KnapsackClass>& classes);

/// The budget at `fraction` of the way from the least budget to where nothing binds any more.
std::int64_t budgetAt(const Knapsack& problem, double fraction);

} // namespace loadline::bench
