// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plan/report.hpp"
#include "app/plan/stored.hpp"
#include "app/plan/verbs.hpp"

#include "core/base/text.hpp"
#include "core/exchange/frontier.hpp"
#include "core/plan/trade_off.hpp"

#include <fmt/format.h>

namespace loadline {
namespace {

/// Solves the request; the document's setup has the batch and accumulation that were chosen.
Result<PlanDocument> answerRequest(const ResolvedRequest& resolved)
{
    auto outcome = makePlan(resolved.request);
    if (!outcome)
        return outcome.error();
    PlanDocument document;
    document.setup = outcome->plan ? outcome->plan->table.setup : resolved.request.setup;
    document.provenance = resolved.provenance;
    document.pins = resolved.request.pins;
    document.outcome = std::move(*outcome);
    return document;
}

} // namespace

Result<Answer> runPlan(const Arguments& arguments)
{
    const auto resolved = resolveRequest(arguments.request);
    if (!resolved)
        return resolved.error();
    auto document = answerRequest(*resolved);
    if (!document)
        return document.error();
    if (document->outcome.plan) {
        document->baselines = baselines(document->outcome.plan->table, document->outcome.budget);
    } else if (const auto table = buildCostTable(document->setup)) {
        document->baselines = baselines(*table, document->outcome.budget);
    }
    Answer answer;
    answer.code = document->outcome.plan ? kAnswered : kNothingFits;
    std::string json;
    if (arguments.json || !arguments.output.empty())
        json = planJson(*document);
    if (auto problem = writeOutput(arguments, json))
        return *problem;
    answer.text = arguments.json ? json : planText(*document);
    if (!arguments.output.empty())
        answer.words.push_back(fmt::format("the plan is saved in '{}'", arguments.output));
    if (arguments.save.empty())
        return answer;
    const auto saved = saveAsSession(arguments, *document, answer.words);
    if (!saved)
        return saved.error();
    answer.words.push_back(*saved);
    return answer;
}

Result<Answer> runFrontier(const Arguments& arguments)
{
    auto resolved = resolveRequest(arguments.request);
    if (!resolved)
        return resolved.error();
    auto& request = resolved->request;
    Answer answer;
    // A frontier belongs to one batch: the one that is best at the budget where it is to be chosen.
    auto setup = request.setup;
    if (request.chooseBatch || request.chooseAccumulation) {
        const auto document = answerRequest(*resolved);
        if (!document)
            return document.error();
        setup = document->setup;
        answer.words.push_back(fmt::format("batch {} and accumulation {}, {} at {}", setup.batch, setup.accumulation,
                                           document->outcome.plan ? "the best" : "since nothing fits", formatBytes(request.budget)));
    }
    if (request.recompute == Recompute::All)
        setup.recomputedBlocks = setup.model->layerCount();
    request.setup = setup;
    auto stair = tradeOff(request, arguments.points);
    if (!stair)
        return stair.error();
    const Frontier frontier{*std::move(stair), setup, request.recompute == Recompute::Auto, resolved->provenance};
    const auto document = arguments.json ? frontierJson(frontier) : frontierCsv(frontier);
    if (auto problem = writeOutput(arguments, document))
        return *problem;
    answer.text = document;
    return answer;
}

Result<Answer> runCheck(const Arguments& arguments)
{
    const auto plan = loadPlan(arguments.files.front());
    if (!plan)
        return plan.error();
    const auto violations = planViolations(*plan);
    Answer answer;
    answer.code = violations.empty() ? kAnswered : kNothingFits;
    if (arguments.json) {
        answer.text = checkJson(*plan, violations);
        return answer;
    }
    answer.text = setupText(plan->document.setup, plan->document.pins) + '\n';
    if (violations.empty()) {
        answer.text += "The plan holds: every figure was computed anew from the setup in the file and is the same.\n";
        if (plan->document.outcome.plan)
            answer.text += factText(plan->document.outcome);
        return answer;
    }
    answer.text +=
        fmt::format("The plan does not hold: {} {}.\n", violations.size(), violations.size() == 1 ? "difference" : "differences");
    for (const auto& violation : violations)
        answer.text += "- " + violation + '\n';
    return answer;
}

} // namespace loadline
