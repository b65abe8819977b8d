// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/overlap_leaf.hpp"

#include <utility>

namespace loadline {
namespace {

/// `places` with every unit in a form's allowed option of least persist where its own is not allowed.
void moveToAllowed(const OverlapMemory& memory, Places& places)
{
    for (std::size_t unit = 0; unit < places.size(); ++unit) {
        const OverlapMemory::Type& type = memory.types[memory.typeOfUnit[unit]];
        if (type.allows(places[unit]))
            continue;
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (std::uint32_t place = 0; place < type.terms.size(); ++place)
            if (type.allows(place) && type.terms[place].persist < least) {
                least = type.terms[place].persist;
                places[unit] = place;
            }
    }
}

} // namespace

std::optional<OverlapLeaf> makeLeaf(const OverlapChain& chain, const MemoryForm& form, OverlapMemory memory, Places smallest, double upper,
                                    std::int64_t work)
{
    moveToAllowed(memory, smallest);
    if (memory.of(smallest).total() > memory.capacity) {
        // Of little peak need not be of little memory in this form.
        OverlapLabels labels(chain, memory);
        constexpr double kMemoryAbove = 1e3; // seconds per byte: only bytes count
        smallest = relaxOverlap(labels, kMemoryAbove).choice;
        if (smallest.empty() || memory.of(smallest).total() > memory.capacity)
            return std::nullopt;
    }
    OverlapLeaf leaf;
    leaf.form = &form;
    leaf.labels = std::make_unique<OverlapLabels>(chain, std::move(memory));
    leaf.dual = solveOverlapDual(*leaf.labels, std::move(smallest), work);
    if (leaf.dual.best.pieces.size() > 1 && leaf.dual.best.bound < upper)
        leaf.dual.best = relaxOverlap(*leaf.labels, leaf.dual.best.price, upper);
    for (const OverlapPiece& piece : leaf.dual.best.pieces)
        leaf.pieceBounds.push_back(piece.bound(leaf.dual.best.price, leaf.memory().capacity));
    return leaf;
}

std::vector<OverlapMemory> branchesOf(const OverlapLeaf& leaf, double gap)
{
    const OverlapMemory& memory = leaf.memory();
    if (leaf.dual.over.empty() || leaf.dual.under.empty())
        return {};
    std::vector<int> units(memory.types.size());
    for (const std::uint32_t type : memory.typeOfUnit)
        ++units[type];
    double most = gap / 4; // less is closed elsewhere
    std::optional<std::size_t> split;
    std::int64_t middle = 0;
    for (std::size_t unit = 0; unit < memory.typeOfUnit.size(); ++unit) {
        if (units[memory.typeOfUnit[unit]] != 1)
            continue;
        const std::int64_t over = memory.terms(unit)[leaf.dual.over[unit]].persist;
        const std::int64_t under = memory.terms(unit)[leaf.dual.under[unit]].persist;
        const double worth = leaf.dual.best.price * static_cast<double>(std::max(over, under) - std::min(over, under));
        if (worth > most) {
            most = worth;
            split = unit;
            middle = std::min(over, under) + (std::max(over, under) - std::min(over, under)) / 2;
        }
    }
    if (!split)
        return {};
    std::vector<OverlapMemory> halves;
    for (const bool lean : {true, false}) {
        OverlapMemory half = memory;
        OverlapMemory::Type& type = half.types[half.typeOfUnit[*split]];
        type.ruledOut.resize(type.terms.size(), false);
        for (std::size_t place = 0; place < type.terms.size(); ++place)
            if ((type.terms[place].persist <= middle) != lean)
                type.ruledOut[place] = true;
        halves.push_back(std::move(half));
    }
    return halves;
}

} // namespace loadline
