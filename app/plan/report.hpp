// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/exchange/plan_document.hpp"

#include <string>

namespace loadline {

/// What is trained, where and how: two lines that stand above every answer.
std::string setupText(const Setup& setup, const std::vector<Pin>& pins);

/// Step time, peak of budget, tokens/s, exposed communication, proof: the plan in one line, with a second one on time.
std::string factText(const PlanOutcome& outcome);

/// The whole answer of `plan`: facts, where the peak lies, what was chosen, baselines; or why nothing fits.
std::string planText(const PlanDocument& document);

/// "3.20 ms (estimated)" is said once a page: what every estimated figure rests on.
std::string estimateText(const Plan& plan);

/// Operators that differ only in numbers and strategy, counted: the table of what was chosen.
std::string choiceText(const Plan& plan);

} // namespace loadline
