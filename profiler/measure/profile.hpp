// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/cost/profile.hpp"
#include "core/exchange/worker.hpp"
#include "profiler/device/device.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace loadline {

/// Who is told what was measured; called on rank 0 only, in its thread. Each may be empty.
struct ProfileSink {
    std::function<void(const OperatorRow&)> op;
    std::function<void(const StepRow&)> step;
    std::function<void(const WorkerProgress&)> progress;
    std::function<bool()> cancelled; ///< on any rank; all of them stop before the next point
};

/// One operator at one size.
struct ProfilePoint {
    std::size_t op = 0; ///< in the request's model: the first operator with this key
    ComputeMode precision = ComputeMode::Fp32;
    std::int64_t batch = 1;
    std::int64_t sequence = 1; ///< of the run
    int slices = 1;
};

/// What `request` asks for: each distinct operator once for each precision, sequence, batch and granularity it can be cut in, the smallest
/// batches and whole operators first. Errors: a precision or optimizer that cannot be run here, sequences beyond the model's positions, a
/// model without an operator that can be run here.
Result<std::vector<ProfilePoint>> profilePoints(const ProfileRequest& request, bool onGpu);

/// Times `points` and the optimizer in all ranks at once, as a run would, each with the threads that it has. A figure is the median over
/// windows of repetitions that are long beside a time slice of the system, meant over ranks; first runs are dropped. A point that runs out
/// of memory (half of what is free, divided among the ranks) is a row that says so; larger batches of it are then left out. What
/// request.limit leaves no time for is not measured. Collective: every rank calls it with the same arguments. Throws std::exception as a
/// communicator does.
void measureProfile(Communicator& world, ComputeDevice& device, const ProfileRequest& request, const std::vector<ProfilePoint>& points,
                    const ProfileSink& sink);

/// What timings of one thing say.
struct Window {
    double median = 0;
    double spread = 0; ///< between the quartiles
    int outliers = 0;  ///< further from the median than three spreads
};
Window windowOf(const std::vector<double>& seconds);

} // namespace loadline
