// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/units.hpp"
#include "core/cost/timeline.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace loadline {

using CategoryBytes = std::array<Bytes, kMemoryCategories>; ///< by MemoryCategory

/// What libtorch's CPU allocator has handed out, by category. Every byte is counted that a tensor of any thread holds; what Gloo keeps
/// for itself is not seen. A meter counts the allocations made while it is current in their thread; frees count where the memory was
/// taken, from whatever thread. All members are thread-safe.
class MemoryMeter {
public:
    /// Puts the counting allocator in front of libtorch's own. Before the first tensor whose bytes are to be seen; again is harmless.
    static void install();

    /// What is counted. Blocks share it with their meter: Gloo's threads may drop a tensor after the meter is gone.
    class Counts;

    MemoryMeter();
    ~MemoryMeter();
    MemoryMeter(const MemoryMeter&) = delete;
    MemoryMeter& operator=(const MemoryMeter&) = delete;

    [[nodiscard]] CategoryBytes alive() const;
    [[nodiscard]] Bytes total() const;
    /// Most that was alive since the last `resetPeak`, and its categories (as they were at that moment).
    [[nodiscard]] Bytes peak() const;
    [[nodiscard]] CategoryBytes atPeak() const;
    void resetPeak();

    /// With a limit an allocation that would exceed it throws c10::OutOfMemoryError, as a GPU's allocator does; 0: none. CPU only: a GPU
    /// has a limit of its own.
    void setLimit(Bytes limit);

    /// For the allocator.
    [[nodiscard]] const std::shared_ptr<Counts>& counts() const { return m_counts; }

    /// For allocators elsewhere (a GPU's): a block begins, in the thread that asks for it, and ends, in any. Blocks that no meter saw begin
    /// are skipped.
    static void taken(const void* block, std::size_t bytes);
    static void freed(const void* block);

private:
    std::shared_ptr<Counts> m_counts;
};

/// Thread: allocations of this thread. Process: of this thread and of all that have no meter of their own; on a GPU autograd runs the
/// backward pass in a thread of its own.
enum class MeterReach { Thread, Process };

/// Makes a meter current while it lives; the one before comes back.
class MeterScope {
public:
    explicit MeterScope(MemoryMeter& meter, MeterReach reach = MeterReach::Thread);
    ~MeterScope();
    MeterScope(const MeterScope&) = delete;
    MeterScope& operator=(const MeterScope&) = delete;

private:
    MeterReach m_reach;
    MemoryMeter* m_before;
    MemoryMeter* m_elsewhere; ///< what threads without a meter counted to before
};

/// Books allocations of this thread under a category while it lives; without one they are activations.
class CategoryScope {
public:
    explicit CategoryScope(MemoryCategory category);
    ~CategoryScope();
    CategoryScope(const CategoryScope&) = delete;
    CategoryScope& operator=(const CategoryScope&) = delete;

private:
    MemoryCategory m_before;
};

} // namespace loadline
