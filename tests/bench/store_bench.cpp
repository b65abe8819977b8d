// SPDX-License-Identifier: GPL-3.0-or-later
// The store at the sizes of a person who kept everything: a thousand sessions, a million step metrics.
#include "core/store/store.hpp"

#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>
#include <vector>

namespace loadline {
namespace {

namespace fs = std::filesystem;

/// A file in a folder that is there for one benchmark.
struct Place {
    Place()
    {
        std::string pattern = (fs::temp_directory_path() / "loadline-bench-XXXXXX").string();
        folder = ::mkdtemp(pattern.data());
    }
    ~Place()
    {
        std::error_code none;
        fs::remove_all(folder, none);
    }
    [[nodiscard]] fs::path file() const { return folder / "loadline.db"; }
    fs::path folder;
};

std::vector<StepMetric> millionMetrics()
{
    std::vector<StepMetric> metrics;
    metrics.reserve(1'000'000);
    for (std::int64_t step = 1; step <= 125'000; ++step)
        for (std::int64_t rank = 0; rank < 8; ++rank) {
            const Seconds time(0.4 + static_cast<double>(step % 97) * 1e-4);
            metrics.push_back({step, rank, 5.0 / static_cast<double>(step), time, time, time, time, time, Bytes(70'000'000'000 + step),
                               Bytes(72'000'000'000), Bytes(step * 1000), Bytes(step * 1000), Bytes(step * 10)});
        }
    return metrics;
}

RunId runIn(Store& store)
{
    SessionRecord session;
    session.row.name = "bench";
    if (store.saveSession(session))
        return 0;
    RunRecord run;
    run.session = session.row.id;
    const auto id = store.addRun(run);
    return id ? *id : 0;
}

void addMillionMetrics(benchmark::State& state)
{
    const auto metrics = millionMetrics();
    for (auto _ : state) {
        state.PauseTiming();
        const Place place;
        auto store = Store::open(place.file());
        const auto run = store ? runIn(*store) : 0;
        state.ResumeTiming();
        if (run == 0 || store->addMetrics(run, metrics))
            state.SkipWithError("cannot be stored");
    }
}
BENCHMARK(addMillionMetrics)->Unit(benchmark::kMillisecond)->Iterations(3)->UseRealTime();

void openWithMillionMetrics(benchmark::State& state)
{
    const Place place;
    {
        auto store = Store::open(place.file());
        if (!store || store->addMetrics(runIn(*store), millionMetrics()))
            state.SkipWithError("cannot be stored");
    }
    for (auto _ : state) {
        if (!Store::open(place.file()))
            state.SkipWithError("cannot be opened");
    }
}
BENCHMARK(openWithMillionMetrics)->Unit(benchmark::kMillisecond)->Iterations(3)->UseRealTime();

/// A thousand sessions with plans of 200 KB and two runs each.
void fillThousand(Store& store, benchmark::State& state)
{
    for (int i = 0; i < 1000; ++i) {
        SessionRecord session;
        session.row.name = "session " + std::to_string(i);
        session.row.model = i % 3 == 0 ? "llama3-8b" : "gpt2-small";
        session.row.cluster = "8xH100-80";
        session.row.modified = i;
        session.row.tags = {"tag" + std::to_string(i % 7), "all"};
        session.row.notes = std::string(300, 'n');
        session.plan = std::string(200'000, 'p') + std::to_string(i);
        session.undo = std::string(20'000, 'u');
        RunRecord run;
        run.predictedStep = Seconds(1);
        run.measuredStep = Seconds(1.1);
        if (store.saveSession(session))
            state.SkipWithError("cannot be stored");
        run.session = session.row.id;
        if (!store.addRun(run) || !store.addRun(run))
            state.SkipWithError("cannot be stored");
    }
}

void listThousandSessions(benchmark::State& state)
{
    const Place place;
    auto store = Store::open(place.file());
    fillThousand(*store, state);
    for (auto _ : state)
        benchmark::DoNotOptimize(store->sessions()->size());
}
BENCHMARK(listThousandSessions)->Unit(benchmark::kMillisecond)->Iterations(20)->UseRealTime();

void filterThousandSessions(benchmark::State& state)
{
    const Place place;
    auto store = Store::open(place.file());
    fillThousand(*store, state);
    for (auto _ : state)
        benchmark::DoNotOptimize(store->sessions({.words = "llama tag3"})->size());
}
BENCHMARK(filterThousandSessions)->Unit(benchmark::kMillisecond)->Iterations(20)->UseRealTime();

void autosaveAmongThousand(benchmark::State& state)
{
    const Place place;
    auto store = Store::open(place.file());
    fillThousand(*store, state);
    auto session = store->session(500);
    int i = 0;
    for (auto _ : state) {
        session->plan.front() = static_cast<char>('a' + ++i % 26);
        if (store->saveSession(*session))
            state.SkipWithError("cannot be stored");
    }
}
BENCHMARK(autosaveAmongThousand)->Unit(benchmark::kMillisecond)->Iterations(50)->UseRealTime();

} // namespace
} // namespace loadline
