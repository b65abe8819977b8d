// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/check_replay.hpp"

#include <algorithm>
#include <optional>

namespace loadline {
namespace {

class Replay {
public:
    Replay(const CostTable& table, const Choice& choice) : m_table(table), m_choice(choice) {}

    [[nodiscard]] Bytes peak() const
    {
        Bytes most = std::max(step(), end());
        for (std::size_t i = 0; i < units(); ++i)
            most = std::max({most, forward(i), backward(i), recompute(i)});
        return most;
    }

private:
    [[nodiscard]] std::size_t units() const { return m_table.units.size(); }
    [[nodiscard]] const OptionCost& of(std::size_t i) const { return m_table.classOptions[m_table.units[i].costClass][m_choice[i]]; }
    [[nodiscard]] const RuntimeRules& rules() const { return m_table.setup.rules; }
    [[nodiscard]] bool root(std::size_t i) const { return m_table.units[i].root; }
    [[nodiscard]] bool holds(std::size_t i) const { return m_table.units[i].parameters > 0 && !root(i); }
    [[nodiscard]] int layer(std::size_t i) const { return m_table.units[i].layer; }

    template <class Term>
    [[nodiscard]] Bytes sum(Term term) const
    {
        Bytes total;
        for (std::size_t j = 0; j < units(); ++j)
            total += term(j);
        return total;
    }

    [[nodiscard]] Bytes base() const
    {
        return m_table.overhead + m_table.constant +
               sum([&](std::size_t j) { return of(j).parameters + of(j).optimizer + of(j).steadyGradients + of(j).keptToEnd; });
    }
    [[nodiscard]] Bytes savedBefore(std::size_t i) const
    {
        return sum([&](std::size_t j) { return j < i ? of(j).saved + of(j).kept : Bytes(); });
    }
    [[nodiscard]] Bytes gradientsAfter(std::size_t i) const
    {
        return sum([&](std::size_t j) {
            if (j <= i)
                return Bytes();
            return of(j).heldGradient + (root(j) ? Bytes() : of(j).gradients - of(j).steadyGradients + of(j).averaged);
        });
    }
    [[nodiscard]] Bytes lent(std::size_t i, bool withGradient) const
    {
        Bytes total;
        for (const std::size_t owner : m_table.units[i].borrows)
            total += of(owner).gathered + (withGradient ? of(owner).fullGradient : Bytes());
        return total;
    }

    // --- neighbours ------------------------------------------------------------------------------------------

    [[nodiscard]] Bytes gatheredAheadForward(std::size_t i) const
    {
        Bytes total;
        int left = rules().gatherAheadForward;
        for (std::size_t j = i + 1; j < units() && left > 0; ++j)
            if (holds(j)) {
                total += of(j).forwardBuffer;
                --left;
            }
        return total;
    }
    [[nodiscard]] Bytes gatheredAheadBackward(std::size_t i) const
    {
        Bytes total;
        int left = rules().gatherAheadBackward;
        for (std::size_t j = i; j-- > 0 && left > 0;)
            if (holds(j)) {
                const bool there = rules().recomputeKeepsGathered && sameRegion(j, i);
                total += there ? Bytes() : of(j).backwardBuffer;
                --left;
            }
        return total;
    }
    [[nodiscard]] Bytes leftFromLastGather(std::size_t i) const
    {
        for (std::size_t j = i; rules().forwardKeepsBuffer && j-- > 0;)
            if (holds(j))
                return of(j).forwardBuffer;
        return {};
    }
    [[nodiscard]] Bytes reducedBehind(std::size_t i) const
    {
        for (std::size_t j = i + 1; rules().reductionOverlapsNext && j < units(); ++j)
            if (holds(j))
                return of(j).reduceBuffer;
        return {};
    }

    // --- events ----------------------------------------------------------------------------------------------

    [[nodiscard]] Bytes forward(std::size_t i) const
    {
        const OptionCost& own = of(i);
        const Bytes ahead = gatheredAheadForward(i);
        const bool sliced = own.strategy.slices > 1;
        Bytes beside = ahead + leftFromLastGather(i);
        if (holds(i))
            beside = sliced ? std::max(Bytes(), ahead - own.forwardBuffer) : ahead;
        const Bytes before = base() + savedBefore(i);
        Bytes most = before + own.saved + own.kept + own.forwardTransient + lent(i, false) + beside;
        if (rules().gatherBuffers > 1 && holds(i)) {
            const Bytes kept = own.strategy.reshardAfterForward ? Bytes() : own.kept;
            most = std::max(most, before + own.gathered + own.forwardBuffer + own.gatherTemporary + kept + own.input +
                                      leftFromLastGather(i) + ahead);
        }
        return most;
    }

