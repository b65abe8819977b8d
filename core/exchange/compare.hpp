// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/exchange/plan_document.hpp"

#include <optional>
#include <string>
#include <vector>

namespace loadline {

/// One operator that two plans treat differently, or that only one of them has.
struct OperatorDifference {
    std::string name;
    std::int64_t parameters = 0;
    std::optional<Strategy> before; ///< empty: only the second plan has the operator
    std::optional<Strategy> after;
    friend bool operator==(const OperatorDifference&, const OperatorDifference&) = default;
};

/// What changes from one plan to another. Figures of an infeasible plan are empty.
struct PlanComparison {
    std::int64_t sameOperators = 0; ///< in both with the same strategy
    std::vector<OperatorDifference> operators;
    std::vector<std::string> settings; ///< one sentence for each setting that differs
    /// Why step times and peaks of the two say nothing about the choice of strategies: another model, device, batch or precision. Empty:
    /// they can be compared.
    std::vector<std::string> incomparable;
    std::optional<Seconds> stepBefore;
    std::optional<Seconds> stepAfter;
    std::optional<Bytes> peakBefore;
    std::optional<Bytes> peakAfter;
};

PlanComparison comparePlans(const PlanDocument& before, const PlanDocument& after);

/// The document "loadline.comparison/1".
std::string comparisonJson(const PlanComparison& comparison);

} // namespace loadline
