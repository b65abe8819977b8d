// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/derivation.hpp"

#include "core/base/text.hpp"
#include "core/cost/communication.hpp"
#include "core/cost/compute_time.hpp"
#include "core/cost/footprint.hpp"
#include "core/cost/option_sizes.hpp"
#include "core/cost/profile.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace loadline {
namespace {

std::string whole(std::int64_t value)
{
    std::string digits = std::to_string(value);
    for (std::size_t at = digits.size(); at > 3; at -= 3)
        digits.insert(at - 3, 1, ',');
    return digits;
}

/// One unit under one option, with the sums that several figures read.
class Deriver {
public:
    Deriver(const CostTable& table, std::size_t unit, const OptionCost& cost)
        : m_setup(table.setup), m_unit(table.units[unit]), m_cost(cost), m_slices(sliceSizes(table.setup, m_unit, cost.strategy))
    {
        for (const SliceSizes& slice : m_slices) {
            m_local += slice.local;
            m_trainable += slice.localTrainable;
            m_factors += slice.localFactors;
        }
    }

    std::vector<Derivation> all()
    {
        states();
        passing();
        compute();
        communication();
        return std::move(m_lines);
    }

private:
    void add(std::string what, std::string formula, std::string values, Bytes result)
    {
        if (result > Bytes())
            m_lines.push_back({std::move(what), std::move(formula), std::move(values), result, false});
    }
    void add(std::string what, std::string formula, std::string values, Seconds result, bool measured = false)
    {
        if (result > Seconds(0))
            m_lines.push_back({std::move(what), std::move(formula), std::move(values), result, measured});
    }

    void states()
    {
        const PrecisionRecipe& precision = m_setup.precision;
        const std::string place = m_cost.strategy.replicated() ? "parameters" : "parameters stored by one rank";
        if (precision.master > 0)
            add("weights", place + " x (weight + master copy)",
                fmt::format("{} x {} B + {} x {} B", whole(m_local), precision.weight, whole(m_trainable), precision.master),
                bytesOf(m_local, precision.weight) + bytesOf(m_trainable, precision.master));
        else
            add("weights", place + " x weight", fmt::format("{} x {} B", whole(m_local), precision.weight),
                bytesOf(m_local, precision.weight));
        const double state = stateBytes(precision, m_setup.optimizer);
        if (m_setup.optimizer.factored)
            add("optimizer state", "trainable " + place + " x state + rows and columns x 4 B",
                fmt::format("{} x {} B + {} x 4 B", whole(m_trainable), state, whole(m_factors)),
                bytesOf(m_trainable, state) + bytesOf(m_factors, 4));
        else
            add("optimizer state", "trainable " + place + " x state of " + m_setup.optimizer.name,
                fmt::format("{} x {} B", whole(m_trainable), state), bytesOf(m_trainable, state));
        add("gradients", "trainable " + place + " x gradient", fmt::format("{} x {} B", whole(m_trainable), precision.gradient),
            bytesOf(m_trainable, precision.gradient));
    }

    /// What is alive for a part of the step only.
    void passing()
    {
        add("saved for backward",
            m_cost.strategy.recompute ? "recomputed: only the input of the block is kept" : "tensors that the backward pass reads",
            fmt::format("batch {}, {} tokens a sequence", m_setup.batch, m_setup.sequence), m_cost.saved);
        const double width = m_setup.precision.gathered;
        if (m_cost.gathered > Bytes())
            add("gathered copy", "parameters of the largest slice, padded to whole ranks x bytes of a gathered one",
                fmt::format("{} x {} B", whole(gatheredElements()), width), bytesOf(gatheredElements(), width));
    }

    /// Slices that are copied: all where replicated ones are copied too, else the sharded ones.
    [[nodiscard]] std::int64_t gatheredElements() const
    {
        const double width = m_setup.precision.gathered;
        std::int64_t most = 0;
        for (const SliceSizes& slice : m_slices) {
            if (bytesOf(slice.padded, width) <= m_cost.gathered)
                most = std::max(most, slice.padded);
        }
        return most;
    }

