// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "profiler/train/observer.hpp"
#include "profiler/train/piece.hpp"

#include <deque>
#include <map>

namespace loadline {

/// Turns the gradients of pieces into those of what this rank stores. Shards take up each micro-step's gradient by a reduce-scatter that
/// runs while the next piece's backward does; shards of several copies are averaged once, after the last micro-step. Replicated gradients
/// are parts of one buffer, added to in place, and all-reduced in buckets while backward of the last micro-step runs.
/// Gradients are sums over ranks, kept in fp32 whatever type is sent: the optimizer divides.
class Reducer {
public:
    /// `flats` in the order of forward. `world` may be null for one rank.
    Reducer(const std::vector<FlatParameters*>& flats, Communicator* world, Observer& observer, bool accumulates, std::int64_t bucketBytes);

    /// Gives the leaves of replicated parameters their parts of the buffer, where autograd can add to it directly.
    void preset(Piece& piece);

    void beginMicroStep(bool last);
    /// All gradients of one use are there; its gathered copy is free already.
    void take(Piece& piece, Traffic& traffic);
    /// After backward: nothing is under way any more.
    void finish(Traffic& traffic);
    /// After the optimizer: shards are dropped (or kept and zeroed over micro-steps), the buffer is zeroed.
    void clear();

private:
    struct Reduction {
        at::Tensor full;  ///< alive until it is done
        at::Tensor shard; ///< what comes out
        FlatParameters* flat = nullptr;
        PendingPtr pending;
    };
    /// An all-reduce in the type that the recipe sends.
    struct Average {
        at::Tensor target;
        at::Tensor sent;  ///< `target` itself where the types are one
        std::size_t unit; ///< the last one whose gradients are in it
        PendingPtr pending;
    };
    void startAverage(Communicator& group, const at::Tensor& target, const FlatParameters& last, Traffic& traffic);
    void waitFor(Pending& pending, std::size_t unit);
    void reduceFlat(Piece& piece, std::size_t firstLeaf, FlatParameters& flat, Traffic& traffic);
    void addReplicated(Piece& piece, std::size_t firstLeaf, FlatParameters& flat, Traffic& traffic);
    void settle(std::size_t keep, Traffic& traffic);
    void average(FlatParameters& flat, Traffic& traffic);
    void flushBuckets(bool all, Traffic& traffic);
    [[nodiscard]] at::Tensor partOf(const FlatParameters& flat) const;

    struct Replicated {
        FlatParameters* flat;
        std::int64_t offset;
        int missing = 0; ///< uses whose gradient has not come in this micro-step
    };
    std::vector<Replicated> m_replicated; ///< in the order of backward
    std::map<const FlatParameters*, std::size_t> m_replicatedIndex;
    std::map<const FlatParameters*, int> m_uses;
    std::map<const FlatParameters*, int> m_missing; ///< of shards: uses to come in the last micro-step
    std::vector<FlatParameters*> m_sharded;
    at::Tensor m_buffer;
    std::size_t m_flushed = 0; ///< replicated flats that are all-reduced
    std::deque<Reduction> m_running;
    std::vector<Average> m_averages;
    Communicator* m_world;
    Observer& m_observer;
    bool m_accumulates;
    std::int64_t m_bucketBytes;
    bool m_last = false;
};

} // namespace loadline
