// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/memory_form.hpp"
#include "core/plan/search_space.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace loadline {

/// Micro-steps before the last reduce into shards only, so a step has up to two kinds of them: one lag each.
inline constexpr std::size_t kMicroStepKinds = 2;
using Lags = std::array<double, kMicroStepKinds>;

/// Seconds of one unit under one option, in one micro-step.
struct ChainTimes {
    double forward = 0;
    double backward = 0;
    double gatherForward = 0;
    double gatherBackward = 0;
    Lags reduce{};   ///< by kind of micro-step
    double step = 0; ///< optimizer, once a step
};

/// The two-stream recurrence of docs/time-model.md 3 over the options that pins leave: what the search of overlapped time works on.
/// Equals stepTime(...).overlapped for every choice (test). Immutable.
struct OverlapChain {
    std::vector<std::vector<ChainTimes>> groupTimes; ///< [group][place of an allowed option]
    std::vector<std::size_t> groupOfUnit;
    bool aheadForward = false; ///< a gather is put in the queue one unit before it is needed; else when it is needed
    bool aheadBackward = false;
    std::size_t kinds = 1; ///< of micro-steps
    Lags repeats{1, 0};    ///< micro-steps of each kind
    double microSteps = 1;
    double slowCompute = 1;  ///< alpha
    double slowTransfer = 1; ///< beta
    double hidden = 0;       ///< beta (1 - 1/alpha): what a second of transfer adds to longer computing
    double covered = 0;      ///< alpha (1 - 1/beta): what a second of computing adds to longer transfers

    [[nodiscard]] std::size_t units() const { return groupOfUnit.size(); }
    [[nodiscard]] const std::vector<ChainTimes>& options(std::size_t unit) const { return groupTimes[groupOfUnit[unit]]; }

    /// Until both have ended that start together.
    [[nodiscard]] double pair(double compute, double transfer) const
    {
        return std::max(compute + hidden * transfer, transfer + covered * compute);
    }

    /// Seconds of a step; `places` are places among the allowed options.
    [[nodiscard]] double seconds(const std::vector<std::uint32_t>& places) const;
};

/// Empty if the rules gather more than one unit ahead, for which there is no such recurrence.
std::optional<OverlapChain> makeOverlapChain(const SearchSpace& space);

/// One lower bound of memory beside the chain: a choice fits only if sum of persist + largest transient <= capacity.
struct OverlapMemory {
    struct Type {
        std::size_t group = 0;
        std::vector<MemoryTerm> terms; ///< by place
        std::vector<bool> ruledOut;    ///< by branching; empty: none
        [[nodiscard]] bool allows(std::size_t place) const { return ruledOut.empty() || !ruledOut[place]; }
    };
    std::vector<Type> types;
    std::vector<std::uint32_t> typeOfUnit;
    std::int64_t capacity = 0;
    std::int64_t leastTransient = 0; ///< no choice has a smaller largest transient

    [[nodiscard]] const std::vector<MemoryTerm>& terms(std::size_t unit) const { return types[typeOfUnit[unit]].terms; }

    struct Sum {
        std::int64_t persist = 0;
        std::int64_t transient = 0;
        [[nodiscard]] std::int64_t total() const { return persist + transient; }
    };
    [[nodiscard]] Sum of(const std::vector<std::uint32_t>& places) const;
};

OverlapMemory overlapMemory(const SearchSpace& space, const MemoryForm& form, Bytes budget);

/// Likewise of a form that was made with `unit`, alone in its group, fixed to its option at `place`.
OverlapMemory overlapMemory(const SearchSpace& space, const MemoryForm& form, Bytes budget, std::size_t unit, std::size_t place);

} // namespace loadline
