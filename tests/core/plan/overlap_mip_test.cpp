// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/step_time.hpp"
#include "core/plan/planner.hpp"
#include "tests/support/cost_table_builder.hpp"
#include "tests/support/mip_peer.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace loadline {
namespace {

using namespace testing;

/// A transformer of `blocks` blocks whose units all gather, so that the two-stream recurrence is a program of linear inequalities: each
/// waiting is the larger of two sums. Memory is a plain sum.
CostTable gatheringTransformer(int blocks, double bandwidth)
{
    CostTableBuilder builder(8, loadlineRules());
    builder.memory(MemoryMode::Paper);
    const auto unit = [&](std::int64_t states, double compute) {
        std::vector<OptionCost> options;
        for (const std::int64_t group : {2, 4, 8})
            for (const int kept : {0, 1}) {
                OptionCost cost;
                cost.strategy = sharded(group);
                cost.strategy.reshardAfterForward = kept == 0;
                cost.parameters = Bytes(states / group + (kept > 0 ? states / 5 : 0));
                const double transfer = static_cast<double>(states) * 1e-9 * (1 - 1.0 / static_cast<double>(group)) / bandwidth;
                cost.forwardCompute = Seconds(compute);
                cost.backwardCompute = Seconds(2.1 * compute);
                cost.gatherForward = Seconds(transfer);
                cost.gatherBackward = Seconds(kept > 0 ? 0.15 * transfer : transfer);
                cost.reduce = cost.scatter = Seconds(transfer * 1.2 + 8e-4 / static_cast<double>(group));
                cost.step = Seconds(2e-10 * static_cast<double>(states) / static_cast<double>(group));
                options.push_back(cost);
            }
        return builder.costClass(options);
    };
    const auto embedding = unit(9'000'000, 0.0004);
    const auto attention = unit(4'100'000, 0.0061);
    const auto mlp = unit(11'900'000, 0.0087);
    const auto head = unit(9'000'000, 0.0111);
    builder.units("embed", embedding);
    for (int block = 0; block < blocks; ++block)
        builder.units("attention", attention, 1, block).units("mlp", mlp, 1, block);
    builder.units("head", head);
    CostTable table = builder.build();
    table.setup.time = TimeMode::Overlap;
    table.setup.cluster.overlapCompute = 1.1;
    table.setup.cluster.overlapTransfer = 1.2;
    return table;
}

/// The recurrence as a mixed-integer program, times in ms and bytes in MB.
class OverlapMip {
public:
    OverlapMip(const CostTable& table, std::ostream& file) : m_table(table), m_file(file)
    {
        const double alpha = table.setup.cluster.overlapCompute;
        const double beta = table.setup.cluster.overlapTransfer;
        m_hidden = beta * (1 - 1 / alpha);
        m_covered = alpha * (1 - 1 / beta);
    }

    void write(Bytes budget)
    {
        const std::size_t count = m_table.units.size();
        m_file << "Minimize\n time:";
        for (std::size_t p = 0; p < count; ++p) {
            sum(p, 1, [&](const OptionCost& cost) {
                return cost.step + (p == 0 ? cost.gatherForward + cost.reduce : Seconds()) +
                       (p + 1 == count ? cost.forwardCompute + cost.gatherBackward : Seconds());
            });
            m_file << (p + 1 < count ? " + f" + std::to_string(p) : "") << " + b" << p << "\n";
        }
        m_file << "\nSubject To\n memory:";
        for (std::size_t p = 0; p < count; ++p)
            for (std::size_t o = 0; o < m_table.options(p).size(); ++o)
                m_file << fmt::format(" + {:.17g} {}\n", static_cast<double>(m_table.options(p)[o].parameters.count()) * 1e-6,
                                      test::mipVariable(p, o));
        m_file << fmt::format(" <= {:.17g}\n", static_cast<double>(budget.count()) * 1e-6);
        for (std::size_t p = 0; p < count; ++p)
            one(p);
        for (std::size_t p = 0; p + 1 < count; ++p)
            pair(
                "f", p, [](const OptionCost& cost) { return cost.forwardCompute; },
                [&](double times) { sum(p + 1, -times, [](const OptionCost& cost) { return cost.gatherForward; }); });
        for (std::size_t p = 0; p < count; ++p)
            pair(
                "b", p, [](const OptionCost& cost) { return cost.backwardCompute; },
                [&](double times) {
                    if (p + 1 < count)
                        sum(p + 1, -times, [](const OptionCost& cost) { return cost.reduce; });
                    if (p > 0)
                        sum(p - 1, -times, [](const OptionCost& cost) { return cost.gatherBackward; });
                });
        m_file << "Binary\n";
        for (std::size_t p = 0; p < count; ++p)
            for (std::size_t o = 0; o < m_table.options(p).size(); ++o)
                m_file << " " << test::mipVariable(p, o) << "\n";
        m_file << "End\n";
    }

private:
    template <class Time>
    void sum(std::size_t p, double times, Time time)
    {
        for (std::size_t o = 0; o < m_table.options(p).size(); ++o)
            m_file << fmt::format(" {:+.17g} {}\n", times * 1e3 * time(m_table.options(p)[o]).value(), test::mipVariable(p, o));
    }

