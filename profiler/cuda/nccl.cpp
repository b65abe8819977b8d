// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/cuda/nccl.hpp"

#include "profiler/device/store.hpp"

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include <algorithm>

namespace loadline {
namespace {

using Store = c10::intrusive_ptr<c10d::Store>;
using Group = c10::intrusive_ptr<c10d::ProcessGroupNCCL>;

class NcclPending final : public Pending {
public:
    explicit NcclPending(c10::intrusive_ptr<c10d::Work> work) : m_work(std::move(work)) {}

    void wait() override
    {
        if (const auto work = std::exchange(m_work, {}))
            work->wait(); // the current stream waits, this thread does not
    }

private:
    c10::intrusive_ptr<c10d::Work> m_work;
};

class NcclCommunicator final : public Communicator {
public:
    NcclCommunicator(Store store, int rank, int ranks, c10::Device device, std::chrono::milliseconds timeout)
        : m_store(std::move(store)), m_rank(rank), m_ranks(ranks), m_device(device), m_timeout(timeout)
    {
        const auto options = c10d::ProcessGroupNCCL::Options::create();
        options->timeout = timeout;
        m_group = c10::make_intrusive<c10d::ProcessGroupNCCL>(m_store, rank, ranks, options);
        m_group->setBoundDeviceId(device);
        m_group->eagerConnectSingleDevice(device); // a rank that does not come is noticed here, not in the first step
    }

    ~NcclCommunicator() override
    {
        try {
            m_group->shutdown();
        } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): the group is dead already
        }
    }
    NcclCommunicator(const NcclCommunicator&) = delete;
    NcclCommunicator& operator=(const NcclCommunicator&) = delete;

    [[nodiscard]] int rank() const override { return m_rank; }
    [[nodiscard]] int size() const override { return m_ranks; }

    PendingPtr allGather(const at::Tensor& full, const at::Tensor& shard) override
    {
        at::Tensor into = full;
        at::Tensor from = shard;
        return pending(m_group->_allgather_base(into, from));
    }

    PendingPtr reduceScatter(const at::Tensor& shard, const at::Tensor& full) override
    {
        at::Tensor into = shard;
        at::Tensor from = full;
        return pending(m_group->_reduce_scatter_base(into, from));
    }

    PendingPtr allReduce(const at::Tensor& tensor) override
    {
        std::vector<at::Tensor> tensors{tensor};
        return pending(m_group->allreduce(tensors));
    }

    PendingPtr broadcast(const at::Tensor& tensor, int root) override
    {
        std::vector<at::Tensor> tensors{tensor};
        c10d::BroadcastOptions options;
        options.rootRank = root;
        return pending(m_group->broadcast(tensors, options));
    }

    void barrier() override
    {
        c10d::BarrierOptions options;
        options.device_ids = {m_device.index()};
        m_group->barrier(options)->wait();
    }

    std::unique_ptr<Communicator> subgroup(const std::vector<int>& ranks, const std::string& name) override
    {
        const auto mine = std::find(ranks.begin(), ranks.end(), m_rank);
        TORCH_CHECK(mine != ranks.end(), "rank ", m_rank, " is not in group ", name);
        return std::make_unique<NcclCommunicator>(
            c10::make_intrusive<c10d::PrefixStore>(fmt::format("{}@{}", name, ranks.front()), m_store),
            static_cast<int>(mine - ranks.begin()), static_cast<int>(ranks.size()), m_device, m_timeout);
    }

private:
    static PendingPtr pending(c10::intrusive_ptr<c10d::Work> work) { return std::make_unique<NcclPending>(std::move(work)); }

    Store m_store;
    int m_rank;
    int m_ranks;
    c10::Device m_device;
    std::chrono::milliseconds m_timeout;
    Group m_group;
};

} // namespace

CommunicatorPtr joinNccl(const Rendezvous& rendezvous, c10::Device device)
{
    return std::make_unique<NcclCommunicator>(joinStore(rendezvous), rendezvous.rank, rendezvous.ranks, device, rendezvous.timeout);
}

std::string ncclVersion()
{
    int version = 0;
    if (ncclGetVersion(&version) != ncclSuccess)
        return {};
    return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

} // namespace loadline
