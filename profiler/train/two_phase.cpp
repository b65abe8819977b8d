// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/train/two_phase.hpp"

#include "profiler/device/memory_meter.hpp"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <deque>

namespace loadline {
namespace {

using Started = std::vector<PendingPtr>;
using Stage = std::function<Started()>;

/// Stages one after another; the first has begun.
class Stages final : public Pending {
public:
    Stages(Started first, std::vector<Stage> next) : m_running(std::move(first)), m_next(next.begin(), next.end()) {}

    void wait() override
    {
        finish();
        while (!m_next.empty()) {
            const Stage stage = std::move(m_next.front());
            m_next.pop_front();
            m_running = stage();
            finish();
        }
    }

private:
    void finish()
    {
        for (const PendingPtr& each : m_running)
            each->wait();
        m_running.clear();
    }

    Started m_running;
    std::deque<Stage> m_next;
};

class TwoPhase final : public Communicator {
public:
    TwoPhase(CommunicatorPtr flat, int perNode) : m_flat(std::move(flat)), m_perNode(perNode), m_nodes(m_flat->size() / perNode)
    {
        const int node = m_flat->rank() / perNode;
        m_place = m_flat->rank() % perNode;
        std::vector<int> ranks;
        for (int i = 0; i < perNode; ++i)
            ranks.push_back(node * perNode + i);
        m_inside = m_flat->subgroup(ranks, "inside" + std::to_string(node));
        ranks.clear();
        for (int i = 0; i < m_nodes; ++i)
            ranks.push_back(i * perNode + m_place);
        m_across = m_flat->subgroup(ranks, "across" + std::to_string(m_place));
    }

    [[nodiscard]] int rank() const override { return m_flat->rank(); }
    [[nodiscard]] int size() const override { return m_flat->size(); }

    /// First everybody's own part from the other nodes, then each node completes the parts that its ranks have.
    PendingPtr allGather(const at::Tensor& full, const at::Tensor& shard) override
    {
        const std::int64_t part = shard.numel();
        full.narrow(0, rank() * part, part).copy_(shard);
        Started across;
        for (int node = 0; node < m_nodes; ++node)
            across.push_back(m_across->broadcast(partOf(full, node, part), node));
        const Stage inside = [this, full, part] {
            Started started;
            for (int node = 0; node < m_nodes; ++node)
                started.push_back(m_inside->allGather(nodeOf(full, node, part), partOf(full, node, part)));
            return started;
        };
        return std::make_unique<Stages>(std::move(across), std::vector<Stage>{inside});
    }

    /// First sums inside each node, then across.
    PendingPtr reduceScatter(const at::Tensor& shard, const at::Tensor& full) override
    {
        const std::int64_t part = shard.numel();
        const at::Tensor sums = temporary(m_nodes * part, full);
        Started inside;
        for (int node = 0; node < m_nodes; ++node)
            inside.push_back(m_inside->reduceScatter(sums.narrow(0, node * part, part), nodeOf(full, node, part)));
        const Stage across = [this, shard, sums] {
            Started started;
            started.push_back(m_across->reduceScatter(shard, sums));
            return started;
        };
        return std::make_unique<Stages>(std::move(inside), std::vector<Stage>{across});
    }

    /// What does not divide by the ranks of a node is summed whole, inside and then across.
    PendingPtr allReduce(const at::Tensor& tensor) override
    {
        const std::int64_t part = tensor.numel() / m_perNode;
        const at::Tensor main = tensor.narrow(0, 0, part * m_perNode);
        const at::Tensor rest = tensor.narrow(0, part * m_perNode, tensor.numel() - part * m_perNode);
        const at::Tensor sums = temporary(part, tensor);
        const auto both = [](Communicator& group, const at::Tensor& one, const at::Tensor& two) {
            Started started;
            for (const at::Tensor& each : {one, two}) {
                if (each.numel() > 0)
                    started.push_back(group.allReduce(each));
            }
            return started;
        };
        Started inside = both(*m_inside, rest, rest.narrow(0, 0, 0));
        if (part > 0)
            inside.push_back(m_inside->reduceScatter(sums, main));
        const Stage across = [this, both, sums, rest] { return both(*m_across, sums, rest); };
        const Stage back = [this, main, sums] {
            Started started;
            if (sums.numel() > 0)
                started.push_back(m_inside->allGather(main, sums));
            return started;
        };
        return std::make_unique<Stages>(std::move(inside), std::vector<Stage>{across, back});
    }

    PendingPtr broadcast(const at::Tensor& tensor, int root) override { return m_flat->broadcast(tensor, root); }
    void barrier() override { m_flat->barrier(); }
    CommunicatorPtr subgroup(const std::vector<int>& ranks, const std::string& name) override { return m_flat->subgroup(ranks, name); }

private:
    [[nodiscard]] at::Tensor nodeOf(const at::Tensor& full, int node, std::int64_t part) const
    {
        const std::int64_t ofNode = m_perNode * part;
        return full.narrow(0, node * ofNode, ofNode);
    }
    /// Of the rank that stands in `node` where this one stands in its own.
    [[nodiscard]] at::Tensor partOf(const at::Tensor& full, int node, std::int64_t part) const
    {
        return nodeOf(full, node, part).narrow(0, m_place * part, part);
    }
    static at::Tensor temporary(std::int64_t count, const at::Tensor& like)
    {
        const CategoryScope category(MemoryCategory::Gradients);
        return at::empty({count}, like.options());
    }

    CommunicatorPtr m_flat;
    CommunicatorPtr m_inside; ///< of one node
    CommunicatorPtr m_across; ///< one rank of each node
    int m_perNode;
    int m_nodes;
    int m_place = 0; ///< in the node
};

} // namespace

CommunicatorPtr twoPhase(CommunicatorPtr flat, int perNode)
{
    if (perNode <= 1 || perNode >= flat->size() || flat->size() % perNode != 0)
        return flat;
    return std::make_unique<TwoPhase>(std::move(flat), perNode);
}

} // namespace loadline
