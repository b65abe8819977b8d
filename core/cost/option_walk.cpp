// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/option_walk.hpp"

#include "core/cost/option_sizes.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace loadline {
namespace {

/// Whether the tensor that a region's first operator reads is among those that it saves: an RMSNorm in half precision
/// saves an fp32 copy instead (docs/activations.md, "Norms").
bool savesItsInput(const Operator& op, ComputeMode mode)
{
    if (const auto* norm = std::get_if<NormTraits>(&op.traits))
        return norm->savesInput && (norm->norm == NormKind::Layer || mode == ComputeMode::Fp32 || mode == ComputeMode::AutocastBf16);
    if (const auto* linear = std::get_if<LinearTraits>(&op.traits))
        return linear->savesInput;
    return false;
}

void walkForward(UnitWalk& walk, const Unit& unit, const std::vector<OperatorFacts>& facts)
{
    Bytes peak;
    Bytes soFar;
    for (const std::size_t op : unit.operators) {
        const Footprint& print = facts[op].print;
        soFar += print.saved + print.weightCasts;
        peak = std::max(peak, soFar + print.output + print.forwardWorkspace);
        walk.forwardUnsaved =
            std::max(walk.forwardUnsaved, print.input + print.saved + print.weightCasts + print.output + print.forwardWorkspace);
        walk.saved += print.saved;
        walk.casts += print.weightCasts;
    }
    walk.forward = peak - soFar;
}

void walkBackward(UnitWalk& walk, const Unit& unit, const std::vector<OperatorFacts>& facts)
{
    const Bytes all = walk.saved + walk.casts;
    Bytes left = all;
    Bytes made;
    Bytes peak;
    Bytes inPlacePeak;
    for (auto op = unit.operators.rbegin(); op != unit.operators.rend(); ++op) {
        const auto& [print, residual, gradient, heldToEnd] = facts[*op];
        const Bytes alive = left + print.backwardWorkspace + residual;
        made += gradient;
        if (alive + made > peak) {
            peak = alive + made;
            walk.backwardGradient = made;
        }
        if (alive + gradient > inPlacePeak) {
            inPlacePeak = alive + gradient;
            walk.inPlaceGradient = gradient;
        }
        if (heldToEnd)
            walk.heldGradient += gradient;
        left -= print.saved + print.weightCasts;
    }
    walk.gradient = made;
    walk.backward = peak - all;
    walk.inPlace = inPlacePeak - all;
}

void addGradients(std::vector<OperatorFacts>& facts, const Setup& setup, const std::vector<Unit>& units)
{
    const auto& operators = setup.model->operators;
    std::unordered_map<std::string_view, std::size_t> rooted; // name -> operator, of the root unit's
    for (const Unit& unit : units)
        if (unit.root)
            for (const std::size_t op : unit.holds)
                rooted.emplace(operators[op].name, op);
    std::vector<bool> made(operators.size(), false);
    for (std::size_t i = operators.size(); i-- > 0;) {
        const Operator& op = operators[i];
        std::int64_t elements = op.trainableCount();
        const auto own = rooted.find(op.sharesWith.empty() ? op.name : op.sharesWith);
        if (own != rooted.end()) {
            if (!op.sharesWith.empty())
                elements += operators[own->second].trainableCount();
            facts[i].heldToEnd = !made[own->second];
            if (made[own->second])
                elements *= 2;
            made[own->second] = true;
        }
        facts[i].gradient = bytesOf(elements, setup.precision.gathered);
    }
}

} // namespace

std::vector<OperatorFacts> operatorFacts(const Setup& setup, const std::vector<Unit>& units, const std::vector<Footprint>& prints)
{
    const auto& operators = setup.model->operators;
    std::vector<OperatorFacts> facts(prints.size());
    Bytes residual;
    for (std::size_t i = 0; i < prints.size(); ++i) {
        facts[i].print = prints[i];
        const bool inLayer = operators[i].place == Place::Layer;
        if (i == 0 || operators[i - 1].place != Place::Layer || operators[i - 1].layer != operators[i].layer)
            residual = prints[i].input;
        if (inLayer)
            facts[i].residual = residual;
    }
    addGradients(facts, setup, units);
    return facts;
}

UnitWalk walkUnit(const Setup& setup, const Unit& unit, const std::vector<OperatorFacts>& facts)
{
    UnitWalk walk;
    if (unit.operators.empty())
        return walk;
    const std::size_t first = unit.operators.front();
    walk.input = facts[first].print.input;
    walk.output = facts[unit.operators.back()].print.output;
    walk.savesInput = savesItsInput(setup.model->operators[first], setup.precision.compute);
    walkForward(walk, unit, facts);
    walkBackward(walk, unit, facts);
    return walk;
}

} // namespace loadline
