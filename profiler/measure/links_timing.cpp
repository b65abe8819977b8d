// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/measure/links_timing.hpp"

#include "core/base/units.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace loadline {
namespace {

constexpr std::int64_t kElement = 4; ///< bytes of an fp32 value

/// Between the two nearest values, so that a quartile of few values is not one of the extremes.
double quantile(const std::vector<double>& sorted, double share)
{
    const double at = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const auto above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (sorted[above] - sorted[below]) * (at - static_cast<double>(below));
}

} // namespace

Middle middleOf(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return {quantile(values, 0.5), quantile(values, 0.75) - quantile(values, 0.25)};
}

at::Tensor Agreement::gathered(const std::vector<double>& mine)
{
    const auto values = static_cast<std::int64_t>(mine.size());
    at::Tensor shard = at::empty({values}, at::kDouble);
    std::copy(mine.begin(), mine.end(), shard.mutable_data_ptr<double>());
    const at::Tensor full = at::empty({values * m_world.size()}, at::TensorOptions(m_device.place()).dtype(at::kDouble));
    const at::Tensor here = shard.to(m_device.place());
    m_world.allGather(full, here)->wait();
    m_device.synchronize();
    return full.cpu();
}

std::vector<double> Agreement::largest(const std::vector<double>& mine)
{
    const at::Tensor all = gathered(mine);
    const auto* values = all.const_data_ptr<double>();
    std::vector<double> most(mine.size());
    for (std::size_t i = 0; i < mine.size(); ++i) {
        most[i] = values[i];
        for (std::size_t rank = 1; rank < static_cast<std::size_t>(m_world.size()); ++rank)
            most[i] = std::max(most[i], values[rank * mine.size() + i]);
    }
    return most;
}

double Agreement::mean(double mine)
{
    const at::Tensor all = gathered({mine});
    const auto* values = all.const_data_ptr<double>();
    double sum = 0;
    for (int rank = 0; rank < m_world.size(); ++rank)
        sum += values[rank];
    return sum / m_world.size();
}

LinkBuffers::LinkBuffers(const ComputeDevice& device, std::int64_t bytes, std::int64_t group)
{
    const auto options = at::TensorOptions(device.place()).dtype(at::kFloat);
    full = at::zeros({bytes / kElement}, options);
    shard = at::zeros({bytes / kElement / group}, options);
}

PendingPtr startCollective(Communicator& group, Collective collective, const LinkBuffers& buffers)
{
    switch (collective) {
    case Collective::AllGather:
        return group.allGather(buffers.full, buffers.shard);
    case Collective::ReduceScatter:
        return group.reduceScatter(buffers.shard, buffers.full);
    case Collective::AllReduce:
        break;
    }
    return group.allReduce(buffers.full);
}

std::int64_t wholeBytes(std::int64_t bytes, std::int64_t group)
{
    return ceilDiv(bytes, kElement * group) * kElement * group;
}

double timed(ComputeDevice& device, const std::function<void()>& body)
{
    const auto start = std::chrono::steady_clock::now();
    body();
    device.synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace loadline
