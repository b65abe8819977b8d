// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace at {
class Tensor;
}

namespace loadline {

/// A collective under way. Destroying it without waiting is allowed only when the group is dead.
class Pending {
public:
    virtual ~Pending() = default;
    /// Returns when this rank's part is done and its results are in place. Throws std::exception when a peer died or the
    /// time ran out; the group is dead from then on. A second call does nothing. On a GPU it is what this thread queues next that waits,
    /// not the thread.
    virtual void wait() = 0;
};
using PendingPtr = std::unique_ptr<Pending>;

/// One rank's end of a group of ranks. Tensors are contiguous, one-dimensional, of one type; every member calls the same operations in
/// the same order. Operations take no memory of the size of their tensors. Not thread-safe: one thread a rank.
/// All may throw std::exception as `Pending::wait` does.
class Communicator {
public:
    virtual ~Communicator() = default;

    [[nodiscard]] virtual int rank() const = 0;
    [[nodiscard]] virtual int size() const = 0;

    /// full[i * n, (i + 1) * n) = shard of rank i, n = elements of `shard`.
    virtual PendingPtr allGather(const at::Tensor& full, const at::Tensor& shard) = 0;
    /// shard = sum over ranks of full[rank * n, (rank + 1) * n); `full` is spoilt.
    virtual PendingPtr reduceScatter(const at::Tensor& shard, const at::Tensor& full) = 0;
    /// tensor = sum over ranks.
    virtual PendingPtr allReduce(const at::Tensor& tensor) = 0;
    virtual PendingPtr broadcast(const at::Tensor& tensor, int root) = 0;
    virtual void barrier() = 0;

    /// The group of these ranks (of this group, ascending), of which this rank is one. All of its members call it with the same `name`,
    /// which is used once.
    virtual std::unique_ptr<Communicator> subgroup(const std::vector<int>& ranks, const std::string& name) = 0;
};
using CommunicatorPtr = std::unique_ptr<Communicator>;

/// Where rank 0 listens.
struct Rendezvous {
    std::string host = "127.0.0.1";
    int port = 0;
    int listenFd = -1; ///< rank 0: a socket that listens already, inherited, so that no other process can take the port; -1: none
    int rank = 0;
    int ranks = 1;
    std::chrono::milliseconds timeout{60000};
    int localRank = 0;           ///< among the ranks of this machine
    int localRanks = 0;          ///< of this machine; 0: all
    bool storeElsewhere = false; ///< somebody else (torchrun) listens at the port; rank 0 does not
};

/// Processes over Gloo. Uses the loopback interface if the host is 127.0.0.1 or all ranks are on this machine, else what
/// GLOO_SOCKET_IFNAME or the host's name say. Throws std::exception if the others do not come in time.
CommunicatorPtr joinGloo(const Rendezvous& rendezvous);

/// Threads of this process, for tests: runs `body` once a rank and returns when all are done. Sums are taken in the order of ranks.
/// What a body throws ends the others' waiting and is thrown again.
void runThreads(int ranks, const std::function<void(Communicator&)>& body);

} // namespace loadline
