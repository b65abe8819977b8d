// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/device/communicator.hpp"
#include "profiler/device/store.hpp"

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <algorithm>
#include <csignal>

namespace loadline {
namespace {

using Store = c10::intrusive_ptr<c10d::Store>;
using Gloo = c10::intrusive_ptr<c10d::ProcessGroupGloo>;
using Works = std::vector<c10::intrusive_ptr<c10d::Work>>;

class GlooPending final : public Pending {
public:
    GlooPending(Works works, std::function<void()> finish = {}) : m_works(std::move(works)), m_finish(std::move(finish)) {}

    void wait() override
    {
        for (const auto& work : std::exchange(m_works, {}))
            work->wait();
        if (m_finish)
            std::exchange(m_finish, {})();
    }

private:
    Works m_works;
    std::function<void()> m_finish;
};

Gloo makeGroup(const Store& store, int rank, int ranks, bool oneMachine, std::chrono::milliseconds timeout)
{
    const auto options = c10d::ProcessGroupGloo::Options::create(timeout);
    options->devices.push_back(oneMachine ? c10d::ProcessGroupGloo::createDeviceForInterface("lo")
                                          : c10d::ProcessGroupGloo::createDefaultDevice());
    options->threads = 2; // one for a gather, one for a reduction behind it
    return c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, ranks, options);
}

class GlooCommunicator final : public Communicator {
public:
    GlooCommunicator(Store store, int rank, int ranks, bool oneMachine, std::chrono::milliseconds timeout)
        : m_store(std::move(store)), m_rank(rank), m_ranks(ranks), m_oneMachine(oneMachine), m_timeout(timeout)
    {
        m_group = makeGroup(m_store, rank, ranks, m_oneMachine, timeout);
    }

    [[nodiscard]] int rank() const override { return m_rank; }
    [[nodiscard]] int size() const override { return m_ranks; }

    // Gloo's own all-gather and reduce-scatter each take a second full-size array, which would spoil a comparison of memory; as
    // many broadcasts or reductions on views take none and are no slower.
    PendingPtr allGather(const at::Tensor& full, const at::Tensor& shard) override
    {
        const std::int64_t part = shard.numel();
        full.narrow(0, m_rank * part, part).copy_(shard);
        Works works;
        for (int root = 0; root < m_ranks; ++root) {
            std::vector<at::Tensor> view{full.narrow(0, root * part, part)};
            c10d::BroadcastOptions options;
            options.rootRank = root;
            works.push_back(m_group->broadcast(view, options));
        }
        return std::make_unique<GlooPending>(std::move(works));
    }

    PendingPtr reduceScatter(const at::Tensor& shard, const at::Tensor& full) override
    {
        const std::int64_t part = shard.numel();
        Works works;
        for (int root = 0; root < m_ranks; ++root) {
            std::vector<at::Tensor> view{full.narrow(0, root * part, part)};
            c10d::ReduceOptions options;
            options.rootRank = root;
            works.push_back(m_group->reduce(view, options));
        }
        return std::make_unique<GlooPending>(std::move(works), [shard, mine = full.narrow(0, m_rank * part, part)] { shard.copy_(mine); });
    }

    PendingPtr allReduce(const at::Tensor& tensor) override
    {
        std::vector<at::Tensor> tensors{tensor};
        return std::make_unique<GlooPending>(Works{m_group->allreduce(tensors)});
    }

    PendingPtr broadcast(const at::Tensor& tensor, int root) override
    {
        std::vector<at::Tensor> tensors{tensor};
        c10d::BroadcastOptions options;
        options.rootRank = root;
        return std::make_unique<GlooPending>(Works{m_group->broadcast(tensors, options)});
    }

    void barrier() override { m_group->barrier()->wait(); }

    std::unique_ptr<Communicator> subgroup(const std::vector<int>& ranks, const std::string& name) override
    {
        const auto mine = std::find(ranks.begin(), ranks.end(), m_rank);
        TORCH_CHECK(mine != ranks.end(), "rank ", m_rank, " is not in group ", name);
        return std::make_unique<GlooCommunicator>(c10::make_intrusive<c10d::PrefixStore>(name, m_store),
                                                  static_cast<int>(mine - ranks.begin()), static_cast<int>(ranks.size()), m_oneMachine,
                                                  m_timeout);
    }

private:
    Store m_store;
    int m_rank;
    int m_ranks;
    bool m_oneMachine;
    std::chrono::milliseconds m_timeout;
    Gloo m_group;
};

} // namespace

CommunicatorPtr joinGloo(const Rendezvous& rendezvous)
{
    std::signal(SIGPIPE, SIG_IGN); // writing to a rank that has died is an error to be told, not the end of this one
    const bool oneMachine = rendezvous.host == "127.0.0.1" || rendezvous.localRanks == rendezvous.ranks;
    return std::make_unique<GlooCommunicator>(joinStore(rendezvous), rendezvous.rank, rendezvous.ranks, oneMachine, rendezvous.timeout);
}

} // namespace loadline
