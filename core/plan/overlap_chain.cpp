// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/overlap_chain.hpp"

#include "core/cost/communication.hpp"
#include "core/cost/profile.hpp"

#include <map>

namespace loadline {
namespace {

ChainTimes timesOf(const OptionCost& cost, std::int64_t microSteps)
{
    const auto share = [&](Seconds whole) { return whole.value() / static_cast<double>(microSteps); };
    ChainTimes times;
    times.forward = share(cost.forwardCompute);
    times.backward = share(cost.backwardCompute);
    times.gatherForward = share(cost.gatherForward);
    times.gatherBackward = share(cost.gatherBackward);
    const double scatter = share(cost.scatter);
    times.reduce = {cost.reduce.value() - scatter * static_cast<double>(microSteps - 1), scatter};
    times.step = cost.step.value();
    return times;
}

/// One kind of micro-step.
double microStep(const OverlapChain& chain, const std::vector<std::uint32_t>& places, std::size_t kind)
{
    const auto at = [&](std::size_t unit) -> const ChainTimes& { return chain.options(unit)[places[unit]]; };
    const std::size_t count = chain.units();
    double now = at(0).gatherForward;
    for (std::size_t unit = 0; unit + 1 < count; ++unit)
        now +=
            chain.aheadForward ? chain.pair(at(unit).forward, at(unit + 1).gatherForward) : at(unit).forward + at(unit + 1).gatherForward;
    now += at(count - 1).forward;

    double lag = 0;
    const auto runFreely = [&](double compute) {
        now += std::min(chain.slowCompute * compute, compute + chain.hidden * lag);
        lag = std::max(0.0, lag - chain.slowCompute / chain.slowTransfer * compute);
    };
    if (chain.aheadBackward)
        now += at(count - 1).gatherBackward;
    for (std::size_t unit = count; unit-- > 0;) {
        const ChainTimes& cost = at(unit);
        if (!chain.aheadBackward && cost.gatherBackward > 0) {
            now += lag + cost.gatherBackward + cost.backward;
            lag = 0;
        } else if (chain.aheadBackward && unit > 0 && at(unit - 1).gatherBackward > 0) {
            now += chain.pair(cost.backward, lag + at(unit - 1).gatherBackward);
            lag = 0;
        } else {
            runFreely(cost.backward);
        }
        lag += cost.reduce[kind];
    }
    return now + lag;
}

} // namespace

double OverlapChain::seconds(const std::vector<std::uint32_t>& places) const
{
    double sum = 0;
    for (std::size_t kind = 0; kind < kinds; ++kind)
        sum += repeats[kind] * microStep(*this, places, kind);
    for (std::size_t unit = 0; unit < units(); ++unit)
        sum += options(unit)[places[unit]].step;
    return sum;
}

std::optional<OverlapChain> makeOverlapChain(const SearchSpace& space)
{
    const Setup& setup = space.table.setup;
    if (setup.rules.gatherAheadForward > 1 || setup.rules.gatherAheadBackward > 1)
        return std::nullopt;
    OverlapChain chain;
    chain.aheadForward = setup.rules.gatherAheadForward == 1;
    chain.aheadBackward = setup.rules.gatherAheadBackward == 1;
    const std::int64_t microSteps = std::max<std::int64_t>(1, setup.accumulation);
    chain.kinds = microSteps > 1 ? 2 : 1;
    chain.repeats = {1, static_cast<double>(microSteps - 1)};
    chain.microSteps = static_cast<double>(microSteps);
    const OverlapFactors slower = overlapFactors(setup.cluster, setup.profile.get());
    chain.slowCompute = slower.compute;
    chain.slowTransfer = slower.transfer;
    chain.hidden = slower.transfer * (1 - 1 / slower.compute);
    chain.covered = slower.compute * (1 - 1 / slower.transfer);
    chain.groupOfUnit = space.groupOfUnit;
    for (const UnitGroup& group : space.groups) {
        auto& times = chain.groupTimes.emplace_back();
        for (const std::uint32_t option : group.options)
            times.push_back(timesOf(space.option(group.units.front(), option), microSteps));
    }
    return chain;
}

OverlapMemory::Sum OverlapMemory::of(const std::vector<std::uint32_t>& places) const
{
    Sum sum;
    for (std::size_t unit = 0; unit < places.size(); ++unit) {
        const MemoryTerm& term = terms(unit)[places[unit]];
        sum.persist += term.persist;
        sum.transient = std::max(sum.transient, term.transient);
    }
    return sum;
}

OverlapMemory overlapMemory(const SearchSpace& space, const MemoryForm& form, Bytes budget)
{
    OverlapMemory memory;
    memory.capacity = form.capacity(budget);
    std::map<std::size_t, std::uint32_t> seen; // of the form's classes
    for (std::size_t unit = 0; unit < space.groupOfUnit.size(); ++unit) {
        const auto [place, isNew] = seen.try_emplace(form.classOf(unit), static_cast<std::uint32_t>(memory.types.size()));
        memory.typeOfUnit.push_back(place->second);
        if (!isNew)
            continue;
        auto& type = memory.types.emplace_back();
        type.group = space.groupOfUnit[unit];
        std::int64_t least = INT64_MAX;
        for (const KnapsackOption& option : form.optionsOf(unit)) {
            type.terms.push_back({option.persist, option.transient});
            least = std::min(least, option.transient);
        }
        memory.leastTransient = std::max(memory.leastTransient, least);
    }
    return memory;
}

OverlapMemory overlapMemory(const SearchSpace& space, const MemoryForm& form, Bytes budget, std::size_t unit, std::size_t place)
{
    OverlapMemory memory = overlapMemory(space, form, budget);
    OverlapMemory::Type& type = memory.types[memory.typeOfUnit[unit]];
    const std::size_t count = space.groups[space.groupOfUnit[unit]].options.size();
    type.terms.resize(count, type.terms.front());
    type.ruledOut.assign(count, true);
    type.ruledOut[place] = false;
    return memory;
}

} // namespace loadline
