// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/plan/knapsack.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace loadline {

/// A bare search problem as `solve` reads it; format "loadline.problem/1" (docs/formats.md).
struct Problem {
    std::int64_t budget = 0; ///< bytes
    std::vector<KnapsackClass> classes;
};

/// Reads a problem in one pass without building a document: files of many megabytes are usual. Keys that it does not
/// know are skipped. Errors name `origin` and the line or the class, option and key. Thread-safe.
Result<Problem> readProblem(std::string_view text, std::string_view origin);

/// The document "loadline.solution/1". `solveMilliseconds` is what preparation and search took, measured by the caller.
std::string solutionJson(const KnapsackPlan& plan, double solveMilliseconds);

/// The document "loadline.problem-frontier/1": every corner as bytes and picoseconds.
std::string problemFrontierJson(const KnapsackFrontier& frontier, double solveMilliseconds);

/// The same corners as CSV: "bytes,time_ps".
std::string problemFrontierCsv(const KnapsackFrontier& frontier);

/// "optimal", "within_gap" or "infeasible", as every document spells it.
std::string_view statusName(SearchStatus status);

} // namespace loadline
