// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/base/units.hpp"

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace loadline {

/// A stretch of events: the least and the most that was allocated in it.
struct MemorySpan {
    std::int64_t firstEvent = 0; ///< from 0
    Seconds at;                  ///< since the first event of the device
    Bytes least;
    Bytes most;
    friend bool operator==(const MemorySpan&, const MemorySpan&) = default;
};

/// What the allocator of one device recorded.
struct DeviceMemory {
    std::int64_t device = 0;
    std::vector<MemorySpan> curve; ///< at most 8,192 spans, whatever the length of the record; empty: no history was recorded
    Bytes peak;                    ///< allocated, as torch.cuda.max_memory_allocated counts
    Bytes atStart;                 ///< allocated when recording began
    Bytes atEnd;                   ///< allocated when the snapshot was taken
    Bytes reserved;                ///< held from the device then
    std::int64_t events = 0;       ///< allocations and frees
    bool outOfMemory = false;      ///< an allocation failed
};

struct MemorySnapshot {
    std::vector<DeviceMemory> devices; ///< those with a history or memory, in order
    std::vector<std::string> notes;    ///< one sentence each: what the record lacks
};

/// Reads what `torch.cuda.memory._dump_snapshot` wrote, executing nothing and in memory that does not grow with the file. A record holds
/// the changes and the state at its end, so the state at its start is what is left. Sizes are rounded up to 512 bytes as the allocator does
/// (c10/cuda/CUDACachingAllocator.cpp, round_size), and a free counts when it is asked for, as in the allocator's own statistics.
/// Errors: as readSnapshotPickle; a size below 0 or a sum beyond 2^60. Any bytes are safe.
Result<MemorySnapshot> readMemorySnapshot(std::istream& in, std::string_view origin);

} // namespace loadline
