// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/charts/decision.hpp"

#include "views/palette.hpp"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace loadline {
namespace {

constexpr double kHatch = 5.0; ///< pixels between diagonals

void drawDiagonals(QPainter& painter, const QRectF& area, bool rising)
{
    // Lines x + y = k * kHatch (or x - y): the grid belongs to the picture and not to the cell.
    const double low = rising ? area.left() + area.top() : area.left() - area.bottom();
    const double high = rising ? area.right() + area.bottom() : area.right() - area.top();
    for (double k = std::ceil(low / kHatch) * kHatch; k <= high; k += kHatch) {
        if (rising)
            painter.drawLine(QPointF(k - area.top(), area.top()), QPointF(k - area.bottom(), area.bottom()));
        else
            painter.drawLine(QPointF(k + area.top(), area.top()), QPointF(k + area.bottom(), area.bottom()));
    }
}

void drawSegments(QPainter& painter, const QRectF& area, const Decision& decision, const Palette& palette)
{
    // More than eight segments cannot be told apart in a strip: the share is drawn then.
    const int parts = std::min(decision.slices, 8);
    const int filled =
        std::clamp(static_cast<int>(std::lround(double(decision.shardedSlices) * parts / decision.slices)), 1, std::max(parts - 1, 1));
    QColor empty = palette.split;
    empty.setAlphaF(0.22F);
    for (int i = 0; i < parts; ++i) {
        const double top = area.top() + area.height() * i / parts;
        const double bottom = area.top() + area.height() * (i + 1) / parts;
        const double gap = area.height() / parts > 3 ? 1 : 0.5;
        painter.fillRect(QRectF(area.left(), top, area.width(), bottom - top - (i + 1 < parts ? gap : 0)),
                         i < filled ? palette.split : empty);
    }
}

} // namespace

Decision decisionOf(const Strategy& strategy, std::int64_t ranks, std::int64_t parameters)
{
    Decision decision;
    decision.recompute = strategy.recompute;
    if (parameters == 0)
        return decision;
    decision.slices = strategy.slices;
    decision.shardedSlices = strategy.shardedSlices;
    if (strategy.replicated())
        decision.kind = Decision::Kind::Replicated;
    else if (strategy.shardedSlices < strategy.slices)
        decision.kind = Decision::Kind::Split;
    else
        decision.kind = strategy.group == ranks ? Decision::Kind::Sharded : Decision::Kind::GroupSharded;
    return decision;
}

QColor decisionColor(Decision::Kind kind, const Palette& palette)
{
    switch (kind) {
    case Decision::Kind::Replicated:
        return palette.replicated;
    case Decision::Kind::Sharded:
    case Decision::Kind::GroupSharded:
        return palette.sharded;
    case Decision::Kind::Split:
        return palette.split;
    case Decision::Kind::None:
        break;
    }
    return palette.field;
}

void drawDecision(QPainter& painter, const QRectF& area, const Decision& decision, const Palette& palette)
{
    painter.save();
    if (decision.recompute && area.width() >= 5) {
        const double cut = std::min({5.0, area.width() / 2, area.height() / 2});
        QPainterPath path(area.topLeft());
        path.lineTo(area.right() - cut, area.top());
        path.lineTo(area.right(), area.top() + cut);
        path.lineTo(area.bottomRight());
        path.lineTo(area.bottomLeft());
        path.closeSubpath();
        painter.setClipPath(path, Qt::IntersectClip);
    } else {
        painter.setClipRect(area, Qt::IntersectClip);
    }
    if (decision.kind == Decision::Kind::Split) {
        drawSegments(painter, area, decision, palette);
    } else {
        painter.fillRect(area, decisionColor(decision.kind, palette));
        if (decision.kind == Decision::Kind::Sharded || decision.kind == Decision::Kind::GroupSharded) {
            painter.setPen(QPen(QColor(255, 255, 255, palette.dark ? 105 : 125), 1.2));
            painter.setRenderHint(QPainter::Antialiasing);
            drawDiagonals(painter, area, true);
            if (decision.kind == Decision::Kind::GroupSharded)
                drawDiagonals(painter, area, false);
        }
    }
    painter.restore();
}

} // namespace loadline
