// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/cost_table.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace loadline::testing {

/// Cost tables made by hand, without a model: for tests of what is planned on them.
class CostTableBuilder {
public:
    explicit CostTableBuilder(std::int64_t ranks = 8, RuntimeRules rules = {})
    {
        m_table.setup.cluster.nodes = 1;
        m_table.setup.cluster.gpusPerNode = ranks;
        m_table.setup.rules = std::move(rules);
    }

    CostTableBuilder& overhead(std::int64_t bytes)
    {
        m_table.overhead = Bytes(bytes);
        return *this;
    }
    CostTableBuilder& memory(MemoryMode mode)
    {
        m_table.setup.memory = mode;
        return *this;
    }

    std::size_t costClass(std::vector<OptionCost> options)
    {
        m_table.classOptions.push_back(std::move(options));
        return m_table.classOptions.size() - 1;
    }

    /// `count` units of one class; named by `name` and a running number.
    CostTableBuilder& units(const std::string& name, std::size_t costClass, int count = 1, int layer = -1)
    {
        for (int i = 0; i < count; ++i) {
            Unit unit;
            unit.name = name + "." + std::to_string(m_table.units.size());
            unit.costClass = costClass;
            unit.parameters = 1000;
            unit.layer = layer;
            m_table.units.push_back(std::move(unit));
        }
        return *this;
    }

    [[nodiscard]] CostTable& table() { return m_table; }
    [[nodiscard]] CostTable build() const { return m_table; }

private:
    CostTable m_table;
};

inline Strategy replicated()
{
    return {};
}

inline Strategy sharded(std::int64_t group, int slices = 1, int shardedSlices = 0)
{
    Strategy strategy;
    strategy.group = group;
    strategy.slices = slices;
    strategy.shardedSlices = shardedSlices > 0 ? shardedSlices : slices;
    return strategy;
}

/// An option by its main figures: bytes, and seconds of communication beside `compute`.
inline OptionCost option(Strategy strategy, std::int64_t states, std::int64_t saved, std::int64_t transient, double communication,
                         double compute = 0.010)
{
    OptionCost cost;
    cost.strategy = strategy;
    cost.parameters = Bytes(states / 4);
    cost.gradients = Bytes(states / 4);
    cost.optimizer = Bytes(states - 2 * (states / 4));
    cost.saved = Bytes(saved);
    cost.gathered = strategy.replicated() ? Bytes() : Bytes(transient / 2);
    cost.gatheredBackward = cost.gathered;
    cost.forwardTransient = Bytes(transient / 2);
    cost.backwardTransient = Bytes(transient);
    cost.forwardCompute = Seconds(compute / 3);
    cost.backwardCompute = Seconds(compute - compute / 3);
    cost.reduce = Seconds(communication);
    return cost;
}

/// A unit's usual ladder: replicated, sharded, sharded in slices; each next one leaner and slower.
inline std::vector<OptionCost> ladder(std::int64_t states, std::int64_t saved, std::int64_t ranks, double communication,
                                      std::vector<int> granularities = {1, 2, 4})
{
    std::vector<OptionCost> options{option(replicated(), states, saved, states / 4, communication)};
    for (const int g : granularities)
        for (int k = 1; k <= g; ++k) {
            const std::int64_t part = states * k / g;
            options.push_back(option(sharded(ranks, g, k), states - part + ceilDiv(part, ranks), saved, states / 2 / g,
                                     communication * (1.0 + 0.5 * k / g) + 1e-5 * g));
        }
    return options;
}

/// Small tables with every kind of byte that a timeline knows, for comparison with brute force. The same seed gives the
/// same table everywhere.
class RandomTables {
public:
    explicit RandomTables(std::uint64_t seed) : m_engine(seed) {}

    /// At most `mostUnits` units with at most `mostOptions` options each.
    CostTable next(int mostUnits, int mostOptions, const RuntimeRules& rules)
    {
        CostTableBuilder builder(8, rules);
        builder.overhead(number(0, 50));
        const int classes = static_cast<int>(number(1, 3));
        for (int i = 0; i < classes; ++i)
            builder.costClass(options(mostOptions));
        const int count = static_cast<int>(number(1, mostUnits));
        const bool regions = number(0, 2) == 0;
        for (int i = 0; i < count; ++i) {
            builder.units("unit", static_cast<std::size_t>(number(0, classes - 1)), 1, regions ? i / 2 : -1);
            builder.table().units.back().parameters = number(0, 3) == 0 ? 0 : 1000;
        }
        return builder.build();
    }

    std::int64_t number(std::int64_t low, std::int64_t high)
    {
        return low + static_cast<std::int64_t>(m_engine() % static_cast<std::uint64_t>(high - low + 1));
    }

private:
    std::vector<OptionCost> options(int most)
    {
        const bool recompute = number(0, 2) == 0;
        std::vector<OptionCost> result;
        const Bytes recomputed(number(0, 60)); // activations: the same however parameters are stored
        const int count = static_cast<int>(number(1, most));
        for (int i = 0; i < count; ++i) {
            OptionCost cost;
            cost.strategy = number(0, 2) == 0 ? replicated() : sharded(8, static_cast<int>(number(1, 2)));
            cost.strategy.recompute = recompute;
            cost.parameters = Bytes(number(1, 60));
            cost.optimizer = Bytes(number(0, 60));
            cost.gradients = Bytes(number(0, 60));
            cost.steadyGradients = number(0, 2) == 0 ? Bytes(number(0, cost.gradients.count())) : Bytes();
            cost.saved = Bytes(number(0, 80));
            cost.kept = number(0, 4) == 0 ? Bytes(number(0, 40)) : Bytes();
            cost.gathered = Bytes(number(0, 30));
            cost.gatheredBackward = number(0, 3) == 0 ? Bytes() : cost.gathered;
            cost.input = Bytes(number(0, 20));
            cost.forwardBuffer = Bytes(number(0, 10));
            cost.backwardBuffer = Bytes(number(0, 10));
            cost.reduceBuffer = Bytes(number(0, 10));
            cost.forwardTransient = cost.gathered + cost.innerForward() + Bytes(number(0, 60));
            cost.backwardTransient = cost.gathered + cost.innerBackward() + Bytes(number(0, 90));
            cost.reduceTransient = number(0, 2) == 0 ? Bytes(number(0, 120)) : Bytes();
            cost.fullGradient = Bytes(number(0, 20));
            cost.stepTransient = number(0, 2) == 0 ? Bytes(number(0, 60)) : Bytes();
            if (recompute) {
                cost.recomputed = recomputed;
                cost.recomputeTransient = cost.gathered + Bytes(number(0, 60));
            }
            cost.forwardCompute = Seconds(static_cast<double>(number(1, 50)) * 1e-3);
            cost.reduce = Seconds(static_cast<double>(number(0, 30)) * 1e-3);
            result.push_back(cost);
        }
        return result;
    }

    std::mt19937_64 m_engine;
};

} // namespace loadline::testing
