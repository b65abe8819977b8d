// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/overlap_dual.hpp"
#include "core/plan/overlap_incumbent.hpp"

#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace loadline {

/// Seconds are sums of rounded numbers: relative, this close is equal.
inline constexpr double kProvenSeconds = 1e-9;

/// One memory form at one budget, with some options of single units ruled out: a leaf of the branching, with the bound that is proven of
/// it.
struct OverlapLeaf {
    const MemoryForm* form = nullptr;
    std::unique_ptr<OverlapLabels> labels;
    OverlapDual dual;
    std::vector<double> pieceBounds; ///< of dual.best.pieces

    [[nodiscard]] const OverlapMemory& memory() const { return labels->memory(); }
    /// Below the seconds of every choice of the leaf that fits.
    [[nodiscard]] double bound() const
    {
        double least = std::numeric_limits<double>::infinity();
        for (const double piece : pieceBounds)
            least = std::min(least, piece);
        return least;
    }
};

/// Solves the leaf's dual. Empty: nothing fits its form. `smallest`: a choice with little memory, to begin from.
/// `upper`: seconds of a choice that is known to fit.
std::optional<OverlapLeaf> makeLeaf(const OverlapChain& chain, const MemoryForm& form, OverlapMemory memory, Places smallest, double upper,
                                    std::int64_t work);

/// The two halves of a leaf, split at the unit that occurs once and about which the choices above and within the capacity differ most:
/// its lean options here, its others there. Empty: no such unit is worth it for a gap of as many seconds.
std::vector<OverlapMemory> branchesOf(const OverlapLeaf& leaf, double gap);

} // namespace loadline
