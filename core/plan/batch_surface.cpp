// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/batch_surface.hpp"

#include <algorithm>

namespace loadline {
namespace {

std::vector<std::int64_t> powersOfTwo(std::int64_t most)
{
    std::vector<std::int64_t> powers{1};
    while (powers.back() <= most / 2)
        powers.push_back(powers.back() * 2);
    return powers;
}

Result<BatchCell> solve(PlanRequest& request, std::int64_t batch, std::int64_t accumulation)
{
    request.setup.batch = batch;
    request.setup.accumulation = accumulation;
    const auto outcome = makePlan(request);
    if (!outcome)
        return outcome.error();
    BatchCell cell{batch, accumulation, outcome->plan.has_value(), 0, Bytes()};
    if (outcome->plan) {
        cell.samplesPerSecond = outcome->plan->samplesPerSecond();
        cell.peak = outcome->plan->peak;
    } else if (outcome->infeasible) {
        cell.peak = outcome->infeasible->leastBudget;
    }
    return cell;
}

} // namespace

Result<BatchSurface> batchSurface(PlanRequest request, std::int64_t mostAccumulation, const std::function<void(double)>& progress)
{
    request.chooseBatch = false;
    request.chooseAccumulation = false;
    request.globalBatch = 0;
    const auto batches = powersOfTwo(std::max<std::int64_t>(request.mostBatch, 1));
    BatchSurface surface{{}, powersOfTwo(std::max<std::int64_t>(mostAccumulation, 1)), {}, request.budget};
    const double cells = double(batches.size()) * double(surface.accumulations.size());
    for (const std::int64_t batch : batches) {
        std::vector<BatchCell> row;
        for (const std::int64_t accumulation : surface.accumulations) {
            if (request.limits.stop.stop_requested())
                return surface;
            auto cell = solve(request, batch, accumulation);
            if (!cell)
                return cell.error();
            row.push_back(*cell);
            if (progress)
                progress(double(surface.cells.size() + row.size()) / cells);
        }
        surface.batches.push_back(batch);
        surface.cells.insert(surface.cells.end(), row.begin(), row.end());
        if (std::none_of(row.begin(), row.end(), [](const BatchCell& cell) { return cell.fits; }))
            break; // a larger batch saves more and fits no better
    }
    return surface;
}

} // namespace loadline
