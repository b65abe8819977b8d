// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/train/reducer.hpp"

#include "profiler/device/memory_meter.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace loadline {
namespace {

Bytes bytesOf(const at::Tensor& tensor)
{
    return Bytes(static_cast<std::int64_t>(tensor.nbytes()));
}

} // namespace

Reducer::Reducer(const std::vector<FlatParameters*>& flats, Communicator* world, Observer& observer, bool accumulates,
                 std::int64_t bucketBytes)
    : m_world(world), m_observer(observer), m_accumulates(accumulates), m_bucketBytes(bucketBytes)
{
    std::int64_t all = 0;
    for (auto flat = flats.rbegin(); flat != flats.rend(); ++flat) {
        if (!(*flat)->trainable())
            continue;
        if ((*flat)->sharded()) {
            m_sharded.push_back(*flat);
            continue;
        }
        m_replicatedIndex[*flat] = m_replicated.size();
        m_replicated.push_back({*flat, all});
        all += (*flat)->localCount();
    }
    const CategoryScope category(MemoryCategory::Gradients);
    m_buffer = at::zeros({all}, flats.front()->local().options());
    for (const Replicated& each : m_replicated)
        each.flat->gradient() = partOf(*each.flat);
    for (FlatParameters* flat : m_sharded) {
        if (m_accumulates)
            flat->gradient() = at::zeros({flat->localCount()}, flat->local().options());
    }
}

at::Tensor Reducer::partOf(const FlatParameters& flat) const
{
    return m_buffer.narrow(0, m_replicated[m_replicatedIndex.at(&flat)].offset, flat.localCount());
}

void Reducer::preset(Piece& piece)
{
    std::size_t leaf = 0;
    for (FlatParameters* flat : piece.flats()) {
        if (flat->trainable())
            ++m_uses[flat];
        const bool inPlace = flat->trainable() && flat->usedInPlace();
        const auto views = inPlace ? flat->views(partOf(*flat)) : std::vector<at::Tensor>();
        for (std::size_t i = 0; i < flat->entries().size(); ++i, ++leaf) {
            if (inPlace)
                piece.leaves()[leaf].mutable_grad() = views[i];
        }
    }
}

void Reducer::beginMicroStep(bool last)
{
    m_last = last;
    m_flushed = 0;
    for (Replicated& each : m_replicated)
        each.missing = m_uses[each.flat];
    for (const FlatParameters* flat : m_sharded)
        m_missing[flat] = m_uses[flat];
}

void Reducer::take(Piece& piece, Traffic& traffic)
{
    const at::NoGradGuard noGrad;
    std::size_t leaf = 0;
    for (FlatParameters* flat : piece.flats()) {
        if (flat->trainable()) {
            if (flat->sharded())
                reduceFlat(piece, leaf, *flat, traffic);
            else
                addReplicated(piece, leaf, *flat, traffic);
        }
        leaf += flat->entries().size();
    }
}

void Reducer::reduceFlat(Piece& piece, std::size_t firstLeaf, FlatParameters& flat, Traffic& traffic)
{
    settle(0, traffic); // the one before has had this piece's backward to run in
    const CategoryScope category(MemoryCategory::Gradients);
    const auto& entries = flat.entries();
    Reduction reduction;
    reduction.flat = &flat;
    at::Tensor& only = piece.leaves()[firstLeaf].mutable_grad();
    if (entries.size() == 1 && flat.padded() == entries.front().count() && only.scalar_type() == flat.reducedType() &&
        only.is_contiguous()) {
        reduction.full = only.view({-1}); // as it lies: no copy
        only = at::Tensor();
    } else {
        reduction.full = at::empty({flat.padded()}, flat.local().options().dtype(flat.reducedType()));
        const std::int64_t used = entries.back().offset + entries.back().count();
        reduction.full.narrow(0, used, flat.padded() - used).zero_();
        for (std::size_t i = 0; i < entries.size(); ++i) {
            at::Tensor& gradient = piece.leaves()[firstLeaf + i].mutable_grad();
            reduction.full.narrow(0, entries[i].offset, entries[i].count()).copy_(gradient.reshape({-1}));
            gradient = at::Tensor();
        }
    }
    traffic.reduceScatter += bytesOf(reduction.full);
    reduction.shard = at::empty({flat.localCount()}, flat.local().options().dtype(flat.reducedType()));
    reduction.pending = flat.groups().shards->reduceScatter(reduction.shard, reduction.full);
    m_running.push_back(std::move(reduction));
}

