// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.hpp"
#include "core/exchange/request.hpp"
#include "core/plan/baselines.hpp"
#include "core/plan/planner.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace loadline {

/// The version of this program, e.g. "0.1.0".
std::string_view loadlineVersion();

/// A search that ran, with all that a saved plan needs to stand alone.
struct PlanDocument {
    PlanOutcome outcome;
    Setup setup; ///< of the plan, or of the question if nothing fits
    Provenance provenance;
    std::vector<Pin> pins;
    std::vector<Baseline> baselines; ///< written for readers of the file; not read back
};

/// The bytes of the planned peak by kind; they sum to Plan::peak.
struct PeakParts {
    Bytes states;
    Bytes activations;
    Bytes transient;
    Bytes overhead;
};

/// At the timeline's peak event, or of the paper's bound, whichever the plan's memory mode compares with the budget.
PeakParts peakParts(const Plan& plan);

/// One strategy per operator of the model: stored as the unit that holds its parameters, recomputed as the unit that runs it.
std::vector<Strategy> strategiesByOperator(const CostTable& table, const Choice& choice);

/// The document "loadline.plan/1" (docs/formats.md): keys that stay, and under "setup" the model, the cluster
/// and every setting, so that the file can be checked without any other.
std::string planJson(const PlanDocument& document);

/// A plan as its file claims it, on a cost table that was built anew from the setup in the file.
struct SavedPlan {
    PlanDocument document;               ///< figures as the file has them
    std::vector<std::string> violations; ///< one sentence each: figures in the file that contradict one another or the model
};

/// Reads a document that `planJson` wrote. Errors: not a plan, a newer version, a broken or missing key, operators that
/// the model does not have, a strategy that the setup does not offer; each names `origin` and the key. Figures are not
/// believed: `violations` and checkPlan compare them. Thread-safe; any bytes are safe.
Result<SavedPlan> readPlan(std::string_view text, std::string_view origin);

/// Reads a file.
Result<SavedPlan> loadPlan(const std::string& path);

/// Everything that `check` looks at: violations of the document, of checkPlan, and of the pins. Empty if the plan holds.
std::vector<std::string> planViolations(const SavedPlan& plan);

} // namespace loadline
