// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <istream>
#include <optional>
#include <string_view>

namespace loadline {

/// Words of a memory snapshot that mean something here; all others are read over.
enum class SnapshotWord : std::uint8_t {
    Other,
    Segments,
    DeviceTraces,
    Action,
    Size,
    TimeUs,
    Device,
    AllocatedSize,
    TotalSize,
    Alloc,
    FreeRequested,
    FreeCompleted,
    SegmentAlloc,
    SegmentFree,
    SegmentMap,
    SegmentUnmap,
    OutOfMemory,
};

/// One dictionary of the snapshot: its whole numbers, and its action. Empty: the key is missing or no whole number of 64 bits.
struct SnapshotEntry {
    std::optional<SnapshotWord> action;
    std::optional<std::int64_t> size;
    std::optional<std::int64_t> timeUs; ///< microseconds since 1970
    std::optional<std::int64_t> device;
    std::optional<std::int64_t> allocatedSize;
    std::optional<std::int64_t> totalSize;
};

struct SnapshotSink {
    std::function<void(std::size_t device, const SnapshotEntry&)> event; ///< of "device_traces", in the order of each device's list
    std::function<void(const SnapshotEntry&)> segment;                   ///< of "segments"
};

/// Reads the pickle that `torch.cuda.memory._dump_snapshot` writes (protocols 2 to 5) without executing anything: of the pickle machine's
/// opcodes only those that make dictionaries, lists, tuples, texts and numbers are known; one that names or calls something of Python, and
/// every other one, is an error with its position. Nothing is kept but the values that are being put together, so that the memory taken
/// does not grow with the file: an entry goes to `sink` when it is put into its list. Errors: cut off, not a pickle, no snapshot, nested
/// too deep. Any bytes are safe. The opcodes: Python, Lib/pickletools.py.
std::optional<Error> readSnapshotPickle(std::istream& in, std::string_view origin, const SnapshotSink& sink);

} // namespace loadline