void Reducer::settle(std::size_t keep, Traffic& traffic)
{
    while (m_running.size() > keep) {
        Reduction done = std::move(m_running.front());
        m_running.pop_front();
        waitFor(*done.pending, done.flat->unit());
        done.full = at::Tensor();
        at::Tensor& gradient = done.flat->gradient();
        if (gradient.defined())
            gradient.add_(done.shard);
        else
            gradient = done.shard.to(at::kFloat);
        if (m_last && --m_missing[done.flat] == 0)
            average(*done.flat, traffic);
    }
}

void Reducer::startAverage(Communicator& group, const at::Tensor& target, const FlatParameters& last, Traffic& traffic)
{
    const CategoryScope category(MemoryCategory::Gradients);
    Average average{target, target.to(last.reducedType()), last.unit(), nullptr};
    traffic.allReduce += bytesOf(average.sent);
    average.pending = group.allReduce(average.sent);
    m_averages.push_back(std::move(average));
}

void Reducer::waitFor(Pending& pending, std::size_t unit)
{
    m_observer.beginWait(WaitKind::Reduce, unit);
    pending.wait();
    m_observer.endWait();
}

void Reducer::average(FlatParameters& flat, Traffic& traffic)
{
    if (flat.groups().replicas)
        startAverage(*flat.groups().replicas, flat.gradient(), flat, traffic);
}

void Reducer::addReplicated(Piece& piece, std::size_t firstLeaf, FlatParameters& flat, Traffic& traffic)
{
    if (!flat.usedInPlace()) {
        const auto parts = flat.views(partOf(flat));
        for (std::size_t i = 0; i < parts.size(); ++i) {
            at::Tensor& gradient = piece.leaves()[firstLeaf + i].mutable_grad();
            parts[i].add_(gradient);
            gradient = at::Tensor();
        }
    }
    --m_replicated[m_replicatedIndex.at(&flat)].missing;
    if (m_last)
        flushBuckets(false, traffic);
}

void Reducer::flushBuckets(bool all, Traffic& traffic)
{
    if (m_world == nullptr || m_world->size() == 1)
        return;
    std::size_t end = m_flushed;
    while (end < m_replicated.size() && m_replicated[end].missing <= 0)
        ++end;
    if (end == m_flushed)
        return;
    const std::int64_t from = m_replicated[m_flushed].offset;
    const std::int64_t to = m_replicated[end - 1].offset + m_replicated[end - 1].flat->localCount();
    const at::Tensor bucket = m_buffer.narrow(0, from, to - from);
    if (!all && static_cast<std::int64_t>(bucket.nbytes()) < m_bucketBytes)
        return;
    m_flushed = end;
    startAverage(*m_world, bucket, *m_replicated[end - 1].flat, traffic);
}

void Reducer::finish(Traffic& traffic)
{
    const at::NoGradGuard noGrad;
    settle(0, traffic);
    if (m_last) {
        flushBuckets(true, traffic);
        for (const Average& average : m_averages) {
            waitFor(*average.pending, average.unit);
            if (!average.sent.is_same(average.target))
                average.target.copy_(average.sent);
        }
        m_averages.clear();
    }
}

void Reducer::clear()
{
    const at::NoGradGuard noGrad;
    m_buffer.zero_();
    for (FlatParameters* flat : m_sharded) {
        if (m_accumulates)
            flat->gradient().zero_();
        else
            flat->gradient() = at::Tensor();
    }
}

} // namespace loadline
