// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/compute_time.hpp"

#include "core/cost/profile.hpp"

#include <algorithm>
#include <optional>

namespace loadline {
namespace {

Seconds roofline(double flops, double traffic, const Device& device, double flopsPerSecond)
{
    const double compute = flops / flopsPerSecond;
    const double memory = traffic / (device.bytesPerSecond * device.memoryEfficiency);
    return Seconds(std::max(compute, memory));
}

ComputeTime estimated(const Operator& op, const Footprint& footprint, int slices, const Setup& setup)
{
    const auto& device = setup.cluster.device;
    const bool attends = std::holds_alternative<AttentionTraits>(op.traits) && device.attentionEfficiency > 0;
    const double rate = peakFlops(device, setup.precision.compute) * (attends ? device.attentionEfficiency : device.flopsEfficiency);
    // Slice i > 0 reads the partial sum of those before it and writes it back.
    const double partialSums = 2.0 * (std::max(slices, 1) - 1) * static_cast<double>(footprint.output.count());
    const auto traffic = static_cast<double>(footprint.forwardTraffic.count());
    const auto forward = roofline(footprint.forwardFlops, traffic + partialSums, device, rate);
    return {forward, roofline(footprint.backwardFlops, 2 * traffic + partialSums, device, rate), forward, Seconds(0), true};
}

double ratio(Seconds a, Seconds b)
{
    return b > Seconds(0) ? a.value() / b.value() : 1;
}

} // namespace

double peakFlops(const Device& device, ComputeMode mode)
{
    return mode == ComputeMode::Fp32 ? device.fp32FlopsPerSecond : device.halfFlopsPerSecond;
}

ComputeTime computeTime(const Operator& op, const Footprint& footprint, int slices, const Setup& setup)
{
    const auto estimate = estimated(op, footprint, slices, setup);
    if (!setup.profile)
        return estimate;
    ActivationSettings settings;
    settings.batch = setup.batch;
    settings.sequence = setup.sequence;
    settings.compute = setup.precision.compute;
    settings.attention = setup.attention;
    settings.dropout = setup.dropout;
    if (const auto measured = setup.profile->time(op, settings, slices))
        return {measured->forward, measured->backward, measured->recompute, measured->accumulate, measured->extrapolated};
    const auto whole = slices > 1 ? setup.profile->time(op, settings, 1) : std::nullopt;
    if (!whole)
        return estimate;
    // Only the whole operator was measured: what slicing adds is as estimated.
    const auto uncut = estimated(op, footprint, 1, setup);
    const double forward = ratio(estimate.forward, uncut.forward);
    return {whole->forward * forward, whole->backward * ratio(estimate.backward, uncut.backward), whole->recompute * forward,
            whole->accumulate, true};
}

Seconds optimizerStep(std::int64_t localParameters, const Setup& setup)
{
    if (setup.profile)
        if (const auto measured = setup.profile->optimizer(setup.optimizer.name, localParameters))
            return *measured;
    return optimizerStep(localParameters, setup.precision, setup.optimizer, setup.cluster.device);
}

Seconds optimizerStep(std::int64_t localParameters, const PrecisionRecipe& precision, const OptimizerRecipe& optimizer,
                      const Device& device)
{
    const double perParameter = precision.gradient + 2 * (precision.weight + precision.master + stateBytes(precision, optimizer));
    return Seconds(static_cast<double>(localParameters) * perParameter / (device.bytesPerSecond * device.memoryEfficiency));
}

} // namespace loadline
