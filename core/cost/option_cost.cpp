// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/option_cost.hpp"

#include "core/cost/communication.hpp"
#include "core/cost/option_sizes.hpp"

#include <algorithm>

namespace loadline {
namespace {

/// One option under construction: the inputs that every step reads.
struct Draft {
    const Setup& setup;
    const UnitFacts& facts;
    const Strategy& strategy;
    std::vector<SliceSizes> slices;

    [[nodiscard]] const RuntimeRules& rules() const { return setup.rules; }
    [[nodiscard]] const PrecisionRecipe& precision() const { return setup.precision; }
    [[nodiscard]] std::int64_t ranks() const { return setup.cluster.ranks(); }
    [[nodiscard]] bool sharded() const { return !strategy.replicated(); }
    [[nodiscard]] bool inRoot() const { return facts.unit->root || (rules().replicatedIsRootUnit && !sharded()); }
    /// Replicated parameters run from a copy: another type, or FSDP2's mesh (N,1).
    [[nodiscard]] bool copies() const
    {
        return precision().gathered != precision().weight || (rules().replicatedCopies && ranks() > 1) || inRoot();
    }
    /// Replicated gradients are added to a flat buffer that exists from the start.
    [[nodiscard]] bool addsInPlace() const
    {
        if (sharded() || inRoot())
            return false;
        return rules().replicatedGradientsStay || (setup.accumulation > 1 && ranks() == 1);
    }
    /// Gathered for its own backward at all.
    [[nodiscard]] bool gathersInBackward() const
    {
        if (inRoot() || !strategy.reshardAfterForward)
            return false;
        const auto& operators = setup.model->operators;
        const auto& run = facts.unit->operators;
        return !rules().embeddingsSkipBackward || !std::all_of(run.begin(), run.end(), [&](std::size_t op) {
            return std::holds_alternative<EmbeddingTraits>(operators[op].traits);
        });
    }
    template <class Field>
    [[nodiscard]] std::int64_t largest(Field field) const
    {
        std::int64_t most = 0;
        for (const SliceSizes& slice : slices)
            most = std::max(most, slice.*field);
        return most;
    }
    template <class Field>
    [[nodiscard]] std::int64_t sum(Field field) const
    {
        std::int64_t all = 0;
        for (const SliceSizes& slice : slices)
            all += slice.*field;
        return all;
    }
};

// --- states ------------------------------------------------------------------------------------------------------

/// Gradients that stay: by the rules, because they are added up over micro-steps, or preset for replicated slices.
std::int64_t steadyElements(const Draft& draft)
{
    if (draft.rules().gradientsStay || draft.setup.accumulation > 1)
        return draft.sum(&SliceSizes::localTrainable);
    std::int64_t steady = 0;
    if (draft.rules().replicatedGradientsStay)
        for (const SliceSizes& slice : draft.slices)
            if (!slice.sharded)
                steady += slice.localTrainable;
    return steady;
}

void addStates(OptionCost& cost, const Draft& draft)
{
    const PrecisionRecipe& precision = draft.precision();
    const std::int64_t local = draft.sum(&SliceSizes::local);
    const std::int64_t trainable = draft.sum(&SliceSizes::localTrainable);
    cost.parameters = bytesOf(local, precision.weight) + bytesOf(trainable, precision.master);
    cost.optimizer = bytesOf(trainable, stateBytes(precision, draft.setup.optimizer));
    if (draft.setup.optimizer.factored)
        cost.optimizer += bytesOf(draft.sum(&SliceSizes::localFactors), 4);
    cost.gradients = bytesOf(trainable, precision.gradient);
    cost.steadyGradients = bytesOf(steadyElements(draft), precision.gradient);
    // The optimizer works on the master copy where there is one.
    if (!draft.rules().stepsInPieces)
        cost.stepTransient =
            bytesOf(trainable, (precision.master > 0 ? precision.master : precision.weight) * draft.setup.optimizer.stepTransient);
}

// --- gathered copies and buffers ---------------------------------------------------------------------------------

void addCopies(OptionCost& cost, const Draft& draft)
{
    const double width = draft.precision().gathered;
    if (draft.inRoot()) {
        cost.keptToEnd = bytesOf(draft.sum(&SliceSizes::padded), width);
        return;
    }
    for (const SliceSizes& slice : draft.slices) {
        const Bytes copy = bytesOf(slice.padded, width);
        if (!slice.sharded) {
            if (draft.copies())
                cost.gathered = std::max(cost.gathered, copy);
            continue;
        }
        if (draft.strategy.reshardAfterForward)
            cost.gathered = std::max(cost.gathered, copy);
        else
            cost.kept += copy;
        cost.gatherTemporary = std::max(cost.gatherTemporary, bytesOf(slice.acrossRows, width));
        const bool ahead = draft.rules().gatherAheadForward > 0 || draft.rules().forwardKeepsBuffer;
        if (ahead)
            cost.forwardBuffer = std::max(cost.forwardBuffer, copy);
        if (draft.gathersInBackward() && draft.rules().gatherAheadBackward > 0)
            cost.backwardBuffer = std::max(cost.backwardBuffer, copy);
    }
    if (draft.gathersInBackward())
        cost.gatheredBackward = cost.gathered;
}

void addReduction(OptionCost& cost, const Draft& draft)
{
    const PrecisionRecipe& precision = draft.precision();
    const std::int64_t padded = draft.largest(&SliceSizes::paddedTrainable);
    cost.fullGradient =
        draft.addsInPlace() || draft.facts.unit->root ? Bytes() : bytesOf(draft.largest(&SliceSizes::trainable), precision.gathered);
    if (padded == 0 || draft.ranks() == 1)
        return;
    // A collective in another type needs a buffer of that type.
    const bool converts = precision.reduced != precision.gathered;
    const Bytes buffer = draft.rules().scatterBuffers > 0   ? bytesOf(padded, precision.reduced) * draft.rules().scatterBuffers
                         : converts && !draft.addsInPlace() ? bytesOf(padded, precision.reduced)
                                                            : Bytes();
    if (precision.reduced != precision.weight && draft.rules().keepsAveraged)
        for (const SliceSizes& slice : draft.slices)
            if (!slice.sharded || draft.strategy.group < draft.ranks())
                cost.averaged += bytesOf(slice.localTrainable, precision.reduced);
    if (draft.inRoot()) {
        cost.finalBuffer = buffer;
        return;
    }
    if (draft.addsInPlace())
        return;
    const Bytes full = bytesOf(padded, precision.gathered);
    const Bytes reducing = buffer > Bytes() ? buffer : full;
    const Bytes fresh = cost.gradients;
    cost.reduceTransient = std::max(full + buffer, reducing + fresh + cost.averaged) + draft.facts.walk.input;
    if (draft.rules().reductionOverlapsNext)
        cost.reduceBuffer = reducing;
}

// --- activations -------------------------------------------------------------------------------------------------

void addActivations(OptionCost& cost, const Draft& draft)
{
    const UnitWalk& walk = draft.facts.walk;
    cost.input = walk.input;
    // Each slice but the first adds to an output that exists.
    const Bytes partialSum = draft.strategy.slices > 1 ? walk.output : Bytes();
    const Bytes ownBuffer = draft.rules().forwardKeepsBuffer ? cost.forwardBuffer : Bytes();
    const Bytes gathers = cost.gathered + ownBuffer + cost.innerForward() + partialSum;
    if (draft.strategy.recompute) {
        const Bytes input = draft.facts.startsRegion ? walk.input : Bytes();
        cost.saved = input;
        cost.recomputed = walk.saved + walk.casts - (walk.savesInput ? std::min(input, walk.saved) : Bytes());
        if (draft.rules().recomputeKeepsGathered && draft.strategy.slices > 1) // the other slices' copies come back with them
            cost.recomputed += bytesOf(draft.sum(&SliceSizes::padded), draft.precision().gathered) - cost.gathered;
        cost.forwardTransient = gathers + walk.forwardUnsaved;
        cost.recomputeTransient = cost.gathered + walk.forward + partialSum;
    } else {
        cost.saved = walk.saved;
        cost.kept += walk.casts;
        cost.forwardTransient = gathers + walk.forward;
    }

    Bytes beyond = draft.addsInPlace() ? walk.inPlace : walk.backward;
    Bytes gradient = draft.addsInPlace() ? walk.inPlaceGradient : walk.backwardGradient;
    if (draft.strategy.slices > 1) { // one operator: its gradient comes slice by slice
        const Bytes slice = bytesOf(draft.largest(&SliceSizes::trainable), draft.precision().gathered);
        beyond = beyond - gradient + slice;
        gradient = slice;
    }
    cost.backwardGradient = gradient;
    cost.backwardTransient = cost.gatheredBackward + cost.innerBackward() + beyond;
    cost.heldGradient = walk.heldGradient;
    if (!draft.facts.unit->root && draft.inRoot())
        cost.heldGradient += walk.gradient;
}

// --- time --------------------------------------------------------------------------------------------------------

/// Share of the unit's gradients that are added to a buffer instead of being reduced as they lie.
double movedGradients(const Draft& draft)
{
    const auto all = draft.sum(&SliceSizes::trainable);
    std::int64_t replicated = 0;
    for (const SliceSizes& slice : draft.slices)
        replicated += slice.sharded ? 0 : slice.trainable;
    return all > 0 ? static_cast<double>(replicated) / static_cast<double>(all) : 0;
}

void addCompute(OptionCost& cost, const Draft& draft)
{
    const auto microSteps = static_cast<double>(draft.setup.accumulation);
    for (const auto& [slices, time] : draft.facts.compute) {
        if (slices != draft.strategy.slices)
            continue;
        cost.forwardCompute = time.forward * microSteps;
        cost.backwardCompute = (time.backward + time.accumulate * movedGradients(draft)) * microSteps;
        if (draft.strategy.recompute)
            cost.backwardCompute += time.recompute * microSteps;
    }
    cost.step = optimizerStep(draft.sum(&SliceSizes::localTrainable), draft.setup);
}

void addCommunication(OptionCost& cost, const Draft& draft)
{
    const Cluster& cluster = draft.setup.cluster;
    const Profile* profile = draft.setup.profile.get();
    const bool rootDp = draft.rules().replicatedIsRootUnit && !draft.sharded();
    const std::int64_t group = rootDp ? draft.ranks() : draft.strategy.group;
    Seconds gather;
    Seconds scatter;
    Seconds average;
    for (const SliceSizes& slice : draft.slices) {
        const bool shards = slice.sharded || rootDp;
        const Bytes gradient = bytesOf(slice.paddedTrainable, draft.precision().reduced);
        if (shards) {
            gather += allGather(cluster, bytesOf(slice.padded, draft.precision().gathered), group, profile);
            scatter += reduceScatter(cluster, gradient, group, profile);
        }
        if (const std::int64_t parts = shards ? group : 1; parts < draft.ranks())
            average += allReduce(cluster, Bytes(ceilDiv(gradient.count(), parts)), parts, profile);
    }
    const auto microSteps = static_cast<double>(draft.setup.accumulation);
    const double uses = draft.inRoot() ? 1.0 : static_cast<double>(draft.facts.uses);
    cost.gatherForward = gather * (microSteps * uses);
    if (draft.strategy.reshardAfterForward && !draft.inRoot()) {
        // Later uses of tied parameters gather again whatever the first use needs.
        const double again = uses - (draft.gathersInBackward() ? 0.0 : 1.0);
        const bool thrice = draft.strategy.recompute && !draft.rules().recomputeKeepsGathered;
        cost.gatherBackward = gather * (microSteps * again * (thrice ? 2.0 : 1.0));
    }
    // Shards take up every micro-step's gradient; replicas are averaged once, after the last.
    cost.scatter = scatter * (microSteps * uses);
    cost.reduce = cost.scatter + average;
}

} // namespace

OptionCost optionCost(const Setup& setup, const UnitFacts& facts, const Strategy& strategy)
{
    const Draft draft{setup, facts, strategy, sliceSizes(setup, *facts.unit, strategy)};
    OptionCost cost;
    cost.strategy = strategy;
    addStates(cost, draft);
    addCopies(cost, draft);
    addReduction(cost, draft);
    addActivations(cost, draft);
    addCompute(cost, draft);
    addCommunication(cost, draft);
    return cost;
}

} // namespace loadline
