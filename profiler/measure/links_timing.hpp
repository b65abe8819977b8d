// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/profile.hpp"
#include "profiler/device/device.hpp"

#include <ATen/core/Tensor.h>

#include <chrono>
#include <functional>
#include <vector>

namespace loadline {

/// Middle and distance of the quartiles; of `values` in any order, not empty.
struct Middle {
    double median = 0;
    double spread = 0;
};
Middle middleOf(std::vector<double> values);

/// Every rank's figures put together so that all ranks decide alike.
class Agreement {
public:
    Agreement(Communicator& world, ComputeDevice& device) : m_world(world), m_device(device) {}

    /// For each position the largest, smallest or mean over ranks.
    std::vector<double> largest(const std::vector<double>& mine);
    double largest(double mine) { return largest(std::vector{mine}).front(); }
    double smallest(double mine) { return -largest(-mine); }
    double mean(double mine);

private:
    at::Tensor gathered(const std::vector<double>& mine); ///< [ranks, values], on the CPU
    Communicator& m_world;
    ComputeDevice& m_device;
};

/// The arrays that one size of a collective works on, zeros: sums of them stay finite however often they are repeated.
struct LinkBuffers {
    at::Tensor full;
    at::Tensor shard;
    /// `bytes` is a whole number of fp32 elements for each of `group` ranks.
    LinkBuffers(const ComputeDevice& device, std::int64_t bytes, std::int64_t group);
};

PendingPtr startCollective(Communicator& group, Collective collective, const LinkBuffers& buffers);

/// `bytes` rounded up to whole fp32 elements for each of `group` ranks.
std::int64_t wholeBytes(std::int64_t bytes, std::int64_t group);

/// Seconds that `body` takes, with everything that it queues on the device.
double timed(ComputeDevice& device, const std::function<void()>& body);

} // namespace loadline
