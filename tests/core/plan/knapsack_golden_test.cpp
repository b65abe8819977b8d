// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/knapsack.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

namespace loadline::test {
namespace {

std::uint64_t splitmix64(std::uint64_t x)
{
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

struct Golden {
    const char* name;
    int hidden, layers, slices, ranks;
    double jitter;
    double budgetMib;
    double seconds; ///< proved by an independent Pareto search in double arithmetic and, where it finished, by HiGHS
};

/// Memory in units of 1 / (slices x ranks) byte, so that nothing is rounded.
std::vector<KnapsackClass> golden(const Golden& one)
{
    const double h = one.hidden, w = 12e9, a = 15e-6, ranks = one.ranks, g = one.slices;
    std::vector<double> parameters{50257 * h};
    for (int layer = 0; layer < one.layers; ++layer)
        parameters.insert(parameters.end(), {3 * h * h + 3 * h, h * h + h, 4 * h * h + 4 * h, 4 * h * h + h});
    parameters.push_back(50257 * h);
    std::vector<KnapsackClass> classes;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        KnapsackClass operators;
        for (int k = 0; k <= one.slices; ++k) {
            double time = k < one.slices ? 2 * (ranks - 1) * a + 2 * (ranks - 1) / ranks * 4 * parameters[i] * (g - k) / g / w : 0;
            time += k > 0 ? k * 3 * (ranks - 1) * a + 3 * (ranks - 1) / ranks * 4 * parameters[i] * k / g / w : 0;
            time += k > 0 && k < one.slices ? (g - 1) * 5e-6 : 0;
            const double draw = static_cast<double>(splitmix64(1000003 * i + static_cast<std::uint64_t>(k)) >> 11) * 0x1p-53;
            KnapsackOption option;
            option.persist = 16 * static_cast<std::int64_t>(parameters[i]) * ((one.slices - k) * std::int64_t{one.ranks} + k);
            option.ticks = std::llround(time * (1 + one.jitter * draw) * 1e12);
            operators.options.push_back(option);
        }
        classes.push_back(operators);
    }
    return classes;
}

TEST(KnapsackGolden, FourteenValues)
{
    constexpr Golden kValues[] = {
        {"A", 1024, 24, 1, 8, 0, 3206, 0.325369165333},    {"A", 1024, 24, 1, 8, 0.2, 3206, 0.351845022806},
        {"B", 2048, 48, 1, 8, 0, 20759, 1.999618432},      {"B", 2048, 48, 1, 8, 0.2, 20759, 2.15044492477},
        {"C", 2048, 48, 4, 8, 0, 20759, 2.071079848},      {"C", 2048, 48, 4, 8, 0.2, 20759, 2.17281999586},
        {"D", 5120, 40, 4, 8, 0, 81920, 10.33898252},      {"D", 5120, 40, 4, 8, 0.2, 81920, 10.8202782334},
        {"E", 5120, 40, 8, 16, 0, 81920, 11.2130942},      {"E", 5120, 40, 8, 16, 0.2, 81920, 11.5607024061},
        {"F", 4096, 96, 8, 8, 0, 81920, 16.9812189867},    {"F", 4096, 96, 8, 8, 0.2, 81920, 17.7587328149},
        {"G", 12288, 96, 8, 512, 0, 81920, 238.592487042}, {"G", 12288, 96, 8, 512, 0.2, 81920, 259.07859779},
    };
    for (const Golden& one : kValues) {
        const auto problem = Knapsack::prepare(golden(one));
        ASSERT_TRUE(problem.ok());
        const std::int64_t unit = std::int64_t{one.slices} * one.ranks;
        const KnapsackPlan plan = problem->solve(static_cast<std::int64_t>(one.budgetMib) * (1 << 20) * unit);
        EXPECT_EQ(plan.status, SearchStatus::Optimal) << one.name << " " << one.jitter;
        EXPECT_NEAR(static_cast<double>(plan.ticks) * 1e-12, one.seconds, 1e-9 * one.seconds) << one.name << " " << one.jitter;
    }
}

/// The published tables: seconds and MiB of one block by hidden size, batch and level.
std::vector<KnapsackOption> publishedBlock(int hidden, int batch)
{
    std::ifstream file(LOADLINE_SOURCE_DIR "/tests/data/solver/osdp-tables.csv");
    std::string line;
    std::getline(file, line);
    std::vector<KnapsackOption> options;
    while (std::getline(file, line)) {
        std::istringstream fields(line);
        int h = 0, b = 0, level = 0;
        double seconds = 0, mib = 0;
        char comma = 0;
        fields >> h >> comma >> b >> comma >> level >> comma >> seconds >> comma >> mib;
        if (h == hidden && b == batch) // the released scheduler drops the fraction of a MiB; so do its results below
            options.push_back({static_cast<std::int64_t>(mib), 0, std::llround(seconds * 1e12)});
    }
    return options;
}

TEST(KnapsackGolden, PublishedTables)
{
    struct Row {
        int hidden, layers, batch;
        double seconds; ///< 0: infeasible
        std::int64_t used;
    };
    constexpr Row kRows[] = {{1536, 48, 1, 2.901937, 7304}, {1536, 48, 2, 0, 0},           {1024, 48, 1, 1.135479, 7391},
                             {1024, 48, 2, 1.312350, 7362}, {1024, 48, 3, 1.585883, 7383}, {2048, 24, 1, 2.627892, 7308},
                             {2048, 24, 2, 2.815118, 7346}, {3072, 12, 3, 3.592050, 7339}, {4096, 8, 3, 4.314854, 7160},
                             {6144, 3, 3, 3.360896, 6333},  {8192, 2, 3, 3.859801, 7168},  {512, 48, 3, 0.413518, 3600}};
    for (const Row& row : kRows) {
        const auto options = publishedBlock(row.hidden, row.batch);
        ASSERT_EQ(options.size(), 4U);
        const auto problem = Knapsack::prepare({{options, row.layers}});
        ASSERT_TRUE(problem.ok());
        const KnapsackPlan plan = problem->solve(8192 - 800);
        if (row.seconds == 0) {
            EXPECT_EQ(plan.status, SearchStatus::Infeasible);
            continue;
        }
        EXPECT_EQ(plan.status, SearchStatus::Optimal);
        EXPECT_NEAR(static_cast<double>(plan.ticks) * 1e-12, row.seconds, 0.6e-6) << row.hidden << " " << row.batch;
        EXPECT_EQ(plan.persist, row.used) << row.hidden << " " << row.batch;
    }
}

} // namespace
} // namespace loadline::test
