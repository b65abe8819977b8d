// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/overlap_labels.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace loadline {

/// A part of all choices: those whose largest transient is below `threshold`; each is charged `transient`, which none undercuts
/// that an earlier piece does not cover.
struct OverlapPiece {
    std::int64_t threshold = std::numeric_limits<std::int64_t>::max();
    std::int64_t transient = 0;
    double value = 0; ///< least of seconds + price x persist over the piece

    /// Below the seconds of every choice of the piece that fits.
    [[nodiscard]] double bound(double price, std::int64_t capacity) const
    {
        return value + price * static_cast<double>(transient - capacity);
    }
};

/// The Lagrangean relaxation of memory at one price.
struct OverlapRelaxed {
    double price = 0;
    double bound = -std::numeric_limits<double>::infinity(); ///< no choice that fits takes fewer seconds
    std::vector<OverlapPiece> pieces;
    std::vector<std::uint32_t> choice; ///< that attains the bound; it may need more than the capacity
    std::int64_t needs = 0;            ///< bytes of `choice`
    double seconds = 0;                ///< of `choice`
};

struct OverlapDual {
    OverlapRelaxed best;              ///< at the price with the highest bound
    std::vector<std::uint32_t> over;  ///< choice just above the capacity; empty if the fastest fits
    std::vector<std::uint32_t> under; ///< choice just within it
    int passes = 0;
};

/// Pieces are told apart as long as that raises the bound, and further up to `upper`: what is beyond it need not be.
OverlapRelaxed relaxOverlap(OverlapLabels& labels, double price, double upper = 0);

/// The highest Lagrangean bound, by the chord between a choice above the capacity and `fits`, which must be within it.
OverlapDual solveOverlapDual(OverlapLabels& labels, std::vector<std::uint32_t> fits, std::int64_t workLimit);

} // namespace loadline
