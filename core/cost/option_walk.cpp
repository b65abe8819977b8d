// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/option_walk.hpp"

#include <algorithm>

namespace loadline {
namespace {

/// Whether the tensor that a region's first operator reads is among those that it saves: an RMSNorm in half precision
/// saves an fp32 copy instead (truth of tests/data/truth/tensors).
bool savesItsInput(const Operator& op, ComputeMode mode)
{
    if (const auto* norm = std::get_if<NormTraits>(&op.traits))
        return norm->savesInput && (norm->norm == NormKind::Layer || mode == ComputeMode::Fp32 || mode == ComputeMode::AutocastBf16);
    if (const auto* linear = std::get_if<LinearTraits>(&op.traits))
        return linear->savesInput;
    return false;
}

void walkForward(UnitWalk& walk, const Unit& unit, const std::vector<Footprint>& prints)
{
    Bytes peak;
    Bytes soFar;
    for (const std::size_t op : unit.operators) {
        const Footprint& print = prints[op];
        soFar += print.saved + print.weightCasts;
        peak = std::max(peak, soFar + print.output + print.forwardWorkspace);
        walk.forwardUnsaved =
            std::max(walk.forwardUnsaved, print.input + print.saved + print.weightCasts + print.output + print.forwardWorkspace);
        walk.saved += print.saved;
        walk.casts += print.weightCasts;
    }
    walk.forward = peak - soFar;
}

void walkBackward(UnitWalk& walk, const Unit& unit, const std::vector<Footprint>& prints, const std::vector<Bytes>& gradients)
{
    const Bytes all = walk.saved + walk.casts;
    Bytes left = all;
    Bytes made;
    Bytes peak;
    Bytes inPlacePeak;
    for (auto op = unit.operators.rbegin(); op != unit.operators.rend(); ++op) {
        const Footprint& print = prints[*op];
        made += gradients[*op];
        if (const Bytes now = left + made + print.backwardWorkspace; now > peak) {
            peak = now;
            walk.backwardGradient = made;
        }
        if (const Bytes now = left + gradients[*op] + print.backwardWorkspace; now > inPlacePeak) {
            inPlacePeak = now;
            walk.inPlaceGradient = gradients[*op];
        }
        left -= print.saved + print.weightCasts;
    }
    walk.gradient = made;
    walk.backward = peak - all;
    walk.inPlace = inPlacePeak - all;
}

} // namespace

UnitWalk walkUnit(const Setup& setup, const Unit& unit, const std::vector<Footprint>& prints, const std::vector<Bytes>& gradients,
                  const std::vector<bool>& holdsGradient)
{
    UnitWalk walk;
    if (unit.operators.empty())
        return walk;
    const std::size_t first = unit.operators.front();
    walk.input = prints[first].input;
    walk.output = prints[unit.operators.back()].output;
    walk.savesInput = savesItsInput(setup.model->operators[first], setup.precision.compute);
    walkForward(walk, unit, prints);
    walkBackward(walk, unit, prints, gradients);
    for (const std::size_t op : unit.operators)
        if (holdsGradient[op])
            walk.heldGradient += gradients[op];
    return walk;
}

} // namespace loadline
