// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/export/exported.hpp"
#include "core/export/projection.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace loadline {

/// How a configuration stores one unit.
struct Storage {
    std::int64_t group = 1;
    bool reshard = true;
};

/// One thing that a format can say.
struct Candidate {
    std::string text; ///< of the file
    Setup setup;
    std::function<Storage(const Unit&)> storage;
};

struct ChosenCandidate {
    std::string text;
    Plan plan;
};

/// Prices every candidate and takes the fastest within `budget`, else the one with the least peak. Candidates that the setup does not offer
/// are passed over. Errors: none is left.
Result<ChosenCandidate> bestCandidate(const std::vector<Candidate>& candidates, Bytes budget);

/// What the plan decided and `after` does not: one sentence for each kind of decision, then what it costs together.
std::vector<std::string> lostDecisions(const Plan& before, const Plan& after, Bytes budget, std::string_view program);

} // namespace loadline
