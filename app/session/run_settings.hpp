// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/units.hpp"
#include "core/store/records.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace loadline {

/// What a list of runs says of the plan that ran.
struct RunSettings {
    std::string model;
    std::string cluster;
    std::int64_t batch = 0; ///< 0: not said, as all that is missing
    std::int64_t accumulation = 0;
    std::int64_t sequence = 0;
    std::string precision;
    std::string runtime;
    std::optional<Bytes> budget;
    friend bool operator==(const RunSettings&, const RunSettings&) = default;
};

/// Reads these of a "loadline.plan/1" without building its tables: a list holds fifty of them. What is missing stays empty. Any bytes are
/// safe. Thread-safe.
RunSettings runSettingsOf(std::string_view plan);

/// A run in a list: its record without documents.
struct KeptRun {
    RunRecord record;
    RunSettings settings;
};

} // namespace loadline
