// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/overlap_dual.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace loadline {

struct BeamRequest {
    OverlapPiece piece;
    double price = 0;
    double upper = 0;               ///< seconds of a choice that is known to fit
    std::size_t width = 256;        ///< states kept at each unit
    OptionLists lists;              ///< options it may take
    std::int64_t work = 10'000'000; ///< states made before it gives up
    /// Persist of the units above each unit that states must stay near, within `window`; empty: anywhere.
    std::vector<std::int64_t> line;
    std::int64_t window = 0;
    /// Takes a complete choice, returns the seconds of the best known one.
    std::function<double(const std::vector<std::uint32_t>&)> offer;
};

struct BeamResult {
    /// No choice of the piece out of the lists that fits is faster than this or than `upper`; meaningless with a line.
    double bound = std::numeric_limits<double>::infinity();
    bool complete = false; ///< nothing was dropped for want of room
};

/// Walks the chain from its last unit to its first with a limited number of partial choices. The label table completes each of them, so
/// that every state is a whole choice, and bounds it, so that what cannot beat `upper` is dropped.
BeamResult walkBeam(OverlapLabels& labels, const BeamRequest& request);

} // namespace loadline
