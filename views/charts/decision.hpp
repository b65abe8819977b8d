// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/strategy.hpp"

#include <QColor>
#include <QRectF>

#include <cstdint>

class QPainter;

namespace loadline {

struct Palette;

/// How a strategy looks. State is never colour alone: plain, diagonal, crossed, or segments filled from the top.
struct Decision {
    enum class Kind : std::uint8_t { None, Replicated, Sharded, GroupSharded, Split };
    Kind kind = Kind::None; ///< None: there is nothing to decide (no parameters)
    int slices = 1;
    int shardedSlices = 0;
    bool recompute = false; ///< drawn as a cut corner
    friend bool operator==(const Decision&, const Decision&) = default;
};

Decision decisionOf(const Strategy& strategy, std::int64_t ranks, std::int64_t parameters);

QColor decisionColor(Decision::Kind kind, const Palette& palette);

/// Fills `area` with colour and pattern. Diagonals lie on one grid of the whole picture, so that neighbours join.
void drawDecision(QPainter& painter, const QRectF& area, const Decision& decision, const Palette& palette);

} // namespace loadline
