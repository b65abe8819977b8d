// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/knapsack_prepared.hpp"
#include "tests/bench/instances.hpp"
#include "tests/bench/measure.hpp"
#include "tests/support/mip_peer.hpp"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace loadline::bench {
namespace {

constexpr int kLimitSeconds = 60;

/// Prepare and solve, CPU time, median of nine.
double oursInMilliseconds(const std::vector<KnapsackClass>& classes, std::int64_t budget, KnapsackPlan& plan)
{
    std::vector<double> times;
    for (int i = 0; i < 9; ++i) {
        const double start = cpuMilliseconds();
        const Result<Knapsack> problem = Knapsack::prepare(classes);
        plan = problem->solve(budget);
        times.push_back(cpuMilliseconds() - start);
    }
    return quantile(times, 0.5);
}

/// The fastest general integer-programming solver on counts of each option, dominated options left out in its favour, CPU time
/// of its process; against ours from the unprepared problem on the same machine in the same run.
void aggregatedPeers(benchmark::State& state)
{
    auto classes = aggregated(transformerOf(static_cast<int>(state.range(0)), static_cast<Ways>(state.range(1))));
    for (KnapsackClass& one : classes)
        knapsack::dropDominated(one.options);
    const Result<Knapsack> problem = Knapsack::prepare(classes);
    const std::int64_t budget = budgetAt(*problem, static_cast<double>(state.range(2)) / 100);
    const auto folder = std::filesystem::temp_directory_path() / ("loadline-bench-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    for (auto _ : state) {
        KnapsackPlan plan;
        const double ours = oursInMilliseconds(classes, budget, plan);
        double fastest = 0;
        for (const std::string solver : {"glpk", "cbc"}) {
            if (!test::hasMip(solver))
                continue;
            const auto answer =
                test::askMip(LOADLINE_SOURCE_DIR "/tests/bench/peers/mip", solver, classes, budget, folder.string(), kLimitSeconds);
            const double milliseconds = answer ? answer->cpuSeconds * 1e3 : kLimitSeconds * 1e3;
            state.counters[solver + "_ms"] = milliseconds; // the limit if it did not finish
            fastest = fastest == 0 ? milliseconds : std::min(fastest, milliseconds);
        }
        state.counters["ours_ms"] = ours;
        state.counters["optimal"] = plan.status == SearchStatus::Optimal ? 1 : 0;
        if (fastest == 0)
            state.SkipWithError("neither glpsol (glpk-utils) nor cbc (coinor-cbc) is installed");
        else
            state.counters["ratio"] = fastest / ours;
    }
    std::filesystem::remove_all(folder);
}

BENCHMARK(aggregatedPeers)
    ->Name("peer/aggregated_mip")
    ->ArgNames({"operators", "ways", "budget_percent"})
    ->ArgsProduct({{50, 300, 1000, 5000}, {1, 2}, {30, 70}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

} // namespace
} // namespace loadline::bench
