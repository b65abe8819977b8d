// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/cost_table.hpp"
#include "core/cost/footprint.hpp"
#include "core/cost/setup.hpp"

#include <vector>

namespace loadline {

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

/// `prints` has one entry per operator of the model. Gradients are in the type of the gathered copy.
/// `gradients[op]`: full gradient that this operator makes in backward. `holdsGradient[op]`: it is the first to make it, and it stays
/// to the end of backward (root unit).
UnitWalk walkUnit(const Setup& setup, const Unit& unit, const std::vector<Footprint>& prints, const std::vector<Bytes>& gradients,
                  const std::vector<bool>& holdsGradient);

} // namespace loadline