    void one(std::size_t p)
    {
        m_file << " one" << p << ":";
        for (std::size_t o = 0; o < m_table.options(p).size(); ++o)
            m_file << " + " << test::mipVariable(p, o);
        m_file << " = 1\n";
    }

    /// name_p is at least computing + hidden x transfers, and transfers + covered x computing.
    template <class Compute, class Transfers>
    void pair(const char* name, std::size_t p, Compute compute, Transfers transfers)
    {
        for (const int longer : {0, 1}) {
            m_file << fmt::format(" {}{}_{}: {}{}\n", name, p, longer, name, p);
            sum(p, longer == 0 ? -1 : -m_covered, compute);
            transfers(longer == 0 ? m_hidden : 1);
            m_file << " >= 0\n";
        }
    }

    const CostTable& m_table;
    std::ostream& m_file;
    double m_hidden;
    double m_covered;
};

std::optional<Choice> askMipFor(const CostTable& table, Bytes budget, const std::string& solver, const std::string& folder)
{
    const std::string model = folder + "/problem.lp";
    const std::string answer = folder + "/answer.txt";
    {
        std::ofstream file(model);
        OverlapMip(table, file).write(budget);
    }
    std::remove(answer.c_str());
    if (std::system(fmt::format("'{}' {} '{}' '{}' 6", LOADLINE_SOURCE_DIR "/tests/bench/peers/mip", solver, model, answer).c_str()) != 0)
        return std::nullopt;
    Choice choice(table.units.size());
    std::ifstream file(answer);
    std::string name;
    double value = 0;
    while (file >> name >> value) {
        std::size_t unit = 0;
        std::size_t option = 0;
        if (value > 0.5 && std::sscanf(name.c_str(), "x%zu_%zu", &unit, &option) == 2 && unit < choice.size())
            choice[unit] = static_cast<std::uint32_t>(option);
    }
    return choice;
}

class OverlapMipTest : public ::testing::TestWithParam<const char*> {};

TEST_P(OverlapMipTest, IsNeverFasterThanOurPlan)
{
    const std::string solver = GetParam();
    if (!test::hasMip(solver))
        GTEST_SKIP() << solver << " is not installed: nothing to compare with.";
    const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / ("loadline-overlap-mip-" + solver);
    std::filesystem::create_directories(folder);
    int compared = 0;
    for (const int blocks : {9, 25}) // 20 and 52 units; the larger ones are beyond GLPK in that time
        for (const double bandwidth : {1.0, 3.0}) {
            if (solver == "glpk" && blocks > 9)
                continue;
            const CostTable table = gatheringTransformer(blocks, bandwidth);
            const auto planner = Planner::prepare(table, {});
            ASSERT_TRUE(planner.ok());
            const Bytes range = planner->mostBudget() - planner->leastBudget();
            const Bytes budget = planner->leastBudget() + Bytes(range.count() * 2 / 5);
            const PlanOutcome ours = planner->plan(budget);
            ASSERT_TRUE(ours.plan.has_value());
            const auto theirs = askMipFor(table, budget, solver, folder.string());
            if (!theirs || plannedPeak(table, *theirs) > budget)
                continue; // it did not finish, or fits within its tolerance only
            ++compared;
            const double seconds = stepTime(table, *theirs).overlapped.value();
            EXPECT_GE(seconds, ours.lowerBound.value() * (1 - 1e-9)) << blocks << " blocks";
            EXPECT_LE(ours.plan->objective.value(), seconds * (1 + 1e-6)) << blocks << " blocks";
        }
    EXPECT_GE(compared, solver == "cbc" ? 2 : 1);
    std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Solvers, OverlapMipTest, ::testing::Values("glpk", "cbc"), [](const auto& one) { return std::string(one.param); });

} // namespace
} // namespace loadline
