// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/knapsack_core.hpp"

#include <algorithm>

namespace loadline::knapsack {
namespace {

/// One greedy attempt: what each item has been moved to so far.
class Attempt {
public:
    explicit Attempt(const Core& core) : m_core(core), m_taken(core.items.size()), m_free(core.freeBytes), m_ticks(core.baseTicks) {}

    /// Takes the cheapest step that does not fit, after `skip` others of that kind.
    bool takeOneTooLarge(int skip)
    {
        for (const Step& step : m_core.fill) {
            if (step.from != -1 || step.each <= m_free || skip-- > 0)
                continue;
            take(step, 1);
            m_taken[step.item].locked = true;
            return true;
        }
        return false;
    }

    /// Frees bytes, cheapest first, until nothing is missing.
    void release()
    {
        for (const Step& step : m_core.free) {
            if (m_free >= 0)
                return;
            if (!canTake(step))
                continue;
            const std::int64_t wanted = (-m_free + step.each - 1) / step.each;
            take(step, step.from != -1 ? 1 : std::min(m_core.items[step.item].copies, wanted));
        }
    }

    /// Uses free bytes, cheapest first. Items that freed some stay as they are.
    void fillUp()
    {
        for (const Step& step : m_core.fill) {
            if (m_free <= 0)
                return;
            if (step.each > m_free || !canTake(step))
                continue;
            take(step, step.from != -1 ? 1 : std::min(m_core.items[step.item].copies, m_free / step.each));
        }
    }

    /// Spends what is left on the deviations that save most and still fit, hull or not; a few, as each takes a look at all.
    void useRest()
    {
        constexpr int kMostTimes = 3;
        for (int time = 0; time < kMostTimes && m_free > 0; ++time) {
            std::int64_t best = 0;
            std::size_t bestItem = 0, bestDeviation = 0;
            for (std::size_t i = 0; i < m_core.items.size(); ++i) {
                if (m_taken[i].copies > 0)
                    continue;
                for (std::size_t d = m_core.items[i].first; d < m_core.items[i].end; ++d) {
                    const Deviation& one = m_core.deviations[d];
                    if (one.bytes <= m_free && one.ticks < best) {
                        best = one.ticks;
                        bestItem = i;
                        bestDeviation = d;
                    }
                }
            }
            if (best == 0)
                return;
            const Deviation& one = m_core.deviations[bestDeviation];
            const std::int64_t copies = std::min(m_core.items[bestItem].copies, m_free / std::max<std::int64_t>(one.bytes, 1));
            m_free -= one.bytes * copies;
            m_ticks += one.ticks * copies;
            m_taken[bestItem].deviation = static_cast<std::int32_t>(bestDeviation);
            m_taken[bestItem].copies = copies;
        }
    }

    [[nodiscard]] bool fits() const { return m_free >= 0; }
    [[nodiscard]] std::int64_t ticks() const { return m_ticks; }

    [[nodiscard]] std::vector<Move> moves() const
    {
        std::vector<Move> all;
        for (std::size_t i = 0; i < m_taken.size(); ++i)
            if (m_taken[i].copies > 0)
                all.push_back(
                    {m_core.items[i].base, m_core.deviations[static_cast<std::size_t>(m_taken[i].deviation)].option, m_taken[i].copies});
        return all;
    }

private:
    struct Taken {
        std::int32_t deviation = -1;
        std::int64_t copies = 0;
        bool locked = false;
    };

    [[nodiscard]] bool canTake(const Step& step) const
    {
        const Taken& taken = m_taken[step.item];
        if (taken.locked || taken.deviation != step.from)
            return false;
        return step.from == -1 || m_core.items[step.item].copies == 1; // several copies move together, so only their first step
    }

    void take(const Step& step, std::int64_t copies)
    {
        Taken& taken = m_taken[step.item];
        const Deviation& to = m_core.deviations[static_cast<std::size_t>(step.to)];
        std::int64_t bytes = to.bytes, ticks = to.ticks;
        if (step.from != -1) {
            const Deviation& from = m_core.deviations[static_cast<std::size_t>(step.from)];
            bytes -= from.bytes;
            ticks -= from.ticks;
        }
        m_free -= bytes * copies;
        m_ticks += ticks * copies;
        taken.deviation = step.to;
        taken.copies = copies;
    }

    const Core& m_core;
    std::vector<Taken> m_taken;
    std::int64_t m_free;
    std::int64_t m_ticks;
};

} // namespace

void roundGreedily(Core& core, Incumbent& incumbent)
{
    constexpr int kVariants = 4;
    for (int variant = 0; variant < kVariants; ++variant) {
        Attempt attempt(core);
        if (variant > 0) {
            if (!attempt.takeOneTooLarge(variant - 1))
                return;
            attempt.release();
        }
        if (!attempt.fits())
            continue;
        attempt.fillUp();
        attempt.useRest();
        if (attempt.ticks() < incumbent.ticks)
            core.accept(attempt.ticks(), attempt.moves());
    }
}

} // namespace loadline::knapsack
