// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/train/piece.hpp"

#include "profiler/device/memory_meter.hpp"

#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

namespace loadline {
namespace {

class ArrivalHook final : public torch::autograd::PostAccumulateGradHook {
public:
    explicit ArrivalHook(Piece& piece) : m_piece(piece) {}
    void operator()(const torch::autograd::Variable&) override { m_piece.gradientArrived(); }

private:
    Piece& m_piece;
};

} // namespace

Piece::Piece(std::vector<FlatParameters*> flats, bool keeps, bool skipsBackward)
    : m_flats(std::move(flats)), m_keeps(keeps), m_skipsBackward(skipsBackward)
{
    for (const FlatParameters* flat : m_flats) {
        const bool inPlace = flat->usedInPlace();
        const at::Tensor full = inPlace ? flat->local() : at::empty({flat->padded()}, flat->local().options().dtype(flat->gatheredType()));
        m_fulls.push_back(full);
        m_bytes.push_back(static_cast<std::int64_t>(full.nbytes()));
        m_gathers = m_gathers || !inPlace;
        for (const at::Tensor& view : flat->views(full)) {
            at::Tensor leaf = at::empty({0}, full.options());
            leaf.set_data(view); // keeps a version counter of its own, which writing to the buffer does not touch
            leaf.set_requires_grad(flat->trainable());
            if (flat->trainable()) {
                ++m_trainableLeaves;
                torch::autograd::impl::set_post_acc_grad_hooks(leaf, std::make_unique<ArrivalHook>(*this));
            }
            m_leaves.push_back(std::move(leaf));
        }
        if (!inPlace)
            freeStorage(full);
    }
}

const FlatEntry& Piece::entryOf(std::size_t leaf) const
{
    for (const FlatParameters* flat : m_flats) {
        if (leaf < flat->entries().size())
            return flat->entries()[leaf];
        leaf -= flat->entries().size();
    }
    TORCH_CHECK(false, "no such leaf");
}

void Piece::startGather(Traffic& traffic)
{
    if (!m_gathers || m_present)
        return;
    m_present = true;
    const CategoryScope category(MemoryCategory::Gathered);
    for (std::size_t i = 0; i < m_flats.size(); ++i) {
        if (m_flats[i]->usedInPlace())
            continue;
        takeStorage(m_fulls[i], m_bytes[i]);
        if (auto pending = m_flats[i]->gather(m_fulls[i], traffic))
            m_pending.push_back(std::move(pending));
    }
}

void Piece::finishGather()
{
    for (const PendingPtr& pending : m_pending)
        pending->wait();
    m_pending.clear();
}

void Piece::release(bool backward)
{
    if (!m_present || (!backward && m_keeps))
        return;
    finishGather();
    m_present = false;
    for (std::size_t i = 0; i < m_flats.size(); ++i) {
        if (!m_flats[i]->usedInPlace())
            freeStorage(m_fulls[i]);
    }
}

void Piece::gradientArrived()
{
    if (++m_arrived < m_trainableLeaves)
        return;
    m_arrived = 0;
    if (m_onGradients)
        m_onGradients(*this);
}

} // namespace loadline
