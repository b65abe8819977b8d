// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/timeline.hpp"

#include <algorithm>
#include <cstddef>

/// The timeline's rules, once, for the search (a plain sum) and the chart (a breakdown). The formula of every event stands
/// in timeline.hpp.
namespace loadline::timeline_player {

template <class Sum>
class Player {
public:
    Player(const CostTable& table, const Choice& choice) : m_table(table), m_choice(choice), m_count(table.units.size()) {}

    /// Calls `visit(phase, unit, sum)` for every event in order of execution.
    template <class Visit>
    void play(Visit&& visit)
    {
        if (m_count == 0)
            return;
        addBase();
        playForward(visit);
        playBackward(visit);
        playEnd(visit);
        playStep(visit);
    }

private:
    using Category = MemoryCategory;

    [[nodiscard]] const RuntimeRules& rules() const { return m_table.setup.rules; }
    [[nodiscard]] const OptionCost& option(std::size_t unit) const
    {
        return m_table.classOptions[m_table.units[unit].costClass][m_choice[unit]];
    }
    /// A unit whose gather and reduction its neighbours feel.
    [[nodiscard]] bool holds(std::size_t unit) const { return m_table.units[unit].parameters > 0 && !m_table.units[unit].root; }

    static void consider(Sum& best, const Sum& other)
    {
        if (other.total() > best.total())
            best = other;
    }

    void addBase()
    {
        m_base.add(Category::Overhead, m_table.overhead + m_table.constant);
        for (std::size_t i = 0; i < m_count; ++i) {
            const OptionCost& cost = option(i);
            m_base.add(Category::Parameters, cost.parameters);
            m_base.add(Category::Optimizer, cost.optimizer);
            m_base.add(Category::Gradients, cost.steadyGradients);
            m_base.add(Category::Gathered, cost.keptToEnd);
        }
    }

    static void addSaved(Sum& sum, const OptionCost& cost)
    {
        sum.add(Category::Activations, cost.saved);
        sum.add(Category::Gathered, cost.kept);
    }
    static void removeSaved(Sum& sum, const OptionCost& cost)
    {
        sum.remove(Category::Activations, cost.saved);
        sum.remove(Category::Gathered, cost.kept);
    }

    /// A transient by category: gathered copies and buffers, full gradients, and the rest as activations.
    static void addTransient(Sum& sum, Bytes transient, Bytes gathered, Bytes gradient)
    {
        sum.add(Category::Gathered, gathered);
        sum.add(Category::Gradients, gradient);
        sum.add(Category::Activations, transient - gathered - gradient);
    }

    void addBorrowed(Sum& sum, std::size_t unit, bool backward) const
    {
        for (const std::size_t owner : m_table.units[unit].borrows) {
            sum.add(Category::Gathered, option(owner).gathered);
            if (backward)
                sum.add(Category::Gradients, option(owner).fullGradient);
        }
    }

    // --- forward ---------------------------------------------------------------------------------------------

    /// forwardBuffer of the next units that hold parameters, from `next` on, as many as are gathered ahead.
    [[nodiscard]] Bytes aheadForward(std::size_t next) const
    {
        Bytes sum;
        int found = 0;
        for (; next < m_count && found < rules().gatherAheadForward; ++next) {
            if (!holds(next))
                continue;
            sum += option(next).forwardBuffer;
            ++found;
        }
        return sum;
    }

