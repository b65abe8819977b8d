// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/units.hpp"
#include "core/cost/footprint.hpp"
#include "core/cost/setup.hpp"
#include "core/model/description.hpp"

#include <cstdint>

namespace loadline {

/// Compute seconds of one operator in one micro-step on one rank; a recomputed forward is not in `backward`.
struct ComputeTime {
    Seconds forward;
    Seconds backward;
    Seconds recompute;     ///< what recomputing it adds to backward
    Seconds accumulate;    ///< what adding its gradient to one that exists adds to backward; 0 unless measured
    bool estimated = true; ///< false only if both were measured, or lie between measured points
};

/// Peak matrix-product rate that `mode` uses on `device`, in FLOP/s.
double peakFlops(const Device& device, ComputeMode mode);

/// Measured where `setup.profile` has the operator, else the device's roofline (Williams et al., CACM 52(4), 2009):
///     max(flops / (peak x flopsEfficiency), traffic / (bandwidth x memoryEfficiency))
/// with attentionEfficiency for attention. Backward moves twice forward's traffic. Each slice but the first reads and
/// writes the output once more, since slices add their partial sums. `slices` >= 1.
ComputeTime computeTime(const Operator& op, const Footprint& footprint, int slices, const Setup& setup);

/// One optimizer step over `localParameters` trainable parameters that this rank stores of one unit: measured where the setup's profile has
/// its optimizer, else estimated.
Seconds optimizerStep(std::int64_t localParameters, const Setup& setup);

/// The estimate: bound by device memory. Reads the gradient, reads and writes the stored weight, the master copy and all optimizer state.
Seconds optimizerStep(std::int64_t localParameters, const PrecisionRecipe& precision, const OptimizerRecipe& optimizer,
                      const Device& device);

} // namespace loadline
