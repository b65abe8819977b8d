// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/instances.hpp"
#include "tests/bench/measure.hpp"

#include <benchmark/benchmark.h>

namespace loadline::bench {
namespace {

void report(benchmark::State& state, const KnapsackFrontier& frontier, double milliseconds)
{
    state.counters["cpu_ms"] = milliseconds;
    state.counters["corners"] = static_cast<double>(frontier.points.size());
    state.counters["exact"] = frontier.exact ? 1 : 0;
    state.counters["peak_mib"] = peakMebibytes();
    state.counters["work"] = static_cast<double>(frontier.work);
}

template <class Compute>
void measure(benchmark::State& state, const std::vector<KnapsackClass>& classes, const Compute& compute)
{
    for (auto _ : state) {
        const Result<Knapsack> problem = Knapsack::prepare(classes);
        if (!problem) {
            state.SkipWithError(problem.error().message.c_str());
            return;
        }
        resetPeak();
        const double start = cpuMilliseconds();
        const KnapsackFrontier frontier = compute(*problem);
        report(state, frontier, cpuMilliseconds() - start);
    }
}

void exactOfTransformer(benchmark::State& state)
{
    SearchLimits limits;
    limits.work = 2'000'000'000;
    measure(state, transformerOf(static_cast<int>(state.range(0)), static_cast<Ways>(state.range(1))),
            [&limits](const Knapsack& problem) { return exactFrontier(problem, limits); });
}
void drawnOfTransformer(benchmark::State& state)
{
    measure(state, transformerOf(static_cast<int>(state.range(0)), static_cast<Ways>(state.range(1))),
            [](const Knapsack& problem) { return approximateFrontier(problem, 2048); });
}
void exactOfDifferent(benchmark::State& state)
{
    SearchLimits limits;
    limits.work = 2'000'000'000;
    measure(state, different(static_cast<int>(state.range(0)), static_cast<Ways>(state.range(1)), {64, 8, 0.05}),
            [&limits](const Knapsack& problem) { return exactFrontier(problem, limits); });
}

BENCHMARK(exactOfTransformer)
    ->Name("frontier/transformer")
    ->ArgNames({"operators", "ways"})
    ->ArgsProduct({{50, 300, 1000}, {0, 1, 2}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(drawnOfTransformer)
    ->Name("frontier/transformer_drawn")
    ->ArgNames({"operators", "ways"})
    ->ArgsProduct({{50, 300, 1000, 5000}, {0, 1, 2}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(exactOfDifferent)
    ->Name("frontier/different_noisy")
    ->ArgNames({"operators", "ways"})
    ->ArgsProduct({{50, 300}, {0}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

} // namespace
} // namespace loadline::bench
