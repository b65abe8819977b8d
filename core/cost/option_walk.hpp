// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/cost_table.hpp"
#include "core/cost/footprint.hpp"
#include "core/cost/setup.hpp"

#include <vector>

namespace loadline {

/// What one operator does to memory in one micro-step, on one rank and unsharded.
struct OperatorFacts {
    Footprint print;
    Bytes residual;         ///< gradient of the residual stream, alive beside its backward (operators of a layer)
    Bytes gradient;         ///< full gradients that its backward makes, in the type of the gathered copy
    bool heldToEnd = false; ///< they are the root unit's and stay to the end of backward
};

/// One entry per operator of the model. A parameter used twice under one root unit: the later use makes the gradient that
/// is held; at an earlier use its own gradient and the sum are alive beside it (tracker's peak of gpt2-xl, plan c, mp_bf16).
std::vector<OperatorFacts> operatorFacts(const Setup& setup, const std::vector<Unit>& units, const std::vector<Footprint>& prints);

/// One unit's operators walked through forward and backward: peaks beyond what the unit saves. Same for every strategy.
struct UnitWalk {
    Bytes saved;             ///< from forward to backward
    Bytes casts;             ///< autocast's weight copies, likewise
    Bytes input;             ///< of its first operator
    Bytes output;            ///< of its last operator
    bool savesInput = false; ///< `input` is part of `saved`
    Bytes forward;           ///< beyond saved, casts: output and workspace of the operator at the peak
    Bytes forwardUnsaved;    ///< a forward that saves nothing (recomputed later): all that is alive at its peak
    Bytes gradient;          ///< all full gradients of the operators that run here
    Bytes heldGradient;      ///< of them, those of root parameters that no later operator uses
    Bytes backward;          ///< gradients pile up: peak of activations left + gradients so far + workspace, beyond saved, casts
    Bytes backwardGradient;  ///< full gradients alive at that peak
    Bytes inPlace;           ///< gradients are added to a buffer that exists: likewise, with one operator's gradient at a time
    Bytes inPlaceGradient;
};

/// Thread-safe. `facts` has one entry per operator of the model.
UnitWalk walkUnit(const Setup& setup, const Unit& unit, const std::vector<OperatorFacts>& facts);

} // namespace loadline
