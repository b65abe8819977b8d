// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/measure/links_overlap.hpp"

#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>

#include <algorithm>

namespace loadline {
namespace {

constexpr double kMostSlowDown = 100; ///< what a profile can hold
constexpr int kRepetitions = 7;
/// The work's share of the collective's seconds, so that the collective outlasts it even if computing slows down threefold.
constexpr double kWorkShare = 0.25;
constexpr std::int64_t kMatrix = 192; ///< its three matrices fit a core's cache: what is contended is cores and memory, as in a step
constexpr std::int64_t kMostProducts = 1'000'000;

/// Matrix products, one after another: what a step mostly does.
class Work {
public:
    explicit Work(const ComputeDevice& device) : m_matrix(at::ones({kMatrix, kMatrix}, at::TensorOptions(device.place()).dtype(at::kFloat)))
    {
    }

    void run(std::int64_t products) const
    {
        for (std::int64_t i = 0; i < products; ++i)
            at::mm(m_matrix, m_matrix);
    }

private:
    at::Tensor m_matrix;
};

} // namespace

OverlapFactors overlapOf(const OverlapTimes& times)
{
    const auto bounded = [](double factor) { return std::clamp(factor, 1.0, kMostSlowDown); };
    const double progress = times.transfer - (times.bothToTheEnd - times.both);
    const double transfer = progress > times.both / kMostSlowDown ? times.both / progress : kMostSlowDown;
    return {bounded(times.both / std::max(times.compute, 1e-12)), bounded(transfer)};
}

OverlapRow measureOverlap(Communicator& world, Communicator& group, ComputeDevice& device, const LinkGroup& kind, Collective collective,
                          std::int64_t bytes, double seconds)
{
    Agreement agreement(world, device);
    const Work work(device);
    const LinkBuffers buffers(device, bytes, kind.size);
    work.run(8); // first calls load code
    device.synchronize();
    const double eight = agreement.largest(timed(device, [&] { work.run(8); }));
    const auto products =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(seconds * kWorkShare / std::max(eight / 8, 1e-9)), 1, kMostProducts);

    std::vector<double> compute;
    std::vector<double> transfer;
    std::vector<double> both;
    std::vector<double> toTheEnd;
    for (int i = 0; i <= kRepetitions; ++i) {
        world.barrier();
        const double alone = timed(device, [&] { work.run(products); });
        world.barrier();
        const double collectiveAlone = timed(device, [&] { startCollective(group, collective, buffers)->wait(); });
        world.barrier();
        PendingPtr pending;
        // The work is waited for before this thread's queue is made to wait for the collective.
        const double meanwhile = timed(device, [&] {
            pending = startCollective(group, collective, buffers);
            work.run(products);
        });
        const double rest = timed(device, [&] { pending->wait(); });
        if (i == 0)
            continue; // warm-up
        compute.push_back(alone);
        transfer.push_back(collectiveAlone);
        both.push_back(meanwhile);
        toTheEnd.push_back(meanwhile + rest);
    }
    const auto factors = overlapOf({middleOf(compute).median, middleOf(transfer).median, middleOf(both).median, middleOf(toTheEnd).median});
    return {collective, kind.size, kind.perNode, Bytes(bytes), agreement.mean(factors.compute), agreement.mean(factors.transfer)};
}

} // namespace loadline
