// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/exchange/plan_document.hpp"

#include <optional>
#include <string>
#include <vector>

namespace loadline {

/// What a given configuration costs, beside the best plan for the same question.
struct PriceDocument {
    std::string kind; ///< "uniform zdp", "DeepSpeed", ...
    Plan plan;        ///< of the configuration; its peak may be above the budget
    Bytes budget;
    std::optional<Plan> optimum; ///< empty: nothing fits
    SearchStatus optimumStatus = SearchStatus::Infeasible;
    Bytes leastBudget; ///< if nothing fits
    Provenance provenance;
    std::vector<Pin> pins;
    std::vector<std::string> notes;

    /// Share of the optimum's samples per second that the configuration lacks; below 0 if it is faster (and does not fit).
    [[nodiscard]] double distance() const;
};

/// The document "loadline.price/1" (docs/formats.md).
std::string priceJson(const PriceDocument& document);

} // namespace loadline
