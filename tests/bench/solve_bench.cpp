// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/instances.hpp"
#include "tests/bench/measure.hpp"

#include <benchmark/benchmark.h>

#include <cstdlib>

namespace loadline::bench {
namespace {

constexpr int kBudgets = 400;

/// Solves for budgets over 96 % of the range, as a drag does, and reports quantiles of the CPU time of one solve.
void overBudgets(benchmark::State& state, const std::vector<KnapsackClass>& classes, const SearchLimits& limits = {},
                 int budgets = kBudgets)
{
    for (auto _ : state) {
        resetPeak();
        const double before = cpuMilliseconds();
        const Result<Knapsack> problem = Knapsack::prepare(classes);
        if (!problem) {
            state.SkipWithError(problem.error().message.c_str());
            return;
        }
        const double prepare = cpuMilliseconds() - before;
        std::vector<double> times, works;
        double worstGap = 0;
        int optimal = 0, inFrame = 0;
        std::vector<std::int64_t> drag; // worked out before, so that the caches see the solver alone
        for (int i = 0; i < budgets; ++i)
            drag.push_back(budgetAt(*problem, 0.02 + 0.96 * i / (budgets - 1)));
        for (const std::int64_t budget : drag) {
            const double start = cpuMilliseconds();
            const KnapsackPlan plan = problem->solve(budget, limits);
            times.push_back(cpuMilliseconds() - start);
            const bool proved = plan.status == SearchStatus::Optimal;
            optimal += proved ? 1 : 0;
            inFrame += proved && times.back() <= 16 ? 1 : 0;
            worstGap = std::max(worstGap, static_cast<double>(plan.ticks - plan.lowerBound) / static_cast<double>(plan.ticks));
            works.push_back(static_cast<double>(plan.work));
        }
        state.counters["prepare_ms"] = prepare;
        state.counters["p50_ms"] = quantile(times, 0.5);
        state.counters["p99_ms"] = quantile(times, 0.99);
        state.counters["max_ms"] = quantile(times, 1);
        state.counters["optimal_percent"] = 100.0 * optimal / budgets;
        state.counters["optimal_in_16ms_percent"] = 100.0 * inFrame / budgets;
        state.counters["worst_gap"] = worstGap;
        state.counters["peak_mib"] = peakMebibytes();
        state.counters["p50_work"] = quantile(works, 0.5);
        state.counters["p99_work"] = quantile(works, 0.99);
        state.counters["max_work"] = quantile(works, 1);
    }
}

void transformers(benchmark::State& state)
{
    overBudgets(state, transformerOf(static_cast<int>(state.range(0)), static_cast<Ways>(state.range(1))));
}
void noisyOnes(benchmark::State& state)
{
    overBudgets(state, different(static_cast<int>(state.range(0)), static_cast<Ways>(state.range(1)), {64, 8, 0.05}));
}
void analyticOnes(benchmark::State& state)
{
    overBudgets(state, different(static_cast<int>(state.range(0)), static_cast<Ways>(state.range(1)), {}), {}, 100);
}
/// Drawing one frame: about 10 ms of work, then whatever gap is left.
void analyticFrames(benchmark::State& state)
{
    SearchLimits limits;
    limits.work = 1'000'000;
    overBudgets(state, different(static_cast<int>(state.range(0)), static_cast<Ways>(state.range(1)), {}), limits, 100);
}

BENCHMARK(transformers)
    ->Name("solve/transformer")
    ->ArgNames({"operators", "ways"})
    ->ArgsProduct({{50, 300, 1000, 5000}, {0, 1, 2}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(noisyOnes)
    ->Name("solve/different_noisy")
    ->ArgNames({"operators", "ways"})
    ->ArgsProduct({{50, 300, 1000, 5000}, {0, 1, 2}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(analyticOnes)
    ->Name("solve/different_analytic")
    ->ArgNames({"operators", "ways"})
    ->ArgsProduct({{50, 300, 1000}, {0, 1, 2}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(analyticFrames)
    ->Name("solve/different_analytic_frame")
    ->ArgNames({"operators", "ways"})
    ->ArgsProduct({{50, 300, 1000}, {0, 1, 2}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

} // namespace
} // namespace loadline::bench
