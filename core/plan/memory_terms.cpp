// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/memory_terms.hpp"

#include "core/plan/memory_events.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace loadline {
namespace {

/// Units whose own transient is told apart from those of their group. More would only add classes that never bind:
/// what lies further from the pivot has more saved activations between itself and the peak.
constexpr std::size_t kUnitsApart = 12;

MemoryTerms emptyTerms(const MemoryEvents& events)
{
    MemoryTerms terms(events.units());
    for (std::size_t u = 0; u < terms.size(); ++u)
        terms[u].resize(events.options(u).size());
    return terms;
}

/// Adds `value(option)` to what `unit` keeps; returns the most that it can be.
template <class Value>
std::int64_t addPersist(MemoryTerms& terms, std::size_t unit, Value value)
{
    std::int64_t most = 0;
    for (std::size_t i = 0; i < terms[unit].size(); ++i) {
        terms[unit][i].persist += value(i);
        most = std::max(most, value(i));
    }
    return most;
}

/// Everything alive when `pivot` starts its backward, its own transient and its region's activations apart.
void addAlive(const MemoryEvents& events, MemoryTerms& terms, std::size_t pivot)
{
    for (std::size_t u = 0; u < terms.size(); ++u)
        addPersist(terms, u, [&](std::size_t i) { return events.always(u, i) + (u <= pivot ? events.before(u, i) : events.after(u, i)); });
}

/// The most that neighbours and lenders can add at a pivot.
struct Beside {
    std::int64_t all = 0;
    std::int64_t notReducing = 0; ///< the part that is gone when the pivot's gradient is reduced
};

/// Adds what the neighbours of an unsliced unit hold while it runs backward.
void addNeighbours(const MemoryEvents& events, MemoryTerms& terms, std::size_t pivot, Beside& most)
{
    std::int64_t behind = 0;
    for (std::size_t u = pivot + 1; u < events.units() && events.rules().reductionOverlapsNext; ++u) {
        if (!events.holds(u))
            continue;
        behind = addPersist(terms, u, [&](std::size_t i) { return events.cost(u, i).reduceBuffer.count(); });
        break;
    }
    most.notReducing += behind;
    most.all += behind;
    int found = 0;
    for (std::size_t u = pivot; u-- > 0 && found < events.rules().gatherAheadBackward;) {
        if (!events.holds(u))
            continue;
        const bool near = events.rules().recomputeKeepsGathered && events.unit(u).layer == events.unit(pivot).layer;
        most.all += addPersist(terms, u, [&](std::size_t i) { // a unit of the pivot's recomputed region is gathered already
            const OptionCost& cost = events.cost(u, i);
            return near && cost.strategy.recompute ? 0 : cost.backwardBuffer.count();
        });
        ++found;
    }
}

/// Adds what neighbours and lenders of tied parameters hold while `pivot` runs backward.
Beside addBesideBackward(const MemoryEvents& events, MemoryTerms& terms, std::size_t pivot)
{
    Beside most;
    for (const std::size_t owner : events.unit(pivot).borrows)
        most.notReducing += addPersist(
            terms, owner, [&](std::size_t i) { return (events.cost(owner, i).gathered + events.cost(owner, i).fullGradient).count(); });
    most.all = most.notReducing;
    if (events.feelsNeighbours(pivot))
        addNeighbours(events, terms, pivot, most);
    return most;
}

/// Far from the pivot a group shares its least transients: weaker, still a lower bound, and far fewer classes.
void shareFarTransients(const SearchSpace& space, MemoryTerms& terms, std::size_t pivot)
{
    const auto far = [&](std::size_t u) { return (u <= pivot ? pivot - u : u - pivot) >= kUnitsApart; };
    std::map<std::size_t, std::vector<MemoryTerm>> least;
    for (std::size_t u = 0; u < terms.size(); ++u) {
        if (!far(u))
            continue;
        auto& shared = least.try_emplace(space.groupOfUnit[u], terms[u]).first->second;
        for (std::size_t i = 0; i < shared.size(); ++i)
            shared[i].transient = std::min(shared[i].transient, terms[u][i].transient);
    }
    for (std::size_t u = 0; u < terms.size(); ++u)
        for (std::size_t i = 0; far(u) && i < terms[u].size(); ++i)
            terms[u][i].transient = least.at(space.groupOfUnit[u])[i].transient;
}

/// How far backward of units below `pivot` reaches above it: later, with more gradients and fewer activations.
void addLaterBackward(const MemoryEvents& events, MemoryTerms& terms, std::size_t pivot, std::size_t regionStart, std::int64_t fall)
{
    for (std::size_t u = pivot; u-- > 0;) {
        const bool inRegion = u >= regionStart;
        fall += events.most(u + 1, [&](std::size_t i) {
            const bool counted = u + 1 < pivot && u + 1 >= regionStart;
            return events.before(u + 1, i) - events.after(u + 1, i) + (counted ? events.broughtBack(u + 1, i) : 0);
        });
        for (std::size_t i = 0; i < terms[u].size(); ++i) {
            const std::int64_t reach = events.backward(u, i) - (inRegion ? events.broughtBack(u, i) : 0) - fall;
            terms[u][i].transient = std::max<std::int64_t>(reach, 0);
        }
    }
}

/// And of units above it: earlier, with more activations and fewer gradients.
void addEarlierBackward(const MemoryEvents& events, MemoryTerms& terms, std::size_t pivot, std::int64_t fall)
{
    for (std::size_t u = pivot + 1; u < terms.size(); ++u) {
        for (std::size_t i = 0; i < terms[u].size(); ++i) {
            const std::int64_t reach = events.backward(u, i) + events.before(u, i) - events.after(u, i) - fall;
            terms[u][i].transient = std::max<std::int64_t>(reach, 0);
        }
        fall += events.most(u, [&](std::size_t i) { return events.after(u, i) - events.before(u, i); });
    }
}

/// What is known of a pivot once its own event is in the terms.
struct AtPivot {
    Beside beside;
    std::size_t regionStart = 0;
    std::int64_t region = 0; ///< the most that its region can have brought back
};

/// Backward of `pivot` itself.
AtPivot addPivot(const MemoryEvents& events, MemoryTerms& terms, std::size_t pivot)
{
    addAlive(events, terms, pivot);
    AtPivot at;
    at.beside = addBesideBackward(events, terms, pivot);
    at.regionStart = events.regionStart(pivot);
    for (std::size_t u = at.regionStart; u < pivot; ++u)
        at.region += addPersist(terms, u, [&](std::size_t i) { return events.broughtBack(u, i); });
    for (std::size_t i = 0; i < terms[pivot].size(); ++i)
        terms[pivot][i].transient =
            std::max({events.running(pivot, i), events.reducing(pivot, i) - at.beside.notReducing, std::int64_t{0}});
    return at;
}

/// How far forward of the last units reaches above backward of the last unit.
void addForwardReach(const MemoryEvents& events, MemoryTerms& terms, std::int64_t fall)
{
    for (std::size_t u = terms.size(); u-- > 0;) {
        for (std::size_t i = 0; i < terms[u].size(); ++i)
            terms[u][i].transient = std::max(terms[u][i].transient, events.cost(u, i).forwardTransient.count() - fall);
        fall += events.most(u, [&](std::size_t i) { return events.before(u, i); });
    }
}

} // namespace

