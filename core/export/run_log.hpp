// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/base/units.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loadline {

/// What one rank measured in one step. Bytes are 0 where the device does not say.
struct RunRow {
    std::int64_t step = 0; ///< from 1
    std::int64_t rank = 0;
    double loss = 0; ///< mean over ranks
    Seconds seconds;
    std::optional<Bytes> peakAllocated;
    std::optional<Bytes> peakReserved;
    Bytes allGather;
    Bytes reduceScatter;
    Bytes allReduce;
    friend bool operator==(const RunRow&, const RunRow&) = default;
};

/// The lines that a bundle's train.py wrote.
struct RunLog {
    std::string model;
    std::int64_t ranks = 0;
    std::int64_t batch = 0;
    std::int64_t accumulation = 0;
    std::int64_t sequence = 0;
    bool reference = false;                      ///< one process stood for all ranks; nothing was sharded
    std::vector<std::string> devices;            ///< by rank
    std::map<std::string, std::string> versions; ///< "torch", "nccl", ...
    std::vector<RunRow> rows;                    ///< in file order
    bool finished = false;                       ///< the last line says that every step was run
    std::vector<std::string> notes;              ///< one sentence each: lines left out
};

/// Reads JSON lines. A last line that was cut off (the job was killed) is left out with a note; so are lines that are no JSON objects,
/// such as another program's words between ours. Errors: no first line of ours, or a value out of range, each with `origin` and the line.
/// Any bytes are safe. Thread-safe.
Result<RunLog> readRunLog(std::string_view text, std::string_view origin);

} // namespace loadline
