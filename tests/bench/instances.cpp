// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/instances.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace loadline::bench {
namespace {

/// splitmix64 (Steele, Lea, Flood 2014): the same numbers on every machine and library.
class Random {
public:
    explicit Random(std::uint64_t seed) : m_state(seed) {}

    double uniform()
    {
        m_state += 0x9e3779b97f4a7c15ULL;
        std::uint64_t x = m_state;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
        return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-53;
    }
    double between(double low, double high) { return low + (high - low) * uniform(); }
    double normal() { return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * std::numbers::pi * uniform()); }

private:
    std::uint64_t m_state;
};

struct Shape {
    double parameters = 0;
    double flops = 0; ///< of one forward pass
    double saved = 0; ///< bytes kept for backward
    double input = 0; ///< bytes kept when it is recomputed
    double scratch = 0;
};

/// Seconds and bytes a second of one collective step.
struct Link {
    double latency = 0;
    double bandwidth = 0;
};
constexpr Link kInside{4e-6, 200e9};
constexpr Link kOutside{12e-6, 25e9};
constexpr double kFlops = 150e12;
constexpr double kMemory = 1.5e12;
constexpr double kLaunch = 6e-6;

/// One pass of `bytes` over a group of `gpus`: inside the node, then the node's share across nodes.
double passTime(double bytes, int gpus, const Machine& machine)
{
    const int inside = std::min(gpus, machine.perNode);
    const int nodes = std::max(1, gpus / machine.perNode);
    double time = 0;
    if (inside > 1)
        time += bytes * (inside - 1) / inside / kInside.bandwidth + kInside.latency * std::log2(inside);
    if (nodes > 1)
        time += bytes / inside * (nodes - 1) / nodes / kOutside.bandwidth + kOutside.latency * std::log2(nodes);
    return time;
}

struct Way {
    int gpus = 1; ///< of a shard group
    int slices = 1;
    int sharded = 0;
    bool recompute = false;
};

KnapsackOption price(const Shape& shape, const Way& way, const Machine& machine, Random& random)
{
    const double slice = std::ceil(shape.parameters / way.slices);
    const double kept = slice * (way.slices - way.sharded) + std::ceil(slice / way.gpus) * way.sharded;
    const double forward = std::max(shape.flops / kFlops, (2 * shape.parameters + shape.saved) / kMemory) + kLaunch;
    double time = (way.recompute ? 4 : 3) * forward + 3 * (way.slices - 1) * kLaunch;
    if (shape.parameters > 0) {
        // Replicated slices: an all-reduce over all. Sharded ones: gather twice (thrice with recomputation), scatter once, and
        // an all-reduce of the shard across groups.
        time += (way.slices - way.sharded) * 2 * passTime(2 * slice, machine.gpus, machine);
        double shard = (way.recompute ? 4 : 3) * passTime(2 * slice, way.gpus, machine);
        if (way.gpus < machine.gpus)
            shard += 2 * passTime(2 * slice / way.gpus, machine.gpus, machine);
        time += way.sharded * shard;
    }
    if (machine.noise > 0)
        time *= std::exp(machine.noise * random.normal());
    KnapsackOption option;
    option.persist = std::llround(16 * kept + (way.recompute ? shape.input : shape.saved));
    option.transient = std::llround(shape.scratch + (way.sharded > 0 ? 4 * slice : 0) + (way.recompute ? shape.saved : 0));
    option.ticks = std::llround(time * 1e12);
    return option;
}

KnapsackClass classOf(const Shape& shape, Ways ways, const Machine& machine, Random& random)
{
    std::vector<int> groups{machine.gpus}, granularities{1};
    if (ways != Ways::Few)
        groups = {machine.perNode, machine.gpus};
    if (ways == Ways::Some)
        granularities = {4};
    if (ways == Ways::Many)
        granularities = {1, 2, 4, 8};
    KnapsackClass result;
    for (const bool recompute : {false, true}) {
        result.options.push_back(price(shape, {1, 1, 0, recompute}, machine, random));
        if (shape.parameters <= 0)
            continue;
        for (const int gpus : groups)
            for (const int slices : granularities)
                for (int sharded = 1; sharded <= slices; ++sharded)
                    result.options.push_back(price(shape, {gpus, slices, sharded, recompute}, machine, random));
    }
    return result;
}