    template <class Visit>
    void playForward(Visit& visit)
    {
        Sum before = m_base;
        std::size_t next = 0;
        Bytes leftOver; // the last gather's buffer, with forwardKeepsBuffer
        for (std::size_t i = 0; i < m_count; ++i) {
            const OptionCost& cost = option(i);
            const bool holder = holds(i);
            while (next < m_count && (next <= i || !holds(next)))
                ++next;
            const Bytes ahead = aheadForward(next);

            Sum run = before;
            addSaved(run, cost);
            const Bytes inBuffers = rules().forwardKeepsBuffer && holder ? cost.forwardBuffer : Bytes();
            addTransient(run, cost.forwardTransient, std::min(cost.forwardTransient, cost.gathered + inBuffers + cost.innerForward()),
                         Bytes());
            addBorrowed(run, i, false);
            run.add(Category::Gathered, holder ? std::max(Bytes(), ahead - cost.innerForward()) : ahead + leftOver);
            if (rules().gatherBuffers > 1 && holder) {
                Sum start = before;
                start.add(Category::Gathered, cost.gathered + cost.forwardBuffer + cost.gatherTemporary + leftOver + ahead);
                start.add(Category::Activations, cost.input);
                if (!cost.strategy.reshardAfterForward)
                    start.add(Category::Gathered, cost.kept);
                consider(run, start);
            }
            if (rules().forwardKeepsBuffer && holder)
                leftOver = cost.forwardBuffer;
            visit(Phase::Forward, i, run);
            addSaved(before, cost);
        }
        m_now = before;
    }

    // --- backward --------------------------------------------------------------------------------------------

    /// In one recomputed region, all of which is gathered before its backward begins.
    [[nodiscard]] bool gatheredTogether(std::size_t i, std::size_t below) const
    {
        if (!rules().recomputeKeepsGathered)
            return false;
        for (std::size_t j = below; j <= i; ++j)
            if (!option(j).strategy.recompute || m_table.units[j].layer != m_table.units[i].layer)
                return false;
        return true;
    }

    /// backwardBuffer of the next units below `i` that hold parameters and are not gathered yet; `below` is the first of them + 1.
    [[nodiscard]] Bytes aheadBackward(std::size_t i, std::size_t below) const
    {
        Bytes sum;
        int found = 0;
        for (; below > 0 && found < rules().gatherAheadBackward; --below) {
            if (!holds(below - 1))
                continue;
            if (!gatheredTogether(i, below - 1))
                sum += option(below - 1).backwardBuffer;
            ++found;
        }
        return sum;
    }

    [[nodiscard]] bool startsRegion(std::size_t i) const
    {
        if (!option(i).strategy.recompute)
            return false;
        return i + 1 == m_count || !option(i + 1).strategy.recompute || m_table.units[i + 1].layer != m_table.units[i].layer;
    }

    void addRecomputed(Sum& sum, const OptionCost& cost, bool withGathered) const
    {
        sum.add(Category::Activations, cost.recomputed);
        if (withGathered && rules().recomputeKeepsGathered)
            sum.add(Category::Gathered, cost.gathered);
    }
    void removeRecomputed(Sum& sum, const OptionCost& cost, bool withGathered) const
    {
        sum.remove(Category::Activations, cost.recomputed);
        if (withGathered && rules().recomputeKeepsGathered)
            sum.remove(Category::Gathered, cost.gathered);
    }

    /// Runs the forward of the region that ends at `last` again; m_now then holds what it brings back.
    template <class Visit>
    void playRecompute(Visit& visit, std::size_t last, Bytes beside)
    {
        std::size_t first = last;
        while (first > 0 && option(first - 1).strategy.recompute && m_table.units[first - 1].layer == m_table.units[last].layer)
            --first;
        for (std::size_t i = first; i <= last; ++i) {
            const OptionCost& cost = option(i);
            Sum run = m_now;
            addRecomputed(run, cost, false);
            addTransient(run, cost.recomputeTransient, std::min(cost.recomputeTransient, cost.gathered), Bytes());
            addBorrowed(run, i, false);
            run.add(Category::Gathered, beside);
            visit(Phase::Recompute, i, run);
            addRecomputed(m_now, cost, true);
        }
    }

    /// What the neighbours of a running unit hold: the next gather and the last reduction, or those between its own slices.
    [[nodiscard]] static Bytes besideBackward(const OptionCost& cost, Bytes ahead, Bytes behind)
    {
        if (cost.strategy.slices == 1)
            return ahead + behind;
        const Bytes inner = cost.innerBackward();
        const Bytes edges = std::max(cost.backwardBuffer + behind, ahead + cost.reduceBuffer);
        return std::max(Bytes(), edges - inner);
    }