MemoryTerms backwardTerms(const SearchSpace& space, std::size_t pivot)
{
    const MemoryEvents events(space);
    MemoryTerms terms = emptyTerms(events);
    const AtPivot at = addPivot(events, terms, pivot);
    addLaterBackward(events, terms, pivot, at.regionStart, at.beside.all);
    addEarlierBackward(events, terms, pivot, at.beside.all + at.region);
    if (pivot + 1 == terms.size() && at.regionStart == pivot)
        addForwardReach(events, terms, at.beside.all);
    shareFarTransients(space, terms, pivot);
    return terms;
}

MemoryTerms backwardTermsAlone(const SearchSpace& space, std::size_t pivot)
{
    const MemoryEvents events(space);
    MemoryTerms terms = emptyTerms(events);
    addPivot(events, terms, pivot);
    return terms;
}

bool addNeighboursOfUnsliced(const SearchSpace& space, std::size_t pivot, MemoryTerms& terms)
{
    const MemoryEvents events(space);
    if (events.feelsNeighbours(pivot))
        return true; // they are in already
    Beside most;
    addNeighbours(events, terms, pivot, most);
    for (std::size_t i = 0; i < terms[pivot].size(); ++i) {
        MemoryTerm& term = terms[pivot][i];
        if (events.cost(pivot, i).strategy.slices > 1)
            term.transient -= most.all;
        else
            term.transient -= std::max<std::int64_t>(term.transient - events.running(pivot, i), 0);
        if (term.persist + term.transient < 0)
            return false;
    }
    return true;
}

