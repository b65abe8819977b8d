// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/cost_table.hpp"

#include "core/cost/option_choices.hpp"
#include "core/cost/option_cost.hpp"
#include "core/cost/option_sizes.hpp"
#include "core/cost/unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace loadline {
namespace {

/// Sums of bytes stay below this, so that no event of the timeline can overflow.
constexpr double kMostTotal = 1152921504606846976.0 / 4; // 2^58

constexpr std::int64_t kMostRanks = 1'000'000;

std::optional<Error> faultOf(const Setup& setup)
{
    if (!setup.model || setup.model->operators.empty())
        return invalidInput("The model has no operator to plan; describe at least one.");
    if (setup.batch < 1)
        return invalidInput(fmt::format("The batch is {} sequences; ask for at least 1.", setup.batch));
    if (setup.sequence < 1)
        return invalidInput(fmt::format("The sequence is {} tokens long; ask for at least 1.", setup.sequence));
    if (setup.accumulation < 1)
        return invalidInput(fmt::format("Accumulation is {} micro-steps; ask for at least 1.", setup.accumulation));
    if (setup.recomputedBlocks < 0)
        return invalidInput(fmt::format("{} blocks cannot be recomputed; ask for 0 or more.", setup.recomputedBlocks));
    if (setup.recomputedPart != RecomputedPart::Block && setup.unit == UnitKind::Block)
        return invalidInput("With --unit block a block is recomputed whole; take --unit part or operator to recompute parts of it.");
    if (setup.cluster.nodes < 1 || setup.cluster.gpusPerNode < 1 || setup.cluster.nodes > kMostRanks ||
        setup.cluster.gpusPerNode > kMostRanks || setup.cluster.ranks() > kMostRanks)
        return invalidInput(fmt::format("Cluster {} has {} x {} GPUs; between 1 and {} can be planned.", setup.cluster.name,
                                        setup.cluster.nodes, setup.cluster.gpusPerNode, kMostRanks));
    for (const int slices : setup.granularities)
        if (slices < 1 || slices > 1024)
            return invalidInput(fmt::format("A granularity of {} slices cannot be; ask for 1 to 1024.", slices));
    return std::nullopt;
}

std::optional<Error> faultOf(const PrecisionRecipe& precision, const OptimizerRecipe& optimizer)
{
    for (const double bytes : {precision.weight, precision.master, precision.gathered, precision.gradient, precision.reduced,
                               stateBytes(precision, optimizer), optimizer.stepTransient})
        if (!(bytes >= 0 && bytes <= 1024))
            return invalidInput(fmt::format("Precision {} with optimizer {} has {} bytes per parameter in one term; give 0 to 1024.",
                                            precision.name, optimizer.name, bytes));
    return std::nullopt;
}

/// Elements of a parameter once its shards are padded to whole ranks.
double paddedElements(const Parameter& parameter, std::int64_t ranks)
{
    double rest = 1;
    for (std::size_t i = 1; i < parameter.shape.size(); ++i)
        rest *= static_cast<double>(std::max<std::int64_t>(parameter.shape[i], 1));
    const auto rows = static_cast<double>(parameter.shape.empty() ? 1 : parameter.shape[0]);
    return rest * (rows + static_cast<double>(ranks));
}

std::optional<Error> faultOf(const Setup& setup, const std::vector<Footprint>& prints)
{
    const PrecisionRecipe& precision = setup.precision;
    const double perParameter = 8 * (precision.weight + precision.master + precision.gathered + precision.gradient + precision.reduced +
                                     stateBytes(precision, setup.optimizer) + 8 * setup.optimizer.stepTransient);
    double bytes = 0;
    for (std::size_t i = 0; i < prints.size(); ++i) {
        bytes += 16 * static_cast<double>(setup.batch) * static_cast<double>(setup.model->operators[i].tokens.of(setup.sequence));
        for (const Parameter& parameter : setup.model->operators[i].parameters) {
            if (std::any_of(parameter.shape.begin(), parameter.shape.end(), [](std::int64_t extent) { return extent < 0; }))
                return invalidInput(fmt::format("Parameter {} has a negative size; give its shape as PyTorch stores it.", parameter.name));
            bytes += paddedElements(parameter, setup.cluster.ranks()) * perParameter;
        }
        const Footprint& print = prints[i];
        for (const Bytes part :
             {print.saved, print.weightCasts, print.input, print.output, print.forwardWorkspace, print.backwardWorkspace})
            bytes += 4 * static_cast<double>(part.count());
    }
    if (!(bytes <= kMostTotal))
        return invalidInput(fmt::format("Model {} at batch {} and sequence {} needs more than 2^58 bytes on one rank; ask for less.",
                                        setup.model->name, setup.batch, setup.sequence));
    return std::nullopt;
}

/// Inputs and labels of one micro-step: token ids as PyTorch has them (int64), or an image in fp32.
Bytes inputBytes(const Setup& setup)
{
    const Operator& first = setup.model->operators.front();
    const Operator& last = setup.model->operators.back();
    Bytes inputs = Bytes(8) * (setup.batch * first.tokens.of(setup.sequence));
    if (const auto* image = std::get_if<ConvolutionTraits>(&first.traits))
        inputs = Bytes(4) * (setup.batch * image->inputPerSequence);
    return inputs + Bytes(8) * (setup.batch * last.tokens.of(setup.sequence));
}

/// Everything that is computed once for a setup and read for every unit.
struct Context {
    const Setup& setup;
    std::vector<OperatorFacts> facts;
    std::vector<std::int64_t> uses; ///< by unit: itself and its borrowers
};

std::vector<int> granularitiesOf(const std::vector<Strategy>& strategies)
{
    std::vector<int> slices;
    for (const Strategy& strategy : strategies)
        if (std::find(slices.begin(), slices.end(), strategy.slices) == slices.end())
            slices.push_back(strategy.slices);
    return slices;
}

std::vector<OptionCost> unitOptions(const Context& context, const std::vector<Unit>& units, std::size_t index,
                                    const std::vector<std::int64_t>& groups, bool& estimated)
{
    const Unit& unit = units[index];
    const auto strategies = offeredStrategies(context.setup, unit, context.uses[index] > 1, groups);
    UnitFacts facts;
    facts.unit = &unit;
    facts.walk = walkUnit(context.setup, unit, context.facts);
    facts.uses = context.uses[index];
    facts.startsRegion = startsRegion(context.setup, units, index);
    estimated = false;
    for (const int slices : granularitiesOf(strategies)) {
        ComputeTime sum;
        sum.estimated = false;
        for (const std::size_t op : unit.operators) {
            const ComputeTime time = computeTime(context.setup.model->operators[op], context.facts[op].print, slices, context.setup);
            sum.forward += time.forward;
            sum.backward += time.backward;
            sum.recompute += time.recompute;
            sum.accumulate += time.accumulate;
            sum.estimated = sum.estimated || time.estimated;
        }
        estimated = estimated || sum.estimated;
        facts.compute.emplace_back(slices, sum);
    }
    std::vector<OptionCost> options;
    options.reserve(strategies.size());
    for (const Strategy& strategy : strategies)
        options.push_back(optionCost(context.setup, facts, strategy));
    return options;
}

/// Numbers that decide a unit's options, but for its operators' traits and parameters, which `alike` compares.
std::uint64_t signatureOf(const Context& context, const std::vector<Unit>& units, std::size_t index)
{
    std::uint64_t hash = 1469598103934665603ULL; // FNV-1a
    const auto mix = [&hash](std::int64_t value) {
        hash = (hash ^ static_cast<std::uint64_t>(value)) * 1099511628211ULL;
        hash ^= hash >> 29U;
    };
    const Unit& unit = units[index];
    mix(unit.parameters);
    mix(context.uses[index]);
    mix(isRecomputed(context.setup, unit) ? 1 : 0);
    mix(startsRegion(context.setup, units, index) ? 1 : 0);
    mix(unit.root ? 1 : 0);
    for (const std::size_t op : unit.operators) {
        const auto& [print, residual, gradient, heldToEnd] = context.facts[op];
        for (const Bytes bytes : {print.saved, print.weightCasts, print.input, print.output, print.forwardWorkspace,
                                  print.backwardWorkspace, print.forwardTraffic, residual, gradient})
            mix(bytes.count());
        mix(static_cast<std::int64_t>(context.setup.model->operators[op].traits.index()));
        mix(heldToEnd ? 1 : 0);
    }
    return hash;
}

bool sameParameters(const Operator& a, const Operator& b)
{
    return std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(), b.parameters.end(),
                      [](const Parameter& p, const Parameter& q) { return p.shape == q.shape && p.trainable == q.trainable; });
}

