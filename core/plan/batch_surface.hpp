// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/planner.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace loadline {

/// The best plan of one batch and accumulation, in short.
struct BatchCell {
    std::int64_t batch = 1;        ///< sequences per GPU and micro-step
    std::int64_t accumulation = 1; ///< micro-steps per optimizer step
    bool fits = false;
    double samplesPerSecond = 0; ///< of the whole job; 0 unless `fits`
    Bytes peak;                  ///< of the plan; of the least budget that would fit unless `fits`
};

/// Throughput over batch x accumulation at the request's budget.
struct BatchSurface {
    std::vector<std::int64_t> batches;       ///< powers of two from 1; the last is the first at which nothing fits, if there is one
    std::vector<std::int64_t> accumulations; ///< powers of two from 1
    std::vector<BatchCell> cells;            ///< a batch after the other: cells[b * accumulations.size() + a]
    Bytes budget;

    [[nodiscard]] const BatchCell& at(std::size_t batch, std::size_t accumulation) const
    {
        return cells[batch * accumulations.size() + accumulation];
    }
};

/// Solves every cell, least batch first, up to `request.mostBatch` sequences and `mostAccumulation` micro-steps; what the request says
/// of batch and accumulation is not looked at. A batch of which no cell fits ends the surface. `progress` hears the share that is done.
/// Stopping gives the batches that are complete. Errors: as makePlan. Thread-safe.
Result<BatchSurface> batchSurface(PlanRequest request, std::int64_t mostAccumulation, const std::function<void(double)>& progress = {});

} // namespace loadline
