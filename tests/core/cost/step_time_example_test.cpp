// SPDX-License-Identifier: GPL-3.0-or-later
// Recomputes the worked example of docs/time-model.md: every line of its tables must stand in the page as it comes out here.
#include "core/base/json.hpp"
#include "core/cluster/library.hpp"
#include "core/cost/communication.hpp"
#include "core/cost/compute_time.hpp"
#include "core/cost/step_time.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace loadline {
namespace {

constexpr std::int64_t kTokens = 4096;
constexpr std::int64_t kHidden = 4096;
constexpr std::int64_t kWide = 14336;
constexpr std::int64_t kParameters = kHidden * kWide;

Setup exampleSetup()
{
    Setup setup;
    setup.cluster = *loadCluster("8xH100-80");
    setup.precision = *loadPrecision("bf16-mixed");
    setup.optimizer = *loadOptimizer("adamw");
    setup.sequence = kTokens;
    setup.rules.gatherAheadForward = 1;
    setup.rules.gatherAheadBackward = 1;
    return setup;
}

Operator linear(std::int64_t in, std::int64_t out)
{
    Operator op;
    op.traits = LinearTraits{in, out};
    return op;
}

/// FLOPs and traffic as the page states them, not as core/cost/footprint has them.
OptionCost linearCost(const Setup& setup)
{
    Footprint footprint;
    footprint.forwardFlops = 2.0 * static_cast<double>(kTokens) * static_cast<double>(kParameters);
    footprint.backwardFlops = 2 * footprint.forwardFlops;
    footprint.forwardTraffic = Bytes(2 * (kTokens * kHidden + kTokens * kWide + kParameters));
    const auto time = computeTime(linear(kHidden, kWide), footprint, 1, setup);
    OptionCost cost;
    cost.forwardCompute = time.forward;
    cost.backwardCompute = time.backward;
    return cost;
}

CostTable exampleTable()
{
    CostTable table;
    table.setup = exampleSetup();
    const auto& setup = table.setup;
    const Bytes bf16(kParameters * 2);

    auto up = linearCost(setup); // sharded over all 8
    up.strategy = {8, 1, 1, false, true};
    up.gatherForward = up.gatherBackward = allGather(setup.cluster, bf16, 8);
    up.reduce = up.scatter = reduceScatter(setup.cluster, bf16, 8);
    up.step = optimizerStep(kParameters / 8, setup.precision, setup.optimizer, setup.cluster.device);

    Footprint silu;
    silu.forwardTraffic = Bytes(2 * 2 * kTokens * kWide);
    Operator activation;
    activation.traits = ActivationTraits{ActivationKind::Silu, kWide};
    const auto time = computeTime(activation, silu, 1, setup);
    OptionCost middle;
    middle.forwardCompute = time.forward;
    middle.backwardCompute = time.backward;

    auto down = linearCost(setup); // replicated
    down.reduce = allReduce(setup.cluster, bf16, 1);
    down.step = optimizerStep(kParameters, setup.precision, setup.optimizer, setup.cluster.device);

    for (const auto& cost : {up, middle, down}) {
        Unit unit;
        unit.name = table.units.empty() ? "up_proj" : table.units.size() == 1 ? "silu" : "down_proj";
        unit.costClass = table.classOptions.size();
        table.units.push_back(unit);
        table.classOptions.push_back({cost});
    }
    return table;
}

double microseconds(Seconds seconds)
{
    return seconds.value() * 1e6;
}

std::string costLine(const Unit& unit, const OptionCost& cost)
{
    return fmt::format("| {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} |", unit.name, microseconds(cost.forwardCompute),
                       microseconds(cost.backwardCompute), microseconds(cost.gatherForward), microseconds(cost.gatherBackward),
                       microseconds(cost.reduce), microseconds(cost.step));
}

TEST(TimeModelPage, ShowsWhatTheModelComputes)
{
    const auto page = readFile(LOADLINE_SOURCE_DIR "/docs/time-model.md");
    ASSERT_TRUE(page.ok()) << page.error().message;
    const auto table = exampleTable();
    std::vector<std::string> lines;
    for (std::size_t unit = 0; unit < table.units.size(); ++unit)
        lines.push_back(costLine(table.units[unit], table.options(unit)[0]));
    const auto time = stepTime(table, {0, 0, 0});
    lines.push_back(fmt::format("| serial | {:.1f} |", microseconds(time.serial)));
    lines.push_back(fmt::format("| compute | {:.1f} |", microseconds(time.compute)));
    lines.push_back(fmt::format("| communication | {:.1f} |", microseconds(time.communication)));
    lines.push_back(fmt::format("| overlapped | {:.1f} |", microseconds(time.overlapped)));
    lines.push_back(fmt::format("| exposed | {:.1f} |", microseconds(time.exposed)));
    for (const auto& line : lines)
        EXPECT_NE(page->find(line + "\n"), std::string::npos) << "docs/time-model.md lacks this line:\n" << line;
}

TEST(TimeModelPage, WorksItsExampleOutByHand)
{
    // The same numbers once more without any of the model's code.
    const double flops = 2.0 * 4096 * 58'720'256;
    const double forward = flops / (989e12 * 0.5);
    const double silu = 4.0 * 4096 * 14336 / (3350e9 * 0.8);
    const double ring = 7 * (3e-6 + 117'440'512.0 / 8 / 360e9);
    const double step = 58'720'256.0 * 28 / (3350e9 * 0.8);
    const double forwards = ring + forward + silu + forward;
    const double middle = std::max(2 * silu, 2 * ring + ring); // the gather for up_proj waits behind down_proj's all-reduce
    const double backwards = 2 * forward + middle + 2 * forward + ring;
    const double expected = forwards + backwards + step / 8 + step;
    EXPECT_NEAR(stepTime(exampleTable(), {0, 0, 0}).overlapped.value(), expected, 1e-12);
}

} // namespace
} // namespace loadline