    template <class Visit>
    void playBackward(Visit& visit)
    {
        std::size_t below = m_count;
        Bytes behind;
        for (std::size_t i = m_count; i-- > 0;) {
            const OptionCost& cost = option(i);
            const bool holder = holds(i);
            while (below > 0 && (below > i || !holds(below - 1)))
                --below;
            const Bytes ahead = aheadBackward(i, below);
            if (startsRegion(i))
                playRecompute(visit, i, ahead + behind);
            if (cost.strategy.recompute)
                removeRecomputed(m_now, cost, true); // its own is in what follows

            removeSaved(m_now, cost);
            Sum run = m_now;
            addSaved(run, cost);
            if (cost.strategy.recompute)
                addRecomputed(run, cost, false);
            addTransient(run, cost.backwardTransient, std::min(cost.backwardTransient, cost.gatheredBackward + cost.innerBackward()),
                         cost.backwardGradient);
            addBorrowed(run, i, true);
            run.add(Category::Gathered, holder ? besideBackward(cost, ahead, behind) : ahead + behind);
            if (rules().gatherBuffers > 1 && holder) {
                Sum start = m_now;
                addSaved(start, cost);
                if (cost.strategy.recompute)
                    addRecomputed(start, cost, false);
                start.add(Category::Gathered, cost.gatheredBackward + cost.backwardBuffer + behind);
                if (cost.backwardBuffer > Bytes())
                    start.add(Category::Gathered, cost.gatherTemporary);
                consider(run, start);
            }
            if (cost.reduceTransient > Bytes()) {
                Sum reduce = m_now;
                reduce.add(Category::Gradients, cost.reduceTransient);
                reduce.add(Category::Gathered, ahead);
                consider(run, reduce);
            }
            visit(Phase::Backward, i, run);

            m_now.add(Category::Gradients, cost.heldGradient);
            if (!m_table.units[i].root)
                m_now.add(Category::Gradients, cost.gradients - cost.steadyGradients + cost.averaged);
            if (holder)
                behind = rules().reductionOverlapsNext ? cost.reduceBuffer : Bytes();
        }
    }

    /// The root unit's reduction, when all else is done.
    template <class Visit>
    void playEnd(Visit& visit)
    {
        Bytes buffer;
        Bytes held;
        Bytes kept;
        Bytes fresh;
        for (std::size_t i = 0; i < m_count; ++i) {
            const OptionCost& cost = option(i);
            buffer += cost.finalBuffer;
            held += cost.heldGradient;
            kept += cost.keptToEnd;
            if (m_table.units[i].root)
                fresh += cost.gradients - cost.steadyGradients + cost.averaged;
        }
        if (buffer == Bytes())
            return;
        Sum end = m_now;
        if (!rules().replicatedIsRootUnit) {
            end.remove(Category::Gathered, kept);
            end.remove(Category::Gradients, held); // freed once copied into the buffer, before the shards are made
            held = std::max(held, fresh);
            end.add(Category::Gradients, held);
        }
        end.add(Category::Gradients, buffer);
        visit(Phase::Backward, 0, end);
    }

    // --- optimizer step --------------------------------------------------------------------------------------

    template <class Visit>
    void playStep(Visit& visit)
    {
        Sum step;
        step.add(Category::Overhead, m_table.overhead + m_table.constant);
        for (std::size_t i = 0; i < m_count; ++i) {
            const OptionCost& cost = option(i);
            step.add(Category::Parameters, cost.parameters);
            step.add(Category::Optimizer, cost.optimizer + cost.stepTransient);
            step.add(Category::Gradients, cost.gradients);
        }
        visit(Phase::Step, m_count - 1, step);
    }

    const CostTable& m_table;
    const Choice& m_choice;
    std::size_t m_count;
    Sum m_base;
    Sum m_now; ///< during backward: all that is alive between two units
};

template <class Sum, class Visit>
void play(const CostTable& table, const Choice& choice, Visit&& visit)
{
    Player<Sum>(table, choice).play(visit);
}

} // namespace loadline::timeline_player
