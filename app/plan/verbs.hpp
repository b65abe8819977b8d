// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/plan/arguments.hpp"
#include "core/base/result.hpp"

#include <string>
#include <vector>

namespace loadline {

/// What a verb has to say: stdout, the exit code of an answered question (0, or 1 if no plan fits or a plan does not
/// hold), and words for stderr.
struct Answer {
    std::string text;
    int code = 0;
    std::vector<std::string> words;
};

inline constexpr int kAnswered = 0;
inline constexpr int kNothingFits = 1;
inline constexpr int kWrongInput = 2;
inline constexpr int kFault = 3;

// One function a verb. Errors are wrong input (exit 2).
Result<Answer> runInspect(const Arguments& arguments);
Result<Answer> runPlan(const Arguments& arguments);
Result<Answer> runFrontier(const Arguments& arguments);
Result<Answer> runCheck(const Arguments& arguments);
Result<Answer> runPrice(const Arguments& arguments);
Result<Answer> runCompare(const Arguments& arguments);
Result<Answer> runSolve(const Arguments& arguments);
Result<Answer> runExport(const Arguments& arguments);
Result<Answer> runImportRun(const Arguments& arguments);
Result<Answer> runVerdict(const Arguments& arguments);
Result<Answer> runSessions(const Arguments& arguments);
Result<Answer> runList(const Arguments& arguments);

/// Writes `document` to the file of --output, if one is given.
std::optional<Error> writeOutput(const Arguments& arguments, std::string_view document);

} // namespace loadline
