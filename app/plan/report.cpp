// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plan/report.hpp"

#include "app/plan/table.hpp"
#include "core/base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>

namespace loadline {
namespace {

/// "model.layers.*.mlp.up_proj": every run of digits that is a whole part of the name.
std::string patternOf(const std::string& name)
{
    std::string pattern;
    for (const auto& part : split(name, '.')) {
        const bool number = !part.empty() && std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
        if (!pattern.empty())
            pattern += '.';
        pattern += number ? "*" : part;
    }
    return pattern;
}

std::string share(Bytes part, Bytes whole)
{
    return whole.count() > 0 ? fmt::format("{:.1f} %", 100.0 * static_cast<double>(part.count()) / static_cast<double>(whole.count()))
                             : "-";
}

std::string proofText(const PlanOutcome& outcome)
{
    if (outcome.status == SearchStatus::Optimal)
        return "proven optimal";
    const auto gap = outcome.gap * 100;
    return fmt::format("within {} % of the lower bound", gap >= 0.01 ? fmt::format("{:.2f}", gap) : fmt::format("{:.1e}", gap));
}

/// "peak 71.2 of 79.1 GiB", or with both units where they differ.
std::string ofBudget(Bytes peak, Bytes budget)
{
    const auto used = formatBytes(peak);
    const auto whole = formatBytes(budget);
    const auto unit = used.find(' ');
    const bool same = unit != std::string::npos && whole.ends_with(used.substr(unit));
    return fmt::format("peak {} of {}", same ? used.substr(0, unit) : used, whole);
}

/// Facts with commas between, broken only there.
std::string joined(const std::vector<std::string>& facts)
{
    std::string text;
    std::size_t width = 0;
    for (const auto& fact : facts) {
        const bool fits = width + 3 + fact.size() <= kPageWidth; // the comma behind it too
        if (width > 0)
            text += fits ? ", " : ",\n";
        width = width > 0 && fits ? width + 2 + fact.size() : fact.size();
        text += fact;
    }
    return text + '\n';
}

std::string peakText(const Plan& plan)
{
    const auto parts = peakParts(plan);
    TextTable table(
        {{"Where the peak lies", TextTable::Align::Left}, {"bytes", TextTable::Align::Right}, {"of peak", TextTable::Align::Right}});
    const auto row = [&](const char* name, Bytes bytes) { table.add({name, formatBytes(bytes), share(bytes, plan.peak)}); };
    row("model states", parts.states);
    row("activations and workspace", parts.activations);
    row("gathered copies and buffers", parts.transient);
    row("overhead", parts.overhead);
    row(plan.table.setup.memory == MemoryMode::Paper ? "the paper's bound" : "peak", plan.peak);
    return table.text();
}

std::string baselineText(const std::vector<Baseline>& list, const PlanOutcome& outcome)
{
    TextTable table({{"Baselines", TextTable::Align::Left},
                     {"peak", TextTable::Align::Right},
                     {"step", TextTable::Align::Right},
                     {"against the plan", TextTable::Align::Right},
                     {"fits", TextTable::Align::Left}});
    std::string notes;
    for (const auto& baseline : list) {
        if (!baseline.available && !baseline.note.empty())
            notes += wrapped(fmt::format("{}: {}", baseline.name, baseline.note), "  ");
        if (!baseline.available) {
            table.add({baseline.name, "-", "-", "-", "not here"});
            continue;
        }
        const bool fits = baseline.shortBy <= Bytes(0);
        std::string against = "-";
        if (outcome.plan && outcome.plan->objective.value() > 0)
            against = fmt::format("{:+.1f} %", 100 * (baseline.objective.value() / outcome.plan->objective.value() - 1));
        table.add({baseline.name, formatBytes(baseline.peak), formatSeconds(baseline.objective), against,
                   fits ? "yes" : "short by " + formatBytes(baseline.shortBy)});
    }
    return table.empty() ? "" : '\n' + table.text() + notes;
}

std::string infeasibleText(const PlanDocument& document)
{
    const auto& outcome = document.outcome;
    std::string text = fmt::format("No plan fits {}.", formatBytes(outcome.budget));
    if (!outcome.infeasible)
        return text + '\n';
    const auto& why = *outcome.infeasible;
    text += fmt::format(" The least budget that works is {} ({} B).\n\n", formatBytes(why.leastBudget), why.leastBudget.count());
    for (const auto& sentence : why.because)
        text += wrapped("- " + sentence, "  ");
    if (why.waysOut.empty())
        return text;
    TextTable table(
        {{"What would lower it", TextTable::Align::Left}, {"least budget", TextTable::Align::Right}, {"fits", TextTable::Align::Left}});
    for (const auto& way : why.waysOut)
        table.add({way.what, formatBytes(way.leastBudget), way.leastBudget <= outcome.budget ? "yes" : "no"});
    return text + '\n' + table.text();
}

} // namespace

std::string setupText(const Setup& setup, const std::vector<Pin>& pins)
{
    const auto& cluster = setup.cluster;
    const auto name = setup.model->name.empty() ? std::string("model") : setup.model->name;
    std::string text = wrapped(fmt::format("{}: {} parameters in {} operators, on {} x {} {} ({})", name.substr(0, 60),
                                           formatCount(static_cast<double>(setup.model->parameterCount())), setup.model->operators.size(),
                                           cluster.nodes, cluster.gpusPerNode, cluster.device.name, formatBytes(cluster.device.memory)),
                               "");
    text += fmt::format("batch {} x accumulation {} x {} ranks = {} sequences of {} tokens\n", setup.batch, setup.accumulation,
                        cluster.ranks(), setup.batch * setup.accumulation * cluster.ranks(), setup.sequence);
    const bool parts = setup.recomputedPart != RecomputedPart::Block && setup.recomputedBlocks > 0;
    const std::string of = parts ? fmt::format("{} of ", recomputedPartWord(setup.recomputedPart)) : "";
    text += wrapped(fmt::format("{}, {}, runtime {}, unit {}, attention {}, {}{} of {} blocks recomputed", setup.precision.name,
                                setup.optimizer.name, setup.rules.name, unitWord(setup.unit), attentionWord(setup.attention), of,
                                setup.recomputedBlocks, setup.model->layerCount()),
                    "");
    for (const auto& pin : pins)
        text += wrapped(fmt::format("pinned: {} = {}", pin.pattern, pin.strategy), "");
    return text;
}

std::string factText(const PlanOutcome& outcome)
{
    const auto& plan = *outcome.plan;
    const auto& setup = plan.table.setup;
    auto text = joined({"Step " + formatSeconds(plan.objective), ofBudget(plan.peak, outcome.budget),
                        formatCount(plan.tokensPerSecond()) + " tokens/s", formatSeconds(plan.time.exposed) + " exposed communication",
                        proofText(outcome)});
    const auto other = setup.time == TimeMode::Serial
                           ? fmt::format("{} when communication overlaps compute", formatSeconds(plan.time.overlapped))
                           : fmt::format("{} as the serial sum", formatSeconds(plan.time.serial));
    text += wrapped(fmt::format("The step is {}; {}. One more GiB would save {}.",
                                setup.time == TimeMode::Serial ? "the serial sum of compute and communication" : "simulated with overlap",
                                other, formatSeconds(Seconds(outcome.secondsPerGib))),
                    "");
    if (setup.memory == MemoryMode::Paper)
        text += "The peak is the paper's bound: all activations and the largest transient at once.\n";
    return text + estimateText(plan);
}

std::string estimateText(const Plan& plan)
{
    const auto& units = plan.table.units;
    const auto estimated = std::count_if(units.begin(), units.end(), [](const Unit& unit) { return unit.estimated; });
    if (estimated == 0)
        return "Compute times are measured.\n";
    if (plan.table.setup.profile)
        return fmt::format("Compute times of {} of {} units are estimated in part: the profile has no measurement at their sizes.\n",
                           estimated, units.size());
    if (static_cast<std::size_t>(estimated) == units.size())
        return "All times are estimated from the device's description; --profile takes measured ones.\n";
    return fmt::format("Compute times of {} of {} units are estimated, the others measured.\n", estimated, units.size());
}

std::string choiceText(const Plan& plan)
{
    struct Group {
        std::size_t order = 0;
        std::int64_t count = 0;
        std::int64_t parameters = 0;
        Seconds time;
        bool estimated = false;
    };
    std::map<std::pair<std::string, std::string>, Group> groups;
    for (std::size_t unit = 0; unit < plan.choice.size(); ++unit) {
        const auto& entry = plan.table.units[unit];
        const auto& cost = plan.cost(unit);
        // Nothing to shard and nothing chosen: such rows would only fill the page.
        if (entry.parameters == 0 && !cost.strategy.recompute)
            continue;
        auto& group = groups[{patternOf(entry.name), strategyLabel(cost.strategy, plan.table.setup.cluster.ranks())}];
        if (group.count++ == 0)
            group.order = unit;
        group.parameters += entry.parameters;
        group.time += cost.serial();
        group.estimated = group.estimated || entry.estimated;
    }
    std::vector<std::pair<Group, std::pair<std::string, std::string>>> rows;
    rows.reserve(groups.size());
    for (const auto& [key, group] : groups)
        rows.emplace_back(group, key);
    std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first.order < b.first.order; });
    TextTable table({{"What was chosen", TextTable::Align::Left},
                     {"units", TextTable::Align::Right},
                     {"parameters", TextTable::Align::Right},
                     {"strategy", TextTable::Align::Left},
                     {"time", TextTable::Align::Right}});
    constexpr std::size_t kMostRows = 60;
    for (std::size_t i = 0; i < rows.size() && i < kMostRows; ++i) {
        const auto& [group, key] = rows[i];
        table.add({key.first, std::to_string(group.count), formatCount(static_cast<double>(group.parameters)), key.second,
                   fmt::format("{}{}", group.estimated ? "~" : "", formatSeconds(group.time))});
    }
    auto text = table.text();
    if (rows.size() > kMostRows)
        text += fmt::format("  ... and {} more rows; --json has every operator\n", rows.size() - kMostRows);
    return text + wrapped(fmt::format("~ estimated; dp: replicated, zdp: sharded over all {} ranks, dN: over N, /g: in g slices, kofg: the "
                                      "first k of g slices sharded",
                                      plan.table.setup.cluster.ranks()),
                          "  ");
}

std::string planText(const PlanDocument& document)
{
    auto text = setupText(document.setup, document.pins) + '\n';
    const auto& outcome = document.outcome;
    if (!outcome.plan)
        return text + infeasibleText(document) + baselineText(document.baselines, outcome);
    text +=
        factText(outcome) + '\n' + peakText(*outcome.plan) + '\n' + choiceText(*outcome.plan) + baselineText(document.baselines, outcome);
    for (const auto& note : document.setup.model->notes)
        text += wrapped("note: " + note, "");
    return text;
}

} // namespace loadline
