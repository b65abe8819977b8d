// SPDX-License-Identifier: GPL-3.0-or-later
// How near the search of overlapped time comes to its bound, how long it takes, and what it gains over the plan that is best for the
// serial sum: bundled models, three bandwidths, with and without contention and recomputed blocks, budgets from 5 to 95 % of the range.
#include "core/plan/budget_search.hpp"
#include "core/plan/planner.hpp"
#include "core/plan/planner_state.hpp"
#include "tests/support/plan_setups.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace {

using namespace loadline;

double threadSeconds()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Case {
    double gap = 0;
    double gain = 0;
    double serialMs = 0;
    double overlapMs = 0;
};

enum class Variant { Plain, Contention, Recomputed };

std::vector<Case> casesOf(const std::string& model, double bandwidth, Variant variant)
{
    Setup setup = loadline::testing::bundledSetup(model, "8xH100-80", "bf16-mixed", 512);
    setup.cluster.intra.bytesPerSecond *= bandwidth;
    setup.time = TimeMode::Overlap;
    if (variant == Variant::Contention) {
        setup.cluster.overlapCompute = 1.1;
        setup.cluster.overlapTransfer = 1.2;
    }
    if (variant == Variant::Recomputed)
        setup.recomputedBlocks = 6;
    const auto planner = Planner::prepare(*buildCostTable(setup), {});
    std::vector<Case> cases;
    for (const int percent : {5, 15, 30, 50, 70, 85, 95}) {
        const Bytes range = planner->mostBudget() - planner->leastBudget();
        const Bytes budget = planner->leastBudget() + Bytes(range.count() / 100 * percent);
        const double start = threadSeconds();
        const SearchResult serial = searchBudget(planner->state(), budget, {});
        const double middle = threadSeconds();
        const PlanOutcome outcome = planner->plan(budget);
        const double end = threadSeconds();
        const double before = stepTime(planner->table(), serial.best->choice).overlapped.value();
        cases.push_back({outcome.gap, before / outcome.plan->objective.value() - 1, 1e3 * (middle - start), 1e3 * (end - middle)});
    }
    return cases;
}

template <class Value>
double quantile(const std::vector<Case>& cases, double share, Value value)
{
    std::vector<double> values;
    for (const Case& each : cases)
        values.push_back(value(each));
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

void print(const std::string& name, const std::vector<Case>& cases)
{
    const auto gap = [&](double share) { return quantile(cases, share, [](const Case& c) { return c.gap; }); };
    const auto ms = [&](double share) { return quantile(cases, share, [](const Case& c) { return c.overlapMs; }); };
    const auto gain = [&](double share) { return 100 * quantile(cases, share, [](const Case& c) { return c.gain; }); };
    const auto proven = std::count_if(cases.begin(), cases.end(), [](const Case& c) { return c.gap == 0; });
    std::printf("| %s | %zu | %.0f %% | %.1e / %.1e / %.1e | %.1f / %.1f / %.1f | %.2f / %.2f |\n", name.c_str(), cases.size(),
                100.0 * static_cast<double>(proven) / static_cast<double>(cases.size()), gap(0.5), gap(0.99), gap(1), ms(0.5), ms(0.9),
                ms(1), gain(0.5), gain(1));
}

} // namespace

int main(int count, char** arguments)
{
    std::printf("| model | cases | proven | gap p50 / p99 / max | CPU ms p50 / p90 / max | gain over serial %% p50 / max "
                "|\n|---|---|---|---|---|---|\n");
    const std::vector<std::string> models =
        count > 1 ? std::vector<std::string>(arguments + 1, arguments + count)
                  : std::vector<std::string>{"gpt2-small", "gpt2-xl", "llama3-8b", "llama2-70b", "mixtral-8x7b", "ic-mix"};
    for (const std::string& model : models) {
        std::vector<Case> cases;
        for (const double bandwidth : {0.25, 1.0, 4.0})
            for (const Variant variant : {Variant::Plain, Variant::Contention, Variant::Recomputed})
                for (const Case& each : casesOf(model, bandwidth, variant))
                    cases.push_back(each);
        print(model, cases);
    }
}