bool sameFacts(const OperatorFacts& a, const OperatorFacts& b)
{
    const Footprint& p = a.print;
    const Footprint& q = b.print;
    return p.saved == q.saved && p.weightCasts == q.weightCasts && p.input == q.input && p.output == q.output &&
           p.forwardWorkspace == q.forwardWorkspace && p.backwardWorkspace == q.backwardWorkspace && p.forwardFlops == q.forwardFlops &&
           p.backwardFlops == q.backwardFlops && p.forwardTraffic == q.forwardTraffic && a.residual == b.residual &&
           a.gradient == b.gradient && a.heldToEnd == b.heldToEnd;
}

/// Units whose options need no second computation: equal in all that decides them.
bool alike(const Context& context, const std::vector<Unit>& units, std::size_t a, std::size_t b)
{
    const Unit& left = units[a];
    const Unit& right = units[b];
    const auto starts = [&](std::size_t i) { return startsRegion(context.setup, units, i); };
    // A profile goes by operator, so with one only repeats of the whole table's numbers are found (shareEqualClasses).
    if (context.setup.profile || left.root || right.root || left.operators.size() != right.operators.size() ||
        context.uses[a] != context.uses[b] || isRecomputed(context.setup, left) != isRecomputed(context.setup, right) ||
        starts(a) != starts(b) || left.borrows.empty() != right.borrows.empty() || left.parameters != right.parameters)
        return false;
    const auto& operators = context.setup.model->operators;
    for (std::size_t k = 0; k < left.operators.size(); ++k) {
        const std::size_t i = left.operators[k];
        const std::size_t j = right.operators[k];
        if (!sameFacts(context.facts[i], context.facts[j]) || operators[i].traits != operators[j].traits ||
            !sameParameters(operators[i], operators[j]))
            return false;
    }
    return true;
}

