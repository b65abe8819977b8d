// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plan/pricing.hpp"
#include "app/plan/report.hpp"
#include "app/plan/table.hpp"
#include "app/plan/verbs.hpp"

#include "core/base/text.hpp"
#include "core/exchange/price_document.hpp"

#include <fmt/format.h>

namespace loadline {
namespace {

/// Prices the configuration at the setup's batch.
Result<Plan> pricedPlan(const PricedQuestion& question, const PlanRequest& request, const Setup& setup, std::vector<std::string>& notes)
{
    auto table = buildCostTable(setup);
    if (!table)
        return table.error();
    auto choice = configuredChoice(question.config, *table, request.pins, notes);
    if (!choice)
        return choice.error();
    Plan plan;
    plan.table = std::move(*table);
    plan.choice = std::move(*choice);
    plan.peak = plannedPeak(plan.table, plan.choice);
    plan.paperPeak = paperPeak(plan.table, plan.choice);
    plan.time = stepTime(plan.table, plan.choice);
    plan.objective = plan.table.setup.time == TimeMode::Overlap ? plan.time.overlapped : plan.time.serial;
    return plan;
}

/// With a batch of "auto": the one with the most samples per second that fits, else 1.
Result<Plan> bestPricedPlan(const PricedQuestion& question, const PlanRequest& request, std::vector<std::string>& notes)
{
    auto setup = request.setup;
    auto best = pricedPlan(question, request, setup, notes);
    if (!best || !request.chooseBatch)
        return best;
    std::vector<std::string> again; // the notes of every batch are the same
    for (std::int64_t batch = 2; batch <= request.mostBatch; batch *= 2) {
        if (request.globalBatch > 0 && (request.globalBatch / setup.cluster.ranks()) % batch != 0)
            continue;
        setup.batch = batch;
        if (request.globalBatch > 0 && request.chooseAccumulation)
            setup.accumulation = request.globalBatch / setup.cluster.ranks() / batch;
        auto plan = pricedPlan(question, request, setup, again);
        if (!plan || plan->peak > request.budget)
            break;
        if (best->peak > request.budget || plan->samplesPerSecond() > best->samplesPerSecond())
            best = std::move(plan);
    }
    notes.push_back(best->peak <= request.budget
                        ? fmt::format("batch auto is {}: the most samples per second of 1, 2, 4, ... that fit (--batch sets it)",
                                      best->table.setup.batch)
                        : "batch auto is 1, since no batch fits (--batch sets it)");
    return best;
}

std::string priceText(const PriceDocument& document, const PricedQuestion& question)
{
    const auto& plan = document.plan;
    auto text = setupText(plan.table.setup, document.pins) + '\n';
    text += fmt::format("Configuration: {}\n", question.config.kind);
    for (const auto& note : document.notes)
        text += wrapped("- " + note, "  ");
    const Bytes over = plan.peak - document.budget;
    text += wrapped(fmt::format("Step {}, peak {} of {}, {} tokens/s, {}", formatSeconds(plan.objective), formatBytes(plan.peak),
                                formatBytes(document.budget), formatCount(plan.tokensPerSecond()),
                                over > Bytes(0) ? "does not fit, short by " + formatBytes(over) : "fits"),
                    "");
    if (document.optimum) {
        const auto& best = *document.optimum;
        text += wrapped(fmt::format("Optimum: step {}, peak {}, batch {} x accumulation {}, {} tokens/s", formatSeconds(best.objective),
                                    formatBytes(best.peak), best.table.setup.batch, best.table.setup.accumulation,
                                    formatCount(best.tokensPerSecond())),
                        "");
        const double distance = 100 * document.distance();
        text += distance >= 0 ? fmt::format("Distance to the optimum: {:.2f} % of its samples per second.\n", distance)
                              : fmt::format("It would be {:.2f} % above the optimum's samples per second, if it fitted.\n", -distance);
    } else {
        text += fmt::format("No plan fits; the least budget that works is {}.\n", formatBytes(document.leastBudget));
    }
    return text + estimateText(plan) + '\n' + choiceText(plan);
}

} // namespace

Result<Answer> runPrice(const Arguments& arguments)
{
    if (arguments.uniform.empty() == arguments.config.empty())
        return invalidInput("price needs either --uniform (dp, zdp, hsdp, zero2) or --config FILE; give one of them");
    auto config = arguments.config.empty() ? uniformConfig(arguments.uniform) : loadTrainingConfig(arguments.config);
    if (!config)
        return config.error();
    auto question = completeOptions(arguments.request, arguments.given, std::move(*config));
    if (!question)
        return question.error();
    auto resolved = resolveRequest(question->options);
    if (!resolved)
        return resolved.error();
    auto& request = resolved->request;
    if (request.recompute == Recompute::All)
        question->config.recomputeAll = true;
    if (auto problem = completeSetup(question->config, request.setup, question->notes))
        return *problem;
    auto plan = bestPricedPlan(*question, request, question->notes);
    if (!plan)
        return plan.error();

    // The optimum answers the same question: it may choose what the configuration leaves to choice.
    PlanRequest best = request;
    best.setup = request.setup;
    best.setup.batch = plan->table.setup.batch;
    best.setup.accumulation = plan->table.setup.accumulation;
    best.recompute = request.setup.recomputedBlocks > 0 || request.recompute == Recompute::Auto ? Recompute::Auto : Recompute::Off;
    const auto outcome = makePlan(best);
    if (!outcome)
        return outcome.error();

    PriceDocument document;
    document.kind = question->config.kind;
    document.plan = std::move(*plan);
    document.budget = request.budget;
    document.optimum = outcome->plan;
    document.optimumStatus = outcome->status;
    document.leastBudget = outcome->infeasible ? outcome->infeasible->leastBudget : Bytes(0);
    document.provenance = resolved->provenance;
    document.pins = request.pins;
    document.notes = question->notes;
    Answer answer;
    std::string json;
    if (arguments.json || !arguments.output.empty())
        json = priceJson(document);
    if (auto problem = writeOutput(arguments, json))
        return *problem;
    answer.text = arguments.json ? json : priceText(document, *question);
    return answer;
}

} // namespace loadline