    void compute()
    {
        const ActivationSettings settings{m_setup.batch, m_setup.sequence, m_setup.precision.compute, m_setup.attention, m_setup.dropout};
        const auto prints = footprints(*m_setup.model, settings);
        Seconds forward;
        Seconds backward;
        Seconds recompute;
        Seconds accumulate;
        double forwardFlops = 0;
        double backwardFlops = 0;
        double traffic = 0;
        bool measured = true;
        for (const std::size_t op : m_unit.operators) {
            const ComputeTime time = computeTime(m_setup.model->operators[op], prints[op], m_cost.strategy.slices, m_setup);
            forward += time.forward;
            backward += time.backward;
            recompute += time.recompute;
            accumulate += time.accumulate;
            forwardFlops += prints[op].forwardFlops;
            backwardFlops += prints[op].backwardFlops;
            traffic += static_cast<double>(prints[op].forwardTraffic.count());
            measured = measured && !time.estimated;
        }
        const auto microSteps = static_cast<double>(m_setup.accumulation);
        const Seconds again = (m_cost.strategy.recompute ? recompute : Seconds(0)) + accumulate * replicatedShare();
        const std::string formula = measured ? "medians of the profile x micro-steps"
                                             : "the larger of FLOPs and memory traffic at the device's rates x micro-steps";
        const auto values = [&](double flops, double bytes) {
            return fmt::format("{}FLOP, {}B, {} micro-steps", formatCount(flops), formatCount(bytes), m_setup.accumulation);
        };
        add("forward compute", formula, values(forwardFlops, traffic), forward * microSteps, measured);
        add(m_cost.strategy.recompute ? "backward and recomputed forward" : "backward compute", formula, values(backwardFlops, 2 * traffic),
            (backward + again) * microSteps, measured);
        const bool stepMeasured = m_setup.profile && m_setup.profile->optimizer(m_setup.optimizer.name, m_trainable);
        add("optimizer step",
            stepMeasured ? "trainable parameters here, by the profile"
                         : "trainable parameters here x bytes read and written / memory bandwidth",
            fmt::format("{} parameters", whole(m_trainable)), optimizerStep(m_trainable, m_setup), stepMeasured);
    }

    /// Of the trainable parameters: their gradients are added to a buffer.
    [[nodiscard]] double replicatedShare() const
    {
        std::int64_t all = 0;
        std::int64_t replicated = 0;
        for (const SliceSizes& slice : m_slices) {
            all += slice.trainable;
            replicated += slice.sharded ? 0 : slice.trainable;
        }
        return all > 0 ? static_cast<double>(replicated) / static_cast<double>(all) : 0;
    }

    void communication()
    {
        const std::int64_t group = m_cost.strategy.group;
        Bytes gathered;
        Bytes reduced;
        for (const SliceSizes& slice : m_slices) {
            if (slice.sharded)
                gathered += bytesOf(slice.padded, m_setup.precision.gathered);
            reduced += bytesOf(slice.paddedTrainable, m_setup.precision.reduced);
        }
        const std::string many = m_setup.accumulation > 1 ? fmt::format(", {} micro-steps", m_setup.accumulation) : std::string();
        const std::string over = fmt::format("{} over {} ranks in {} calls{}", formatBytes(gathered), group, callsOf(true), many);
        add("gather for forward", "ring: (n - 1) (latency + bytes / n / bandwidth) a call", over, m_cost.gatherForward);
        add("gather for backward", "as for forward, once more for each recomputation", over, m_cost.gatherBackward);
        add("reduction of gradients", "reduce-scatter in the shard group, all-reduce across its copies",
            fmt::format("{} in {} calls{}", formatBytes(reduced), callsOf(false), many), m_cost.reduce);
    }

    [[nodiscard]] std::int64_t callsOf(bool shardedOnly) const
    {
        return std::count_if(m_slices.begin(), m_slices.end(),
                             [&](const SliceSizes& slice) { return slice.padded > 0 && (slice.sharded || !shardedOnly); });
    }

    const Setup& m_setup;
    const Unit& m_unit;
    const OptionCost& m_cost;
    std::vector<SliceSizes> m_slices;
    std::int64_t m_local = 0;
    std::int64_t m_trainable = 0;
    std::int64_t m_factors = 0;
    std::vector<Derivation> m_lines;
};

} // namespace

std::vector<Derivation> derivations(const CostTable& table, std::size_t unit, std::size_t option)
{
    return Deriver(table, unit, table.options(unit)[option]).all();
}

} // namespace loadline