std::size_t classOf(std::vector<std::vector<OptionCost>>& classes, std::unordered_multimap<std::uint64_t, std::size_t>& byDigest,
                    std::vector<OptionCost> options)
{
    std::uint64_t digest = options.size();
    for (const OptionCost& option : options)
        for (const std::int64_t value :
             {option.states().count(), option.saved.count(), option.backwardTransient.count(), option.forwardTransient.count()})
            digest = (digest ^ static_cast<std::uint64_t>(value)) * 1099511628211ULL;
    const auto [from, to] = byDigest.equal_range(digest);
    for (auto found = from; found != to; ++found)
        if (classes[found->second] == options)
            return found->second;
    classes.push_back(std::move(options));
    byDigest.emplace(digest, classes.size() - 1);
    return classes.size() - 1;
}

void fillClasses(CostTable& table, const Context& context, const std::vector<std::int64_t>& groups)
{
    std::unordered_multimap<std::uint64_t, std::size_t> seen; // signature -> first unit like it
    std::unordered_multimap<std::uint64_t, std::size_t> byDigest;
    for (std::size_t i = 0; i < table.units.size(); ++i) {
        const std::uint64_t signature = signatureOf(context, table.units, i);
        const auto [from, to] = seen.equal_range(signature);
        const auto twin = std::find_if(from, to, [&](const auto& entry) { return alike(context, table.units, entry.second, i); });
        if (twin != to) {
            table.units[i].costClass = table.units[twin->second].costClass;
            table.units[i].estimated = table.units[twin->second].estimated;
            continue;
        }
        bool estimated = true;
        auto options = unitOptions(context, table.units, i, groups, estimated);
        table.units[i].costClass = classOf(table.classOptions, byDigest, std::move(options));
        table.units[i].estimated = estimated;
        seen.emplace(signature, i);
    }
}

} // namespace

Result<CostTable> buildCostTable(const Setup& setup)
{
    if (auto fault = faultOf(setup))
        return *std::move(fault);
    if (auto fault = faultOf(setup.precision, setup.optimizer))
        return *std::move(fault);
    const auto groups = offeredGroups(setup);
    if (!groups)
        return groups.error();
    const auto prints = footprints(*setup.model, {setup.batch, setup.sequence, setup.precision.compute, setup.attention, setup.dropout});
    if (auto fault = faultOf(setup, prints))
        return *std::move(fault);
    auto units = buildUnits(setup);
    if (!units)
        return units.error();

    CostTable table;
    table.setup = setup;
    table.units = *std::move(units);
    table.overhead = setup.overhead.value_or(setup.cluster.device.overhead);
    table.constant = inputBytes(setup);

    Context context{setup, operatorFacts(setup, table.units, prints), std::vector<std::int64_t>(table.units.size(), 1)};
    for (const Unit& unit : table.units)
        for (const std::size_t owner : unit.borrows)
            ++context.uses[owner];
    fillClasses(table, context, *groups);
    return table;
}

} // namespace loadline
