// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/train/flat_parameters.hpp"

#include "core/base/units.hpp"
#include "profiler/device/memory_meter.hpp"
#include "profiler/model/network.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <numeric>

namespace loadline {

at::ScalarType gatheredTypeOf(const PrecisionRecipe& precision)
{
    return precision.gathered >= 4 ? at::kFloat : precision.compute == ComputeMode::Fp16 ? at::kHalf : at::kBFloat16;
}

void freeStorage(const at::Tensor& tensor)
{
    c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
    storage->set_data_ptr_noswap(c10::DataPtr(nullptr, tensor.device()));
    storage->set_nbytes(0);
}

void takeStorage(const at::Tensor& tensor, std::int64_t bytes)
{
    c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
    storage->set_data_ptr_noswap(storage->allocator()->allocate(static_cast<std::size_t>(bytes)));
    storage->set_nbytes(static_cast<std::size_t>(bytes));
}

std::int64_t FlatEntry::count() const
{
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

at::Tensor FlatEntry::cut(const at::Tensor& whole) const
{
    if (firstColumn < 0)
        return whole;
    return inByOut ? whole.narrow(0, firstColumn, shape[0]) : whole.narrow(1, firstColumn, shape[1]);
}

FlatParameters::FlatParameters(std::vector<FlatEntry> entries, bool trainable, const GroupPair& groups, const PrecisionRecipe& precision,
                               std::size_t unit, c10::Device place)
    : m_entries(std::move(entries)), m_trainable(trainable), m_unit(unit), m_groups(groups), m_gatheredType(gatheredTypeOf(precision)),
      m_reducedType(precision.reduced >= 4 ? at::kFloat : at::kBFloat16)
{
    std::int64_t all = 0;
    for (FlatEntry& entry : m_entries) {
        entry.offset = all;
        all += entry.count();
    }
    m_padded = ceilDiv(all, groups.group) * groups.group;
    const CategoryScope category(MemoryCategory::Parameters);
    m_local = at::zeros({m_padded / groups.group}, at::TensorOptions(place).dtype(at::kFloat));
}

void FlatParameters::initialise(std::uint64_t seed)
{
    for (const FlatEntry& entry : m_entries)
        scatterOne(m_local, *entry.parameter, initialValue(*entry.parameter, seed));
}

void FlatParameters::scatterOne(const at::Tensor& into, const Parameter& parameter, const at::Tensor& whole) const
{
    const at::NoGradGuard noGrad;
    const std::int64_t rank = m_groups.shards ? m_groups.shards->rank() : 0;
    const std::int64_t from = rank * into.numel();
    for (const FlatEntry& entry : m_entries) {
        const std::int64_t first = std::max(entry.offset, from);
        const std::int64_t last = std::min(entry.offset + entry.count(), from + into.numel());
        if (entry.parameter == &parameter && first < last)
            into.narrow(0, first - from, last - first).copy_(entry.cut(whole).reshape({-1}).narrow(0, first - entry.offset, last - first));
    }
}

void FlatParameters::gatherWhole(const at::Tensor& from, std::vector<at::Tensor>& wholes) const
{
    const at::NoGradGuard noGrad;
    at::Tensor full = from;
    if (sharded()) {
        full = at::empty({m_padded}, from.options());
        m_groups.shards->allGather(full, from)->wait();
    }
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        const FlatEntry& entry = m_entries[i];
        entry.cut(wholes[i]).copy_(full.narrow(0, entry.offset, entry.count()).view(entry.shape));
    }
}

PendingPtr FlatParameters::gather(const at::Tensor& full, Traffic& traffic) const
{
    const at::NoGradGuard noGrad;
    if (!sharded()) {
        full.copy_(m_local);
        return nullptr;
    }
    traffic.allGather += Bytes(static_cast<std::int64_t>(full.nbytes()));
    const std::int64_t part = m_local.numel();
    const at::Tensor mine = full.narrow(0, m_groups.shards->rank() * part, part);
    mine.copy_(m_local); // to the type that is sent
    return m_groups.shards->allGather(full, mine);
}

std::vector<at::Tensor> FlatParameters::views(const at::Tensor& full) const
{
    std::vector<at::Tensor> views;
    for (const FlatEntry& entry : m_entries)
        views.push_back(full.narrow(0, entry.offset, entry.count()).view(entry.shape));
    return views;
}

} // namespace loadline
