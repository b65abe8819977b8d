// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/step_time.hpp"

#include "core/cost/communication.hpp"
#include "core/cost/profile.hpp"
#include "core/cost/stream_player.hpp"

#include <algorithm>

namespace loadline {
namespace {

using Kind = StreamSpan::Kind;

StreamPlayer playerOf(const OverlapFactors& slower, std::size_t units)
{
    return {slower.compute, slower.transfer, units};
}

/// Plays the micro-steps of one plan. Costs hold a whole optimizer step; a micro-step has its share of them.
class StepPlay {
public:
    StepPlay(const CostTable& table, const Choice& choice)
        : m_table(table), m_choice(choice), m_microSteps(std::max<std::int64_t>(1, table.setup.accumulation)),
          m_player(playerOf(overlapFactors(table.setup.cluster, table.setup.profile.get()), table.units.size())),
          m_arrived(table.units.size())
    {
    }

    void forward()
    {
        const auto units = m_table.units.size();
        const auto ahead = static_cast<std::size_t>(std::max(0, m_table.setup.rules.gatherAheadForward));
        std::size_t asked = 0; // units whose gather has been issued
        const auto askUpTo = [&](std::size_t end) {
            for (; asked < std::min(end, units); ++asked)
                m_arrived[asked] = m_player.issue(Kind::ForwardGather, asked, share(cost(asked).gatherForward));
        };
        for (std::size_t unit = 0; unit < units; ++unit) {
            askUpTo(unit + 1);
            m_player.waitFor(m_arrived[unit]);
            askUpTo(unit + 1 + ahead);
            m_player.compute(Kind::ForwardCompute, unit, share(cost(unit).forwardCompute));
        }
    }

    void backward(bool last)
    {
        const auto units = m_table.units.size();
        const auto ahead = static_cast<std::size_t>(std::max(0, m_table.setup.rules.gatherAheadBackward));
        std::size_t asked = 0; // counts from the last unit
        const auto askUpTo = [&](std::size_t end) {
            for (; asked < std::min(end, units); ++asked) {
                const auto unit = units - 1 - asked;
                m_arrived[unit] = m_player.issue(Kind::BackwardGather, unit, share(cost(unit).gatherBackward));
            }
        };
        for (std::size_t position = 0; position < units; ++position) {
            const auto unit = units - 1 - position;
            askUpTo(position + 1);
            m_player.waitFor(m_arrived[unit]);
            askUpTo(position + 1 + ahead);
            m_player.compute(Kind::BackwardCompute, unit, share(cost(unit).backwardCompute));
            const double each = share(cost(unit).scatter);
            m_player.issue(Kind::Reduce, unit, last ? cost(unit).reduce.value() - each * static_cast<double>(m_microSteps - 1) : each);
        }
        m_player.waitForAll();
    }

    void step()
    {
        for (std::size_t unit = 0; unit < m_table.units.size(); ++unit)
            m_player.compute(Kind::Step, unit, cost(unit).step.value());
    }

    [[nodiscard]] const OptionCost& cost(std::size_t unit) const { return m_table.options(unit)[m_choice[unit]]; }
    [[nodiscard]] std::int64_t microSteps() const { return m_microSteps; }
    StreamPlayer& player() { return m_player; }

private:
    [[nodiscard]] double share(Seconds whole) const { return whole.value() / static_cast<double>(m_microSteps); }

    const CostTable& m_table;
    const Choice& m_choice;
    std::int64_t m_microSteps;
    StreamPlayer m_player;
    std::vector<std::size_t> m_arrived; ///< number of the transfer that a unit waits for
};

/// A micro-step ends with its reductions and leaves no transfer behind, so all before the last take the same time.
struct FirstMicroStep {
    double seconds = 0;
    std::vector<double> exposed;
    std::vector<StreamSpan> spans;
};

FirstMicroStep playFirst(const CostTable& table, const Choice& choice, bool record)
{
    FirstMicroStep first;
    StepPlay play(table, choice);
    if (record)
        play.player().record(&first.spans);
    play.forward();
    play.backward(false);
    first.seconds = play.player().now();
    first.exposed = play.player().exposed();
    return first;
}

void appendShifted(std::vector<StreamSpan>& spans, const std::vector<StreamSpan>& more, double by)
{
    for (auto span : more) {
        span.start += Seconds(by);
        span.end += Seconds(by);
        spans.push_back(span);
    }
}

} // namespace

StepTime stepTime(const CostTable& table, const Choice& choice)
{
    StepTime time;
    StepPlay last(table, choice);
    for (std::size_t unit = 0; unit < table.units.size(); ++unit) {
        time.serial += last.cost(unit).serial();
        time.compute += last.cost(unit).compute();
        time.communication += last.cost(unit).communication();
    }
    last.forward();
    last.backward(true);
    last.step();
    double overlapped = last.player().now();
    auto exposed = last.player().exposed();
    if (last.microSteps() > 1) {
        const auto first = playFirst(table, choice, false);
        const auto repeats = static_cast<double>(last.microSteps() - 1);
        overlapped += repeats * first.seconds;
        for (std::size_t unit = 0; unit < exposed.size(); ++unit)
            exposed[unit] += repeats * first.exposed[unit];
    }
    time.overlapped = Seconds(overlapped);
    time.exposed = std::max(Seconds(0), time.overlapped - time.compute);
    time.exposedByUnit.reserve(exposed.size());
    for (const double seconds : exposed)
        time.exposedByUnit.emplace_back(seconds);
    return time;
}

std::vector<StreamSpan> streamSpans(const CostTable& table, const Choice& choice)
{
    std::vector<StreamSpan> spans;
    StepPlay last(table, choice);
    double start = 0;
    if (last.microSteps() > 1) {
        const auto first = playFirst(table, choice, true);
        const auto repeats = last.microSteps() - 1;
        const auto drawn = std::min<std::int64_t>(repeats, kMostDrawnMicroSteps - 1);
        for (std::int64_t i = 0; i < drawn; ++i)
            appendShifted(spans, first.spans, static_cast<double>(i) * first.seconds);
        start = static_cast<double>(repeats) * first.seconds;
    }
    std::vector<StreamSpan> lastSpans;
    last.player().record(&lastSpans);
    last.forward();
    last.backward(true);
    last.step();
    appendShifted(spans, lastSpans, start);
    return spans;
}

} // namespace loadline