    [[nodiscard]] bool sameRegion(std::size_t i, std::size_t j) const
    {
        for (std::size_t k = std::min(i, j); k <= std::max(i, j); ++k)
            if (!of(k).strategy.recompute || layer(k) != layer(i))
                return false;
        return true;
    }
    [[nodiscard]] Bytes broughtBackBefore(std::size_t i) const
    {
        return sum([&](std::size_t j) {
            if (j >= i || !sameRegion(j, i))
                return Bytes();
            return of(j).recomputed + (rules().recomputeKeepsGathered ? of(j).gathered : Bytes());
        });
    }

    [[nodiscard]] Bytes backward(std::size_t i) const
    {
        const OptionCost& own = of(i);
        const Bytes ahead = gatheredAheadBackward(i);
        const Bytes behind = reducedBehind(i);
        Bytes beside = ahead + behind;
        if (holds(i) && own.strategy.slices > 1) {
            // Two slices never hold both buffers between them: the first has the gather, the second the reduction.
            const Bytes between =
                own.strategy.slices == 2 ? std::max(own.backwardBuffer, own.reduceBuffer) : own.backwardBuffer + own.reduceBuffer;
            beside = std::max({Bytes(), own.backwardBuffer + behind - between, ahead + own.reduceBuffer - between});
        }
        const Bytes alive = base() + gradientsAfter(i) + savedBefore(i) + broughtBackBefore(i);
        const Bytes recomputed = own.strategy.recompute ? own.recomputed : Bytes();
        Bytes most = alive + own.saved + own.kept + recomputed + own.backwardTransient + lent(i, true) + beside;
        const Bytes ordered = own.backwardBuffer > Bytes() ? own.gatherTemporary : Bytes();
        if (rules().gatherBuffers > 1 && holds(i))
            most = std::max(most, alive + own.saved + own.kept + recomputed + own.gatheredBackward + own.backwardBuffer + ordered + behind);
        if (own.reduceTransient > Bytes())
            most = std::max(most, alive + own.reduceTransient + ahead);
        return most;
    }

    [[nodiscard]] Bytes recompute(std::size_t i) const
    {
        if (!of(i).strategy.recompute)
            return {};
        std::size_t last = i;
        while (last + 1 < units() && sameRegion(i, last + 1))
            ++last;
        return base() + gradientsAfter(last) + savedBefore(last + 1) + broughtBackBefore(i) + of(i).recomputed + of(i).recomputeTransient +
               lent(i, false) + gatheredAheadBackward(last) + reducedBehind(last);
    }

    [[nodiscard]] Bytes end() const
    {
        const Bytes buffers = sum([&](std::size_t j) { return of(j).finalBuffer; });
        if (buffers == Bytes())
            return {};
        const Bytes shards =
            sum([&](std::size_t j) { return root(j) ? Bytes() : of(j).gradients - of(j).steadyGradients + of(j).averaged; });
        const Bytes fresh =
            sum([&](std::size_t j) { return root(j) ? of(j).gradients - of(j).steadyGradients + of(j).averaged : Bytes(); });
        const Bytes held = sum([&](std::size_t j) { return of(j).heldGradient; });
        const Bytes kept = sum([&](std::size_t j) { return of(j).keptToEnd; });
        if (rules().replicatedIsRootUnit)
            return base() + shards + held + buffers;
        return base() - kept + shards + std::max(held, fresh) + buffers;
    }

    [[nodiscard]] Bytes step() const
    {
        return m_table.overhead + m_table.constant +
               sum([&](std::size_t j) { return of(j).parameters + of(j).optimizer + of(j).gradients + of(j).stepTransient; });
    }

    const CostTable& m_table;
    const Choice& m_choice;
};

} // namespace

Bytes replayedPeak(const CostTable& table, const Choice& choice)
{
    return Replay(table, choice).peak();
}

} // namespace loadline