MemoryTerms forwardTerms(const SearchSpace& space, std::size_t pivot)
{
    const MemoryEvents events(space);
    MemoryTerms terms = emptyTerms(events);
    for (std::size_t u = 0; u < terms.size(); ++u)
        addPersist(terms, u, [&](std::size_t i) { return events.always(u, i) + (u <= pivot ? events.before(u, i) : 0); });
    for (const std::size_t owner : events.unit(pivot).borrows)
        addPersist(terms, owner, [&](std::size_t i) { return events.cost(owner, i).gathered.count(); });
    int found = 0;
    for (std::size_t u = pivot + 1; u < terms.size() && events.feelsNeighbours(pivot) && found < events.rules().gatherAheadForward; ++u) {
        if (!events.holds(u))
            continue;
        addPersist(terms, u, [&](std::size_t i) { return events.cost(u, i).forwardBuffer.count(); });
        ++found;
    }
    for (std::size_t u = pivot; u-- > 0 && events.rules().forwardKeepsBuffer && !events.holds(pivot);)
        if (events.holds(u)) {
            addPersist(terms, u, [&](std::size_t i) { return events.cost(u, i).forwardBuffer.count(); });
            break;
        }
    for (std::size_t i = 0; i < terms[pivot].size(); ++i)
        terms[pivot][i].transient = std::max<std::int64_t>(events.cost(pivot, i).forwardTransient.count(), 0);
    return terms;
}

MemoryTerms recomputeTerms(const SearchSpace& space, std::size_t pivot)
{
    const MemoryEvents events(space);
    if (!events.alwaysRecomputed(pivot))
        return forwardTerms(space, pivot);
    MemoryTerms terms = emptyTerms(events);
    addAlive(events, terms, events.regionEnd(pivot));
    for (std::size_t u = events.regionStart(pivot); u < pivot; ++u)
        addPersist(terms, u, [&](std::size_t i) { return events.broughtBack(u, i); });
    addPersist(terms, pivot, [&](std::size_t i) { return events.cost(pivot, i).recomputed.count(); });
    for (std::size_t i = 0; i < terms[pivot].size(); ++i)
        terms[pivot][i].transient = events.cost(pivot, i).recomputeTransient.count();
    return terms;
}

MemoryTerms endTerms(const SearchSpace& space)
{
    const MemoryEvents events(space);
    MemoryTerms terms = emptyTerms(events);
    for (std::size_t u = 0; u < terms.size(); ++u)
        addPersist(terms, u, [&](std::size_t i) {
            const OptionCost& c = events.cost(u, i);
            std::int64_t sum = (c.parameters + c.optimizer + c.steadyGradients).count();
            sum += events.unit(u).root ? 0 : (c.gradients - c.steadyGradients).count();
            if (c.finalBuffer > Bytes()) // only then there is such an event; without it the step needs as much as the rest
                sum += (c.heldGradient + c.finalBuffer).count() + (events.rules().replicatedIsRootUnit ? c.keptToEnd.count() : 0);
            return sum;
        });
    return terms;
}

MemoryTerms stepTerms(const SearchSpace& space)
{
    const MemoryEvents events(space);
    MemoryTerms terms = emptyTerms(events);
    for (std::size_t u = 0; u < terms.size(); ++u)
        addPersist(terms, u, [&](std::size_t i) { return (events.cost(u, i).states() + events.cost(u, i).stepTransient).count(); });
    return terms;
}

MemoryTerms termsAt(const SearchSpace& space, const TimelineEvent& event)
{
    switch (event.phase) {
    case Phase::Forward:
        return forwardTerms(space, event.unit);
    case Phase::Recompute:
        return recomputeTerms(space, event.unit);
    case Phase::Backward:
        return backwardTerms(space, event.unit);
    case Phase::Step:
        break;
    }
    return stepTerms(space);
}

MemoryTerms paperTerms(const SearchSpace& space)
{
    const MemoryEvents events(space);
    MemoryTerms terms = emptyTerms(events);
    std::int64_t largestRegion = 0;
    std::int64_t region = 0;
    for (std::size_t u = 0; u < terms.size(); ++u) {
        std::int64_t recomputed = std::numeric_limits<std::int64_t>::max();
        for (std::size_t i = 0; i < terms[u].size(); ++i) {
            const OptionCost& c = events.cost(u, i);
            terms[u][i].persist = (c.states() + c.saved + c.kept + c.keptToEnd + c.heldGradient).count();
            terms[u][i].transient = std::max({c.forwardTransient, c.backwardTransient, c.recomputeTransient, c.reduceTransient}).count();
            recomputed = std::min(recomputed, c.recomputed.count());
        }
        if (u == 0 || events.unit(u - 1).layer != events.unit(u).layer || !events.alwaysRecomputed(u))
            region = 0;
        if (events.alwaysRecomputed(u))
            region += recomputed;
        largestRegion = std::max(largestRegion, region);
    }
    if (!terms.empty())
        addPersist(terms, 0, [&](std::size_t) { return largestRegion; });
    return terms;
}

} // namespace loadline
