// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/timeline.hpp"
#include "core/plan/search_space.hpp"

#include <compare>
#include <cstdint>
#include <vector>

namespace loadline {

/// What one unit adds to a memory form under one of its options.
struct MemoryTerm {
    std::int64_t persist = 0;
    std::int64_t transient = 0; ///< of all units only the largest counts
    auto operator<=>(const MemoryTerm&) const = default;
};

/// [unit][allowed option, in the order of its group].
using MemoryTerms = std::vector<std::vector<MemoryTerm>>;

/// Terms whose sum (overhead and constant apart) never exceeds the timeline's peak, whatever is chosen. Each starts from
/// the memory at one event and adds, as transients, how far other events must reach above it. Proofs: docs/planning.md 3.

/// Backward of `pivot`. With the last unit: the end of forward, where saved activations are complete.
MemoryTerms backwardTerms(const SearchSpace& space, std::size_t pivot);

/// Likewise, without what other events reach above it: the event as one plain sum.
MemoryTerms backwardTermsAlone(const SearchSpace& space, std::size_t pivot);

/// Adds to `backwardTerms` what neighbours hold beside an unsliced pivot, and takes as much as that can be from the pivot's
/// sliced options, where it may not be there. Then only persist + the pivot's own transient is a bound, as one sum.
/// False if that would leave an option with less than nothing.
bool addNeighboursOfUnsliced(const SearchSpace& space, std::size_t pivot, MemoryTerms& terms);

/// Forward of `pivot`.
MemoryTerms forwardTerms(const SearchSpace& space, std::size_t pivot);

/// Recomputation of `pivot` before the backward of its region; as `forwardTerms` where no region is certain.
MemoryTerms recomputeTerms(const SearchSpace& space, std::size_t pivot);

/// The reduction of a root unit at the end of backward.
MemoryTerms endTerms(const SearchSpace& space);

/// The optimizer step.
MemoryTerms stepTerms(const SearchSpace& space);

/// The terms that start from `event`.
MemoryTerms termsAt(const SearchSpace& space, const TimelineEvent& event);

/// The paper's bound; equals `paperPeak` but for what tied parameters lend, regions and the step, which it may miss.
MemoryTerms paperTerms(const SearchSpace& space);

} // namespace loadline