/// The operators of one layer of width `h`, at `tokens` tokens in sequences of `s`.
std::vector<Shape> layer(double h, double tokens, double s)
{
    const double row = 2 * tokens * h; // one activation in 16 bits
    return {
        {2 * h, 8 * tokens * h, row, row, 0},                                   // norm
        {3 * h * h + 3 * h, 6 * tokens * h * h, row, row, 3 * row},             // query, key, value
        {0, 4 * tokens * s * h, 3 * row + 4 * tokens * (h / 64), 3 * row, row}, // attention
        {h * h + h, 2 * tokens * h * h, row, row, row},                         // projection
        {2 * h, 8 * tokens * h, row, row, 0},                                   // norm
        {4 * h * h + 4 * h, 8 * tokens * h * h, row, row, 4 * row},             // up
        {0, 32 * tokens * h, 4 * row, 4 * row, 4 * row},                        // activation
        {4 * h * h + h, 8 * tokens * h * h, 4 * row, 4 * row, row},             // down
    };
}

} // namespace

std::vector<KnapsackClass> transformer(int layers, Ways ways, const Machine& machine)
{
    constexpr double h = 4096, vocabulary = 50257, s = 2048, tokens = s;
    Random random(7);
    const auto one = [&](const Shape& shape) { return classOf(shape, ways, machine, random); };
    std::vector<KnapsackClass> classes{one({vocabulary * h, 0, 8 * tokens, 8 * tokens, 2 * tokens * h}),
                                       one({s * h, 0, 2 * tokens * h, 0, 0})};
    std::vector<KnapsackClass> inner; // priced once: equal layers have equal tables, also with noise
    for (const Shape& shape : layer(h, tokens, s))
        inner.push_back(one(shape));
    for (int i = 0; i < layers; ++i)
        classes.insert(classes.end(), inner.begin(), inner.end());
    classes.push_back(one({2 * h, 8 * tokens * h, 2 * tokens * h, 2 * tokens * h, 0}));
    classes.push_back(one({vocabulary * h, 2 * tokens * h * vocabulary, 2 * tokens * h, 2 * tokens * h, 2 * tokens * vocabulary}));
    return classes;
}

std::vector<KnapsackClass> different(int operators, Ways ways, const Machine& machine, std::uint64_t seed)
{
    Random random(seed);
    std::vector<KnapsackClass> classes;
    for (int i = 0; i < operators; ++i) {
        const double h = 8 * std::floor(std::exp(random.between(std::log(64.0), std::log(1024.0))));
        const double s = 8 * std::floor(random.between(32, 512));
        const std::vector<Shape> shapes = layer(h, s, s);
        const auto kind = static_cast<std::size_t>(random.uniform() * static_cast<double>(shapes.size()));
        classes.push_back(classOf(shapes[kind], ways, machine, random));
    }
    return classes;
}

std::vector<KnapsackClass> aggregated(const std::vector<KnapsackClass>& classes)
{
    std::vector<KnapsackClass> result;
    std::map<std::vector<KnapsackOption>, std::size_t> seen;
    for (const KnapsackClass& one : classes) {
        const auto [found, isNew] = seen.emplace(one.options, result.size());
        if (isNew)
            result.push_back(one);
        else
            result[found->second].count += one.count;
    }
    return result;
}

std::int64_t budgetAt(const Knapsack& problem, double fraction)
{
    std::int64_t most = 0, transient = 0;
    for (const KnapsackClass& one : problem.classes()) {
        const auto fastest = std::min_element(one.options.begin(), one.options.end(),
                                              [](const KnapsackOption& a, const KnapsackOption& b) { return a.ticks < b.ticks; });
        most += one.count * fastest->persist;
        transient = std::max(transient, fastest->transient);
    }
    const std::int64_t least = problem.leastBudget();
    return least + static_cast<std::int64_t>(fraction * static_cast<double>(std::max(least, most + transient) - least));
}

} // namespace loadline::bench
