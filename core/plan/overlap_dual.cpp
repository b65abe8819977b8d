// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/overlap_dual.hpp"

#include <utility>

namespace loadline {
namespace {

/// More pieces cost a pass each and rarely matter; the rest shares the last one's value and the least transient.
constexpr std::size_t kMostPieces = 40;
constexpr int kMostPasses = 40;

bool anyEmpty(const OptionLists& lists, const OverlapMemory& memory)
{
    return std::any_of(memory.typeOfUnit.begin(), memory.typeOfUnit.end(), [&](std::uint32_t type) { return lists[type].empty(); });
}

/// A choice with its two figures, for the chord.
struct Point {
    std::vector<std::uint32_t> choice;
    double seconds = 0;
    std::int64_t needs = 0;
};

} // namespace

OverlapRelaxed relaxOverlap(OverlapLabels& labels, double price, double upper)
{
    const OverlapMemory& memory = labels.memory();
    OverlapRelaxed result;
    result.price = price;
    result.bound = std::numeric_limits<double>::infinity();
    OverlapPiece piece;
    while (true) {
        const OptionLists lists = labels.lists(price, piece.threshold, 0);
        if (anyEmpty(lists, memory))
            break;
        LabelTable table = labels.run(price, lists);
        const auto sum = memory.of(table.choice);
        piece.value = table.value;
        piece.transient = sum.transient;
        if (const double bound = piece.bound(price, memory.capacity); bound < result.bound) {
            result.bound = bound;
            result.needs = sum.total();
            result.choice = std::move(table.choice);
        }
        result.pieces.push_back(piece);
        if (memory.leastTransient >= piece.transient)
            break;
        // The rest is a piece too, also where it cannot lower the bound now: other pieces' bounds will rise past it.
        const OverlapPiece rest{piece.transient, memory.leastTransient, piece.value};
        const double bound = rest.bound(price, memory.capacity);
        if (bound >= std::max(result.bound, upper) || result.pieces.size() >= kMostPieces) {
            result.bound = std::min(result.bound, bound);
            result.pieces.push_back(rest);
            break;
        }
        piece.threshold = piece.transient;
    }
    if (!result.choice.empty())
        result.seconds = labels.chain().seconds(result.choice);
    return result;
}

OverlapDual solveOverlapDual(OverlapLabels& labels, std::vector<std::uint32_t> fits, std::int64_t workLimit)
{
    const std::int64_t capacity = labels.memory().capacity;
    OverlapDual dual;
    dual.best = relaxOverlap(labels, 0);
    dual.passes = 1;
    if (dual.best.needs <= capacity) {
        dual.under = dual.best.choice;
        return dual;
    }
    Point over{dual.best.choice, dual.best.seconds, dual.best.needs};
    Point under;
    under.seconds = labels.chain().seconds(fits);
    under.needs = labels.memory().of(fits).total();
    under.choice = std::move(fits);
    while (dual.passes < kMostPasses && labels.work() < workLimit) {
        const auto width = static_cast<double>(over.needs - under.needs);
        const double price = (under.seconds - over.seconds) / width;
        if (!(price > 0) || width <= 0)
            break;
        const double chord = over.seconds + price * static_cast<double>(over.needs - capacity);
        OverlapRelaxed found = relaxOverlap(labels, price);
        ++dual.passes;
        const bool nothingBelow = found.bound >= chord - 1e-12 * chord;
        Point point{found.choice, found.seconds, found.needs};
        const bool better = found.bound > dual.best.bound;
        if (better)
            dual.best = std::move(found);
        if (nothingBelow || point.choice.empty())
            break;
        (point.needs <= capacity ? under : over) = std::move(point);
    }
    dual.over = std::move(over.choice);
    dual.under = std::move(under.choice);
    return dual;
}

} // namespace loadline
