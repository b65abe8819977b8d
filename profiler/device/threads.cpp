// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/device/communicator.hpp"

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

namespace loadline {
namespace {

/// What the threads of one run share: groups by name, and whether one of them has failed.
class Hall {
public:
    /// Blocks until all `members` have called with the same key, runs `act` once with what they brought, in order of their ranks.
    void meet(const std::string& key, int rank, int members, const at::Tensor& one, const at::Tensor& two,
              const std::function<void(std::vector<at::Tensor>&, std::vector<at::Tensor>&)>& act)
    {
        std::unique_lock lock(m_mutex);
        Meeting& meeting = m_meetings[key];
        meeting.ones.resize(static_cast<std::size_t>(members));
        meeting.twos.resize(static_cast<std::size_t>(members));
        meeting.ones[static_cast<std::size_t>(rank)] = one;
        meeting.twos[static_cast<std::size_t>(rank)] = two;
        if (++meeting.arrived == members) {
            act(meeting.ones, meeting.twos);
            // Nobody's tensors are held beyond their owner's return.
            meeting.ones.clear();
            meeting.twos.clear();
            meeting.done = true;
            m_wake.notify_all();
        }
        m_wake.wait(lock, [&] { return meeting.done || m_failed; });
        TORCH_CHECK(meeting.done, "another rank has failed");
        if (++meeting.left == members)
            m_meetings.erase(key);
    }

    void fail()
    {
        const std::lock_guard lock(m_mutex);
        m_failed = true;
        m_wake.notify_all();
    }

private:
    struct Meeting {
        std::vector<at::Tensor> ones;
        std::vector<at::Tensor> twos;
        int arrived = 0;
        int left = 0;
        bool done = false;
    };
    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::map<std::string, Meeting> m_meetings;
    bool m_failed = false;
};

class DonePending final : public Pending {
public:
    void wait() override {}
};

class ThreadCommunicator final : public Communicator {
public:
    ThreadCommunicator(Hall& hall, std::string name, int rank, int ranks)
        : m_hall(hall), m_name(std::move(name)), m_rank(rank), m_ranks(ranks)
    {
    }

    [[nodiscard]] int rank() const override { return m_rank; }
    [[nodiscard]] int size() const override { return m_ranks; }

    PendingPtr allGather(const at::Tensor& full, const at::Tensor& shard) override
    {
        return meet(full, shard, [](std::vector<at::Tensor>& fulls, std::vector<at::Tensor>& shards) {
            const std::int64_t part = shards.front().numel();
            for (const at::Tensor& into : fulls) {
                for (std::size_t rank = 0; rank < shards.size(); ++rank)
                    into.narrow(0, static_cast<std::int64_t>(rank) * part, part).copy_(shards[rank]);
            }
        });
    }

    PendingPtr reduceScatter(const at::Tensor& shard, const at::Tensor& full) override
    {
        return meet(full, shard, [](std::vector<at::Tensor>& fulls, std::vector<at::Tensor>& shards) {
            const std::int64_t part = shards.front().numel();
            for (std::size_t rank = 0; rank < shards.size(); ++rank) {
                shards[rank].zero_();
                for (const at::Tensor& from : fulls)
                    shards[rank].add_(from.narrow(0, static_cast<std::int64_t>(rank) * part, part));
            }
        });
    }

    PendingPtr allReduce(const at::Tensor& tensor) override
    {
        return meet(tensor, tensor, [](std::vector<at::Tensor>& tensors, std::vector<at::Tensor>&) {
            for (std::size_t rank = 1; rank < tensors.size(); ++rank)
                tensors.front().add_(tensors[rank]);
            for (std::size_t rank = 1; rank < tensors.size(); ++rank)
                tensors[rank].copy_(tensors.front());
        });
    }

    PendingPtr broadcast(const at::Tensor& tensor, int root) override
    {
        return meet(tensor, tensor, [root](std::vector<at::Tensor>& tensors, std::vector<at::Tensor>&) {
            for (std::size_t rank = 0; rank < tensors.size(); ++rank) {
                if (static_cast<int>(rank) != root)
                    tensors[rank].copy_(tensors[static_cast<std::size_t>(root)]);
            }
        });
    }

    void barrier() override
    {
        meet({}, {}, [](std::vector<at::Tensor>&, std::vector<at::Tensor>&) {});
    }

    std::unique_ptr<Communicator> subgroup(const std::vector<int>& ranks, const std::string& name) override
    {
        const auto mine = std::find(ranks.begin(), ranks.end(), m_rank);
        TORCH_CHECK(mine != ranks.end(), "rank ", m_rank, " is not in group ", name);
        return std::make_unique<ThreadCommunicator>(m_hall, m_name + "/" + name + std::to_string(ranks.front()),
                                                    static_cast<int>(mine - ranks.begin()), static_cast<int>(ranks.size()));
    }

private:
    PendingPtr meet(const at::Tensor& one, const at::Tensor& two,
                    const std::function<void(std::vector<at::Tensor>&, std::vector<at::Tensor>&)>& act)
    {
        m_hall.meet(m_name + "#" + std::to_string(m_calls++), m_rank, m_ranks, one, two, act);
        return std::make_unique<DonePending>();
    }

    Hall& m_hall;
    std::string m_name;
    int m_rank;
    int m_ranks;
    std::uint64_t m_calls = 0;
};

} // namespace

void runThreads(int ranks, const std::function<void(Communicator&)>& body)
{
    Hall hall;
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(ranks));
    {
        std::vector<std::jthread> threads;
        for (int rank = 0; rank < ranks; ++rank) {
            threads.emplace_back([&, rank] {
                try {
                    ThreadCommunicator communicator(hall, "all", rank, ranks);
                    body(communicator);
                } catch (...) {
                    failures[static_cast<std::size_t>(rank)] = std::current_exception();
                    hall.fail();
                }
            });
        }
    }
    for (const auto& failure : failures) {
        if (failure)
            std::rethrow_exception(failure);
    }
}

} // namespace loadline
