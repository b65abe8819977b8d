// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plan/verbs.hpp"

#include "core/base/json.hpp"
#include "core/exchange/plan_document.hpp"
#include "core/exchange/verdict.hpp"

#include <fmt/format.h>

namespace loadline {
namespace {

constexpr std::size_t kOperatorsShown = 8;

} // namespace

Result<Answer> runVerdict(const Arguments& arguments)
{
    const auto saved = loadPlan(arguments.files[0]);
    if (!saved)
        return saved.error();
    if (!saved->document.outcome.plan)
        return invalidInput(
            fmt::format("'{}' says that no plan fits, so no run belongs to it; give the plan that was trained", arguments.files[0]));
    const auto text = readFile(arguments.files[1]);
    if (!text)
        return text.error();
    const auto run = readRunTrace(*text, fmt::format("'{}'", arguments.files[1]));
    if (!run)
        return run.error();
    const Plan& plan = *saved->document.outcome.plan;
    const auto comparison = compareRun(plan.table, plan.choice, *run, verdictBounds(plan.table.setup));
    Answer answer;
    if (!saved->violations.empty())
        answer.words.push_back(fmt::format("'{}' contradicts itself ({}); run check on it", arguments.files[0], saved->violations.front()));
    if (run->result && run->result->outcome != RunOutcome::Done)
        answer.words.push_back(fmt::format("the run did not end well: {}", run->result->why));
    answer.text = arguments.json ? verdictJson(comparison) : comparisonText(comparison, kOperatorsShown) + verdictText(comparison) + '\n';
    answer.code = comparison.holds() ? kAnswered : kNothingFits;
    return answer;
}

} // namespace loadline
