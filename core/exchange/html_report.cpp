// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/html_report.hpp"

#include "core/base/text.hpp"
#include "core/exchange/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace loadline {
namespace {

constexpr double kWidth = 960;
constexpr double kLeft = 56;
constexpr double kPlot = kWidth - kLeft - 8;
constexpr std::string_view kOpen = "<script type=\"application/json\" id=\"loadline-plan\">";
constexpr std::string_view kClose = "</script>";

constexpr std::array<std::string_view, kMemoryCategories> kCategories{"parameters",  "gradients", "optimizer",
                                                                      "activations", "gathered",  "overhead"};

// The colours of the window's light theme.
constexpr std::string_view kStyle = R"(
body{font:14px/1.45 system-ui,sans-serif;color:#1d2126;background:#f4f5f6;margin:0}
main{max-width:1000px;margin:0 auto;padding:24px 20px 48px;background:#fff}
h1{font-size:20px;margin:0 0 4px}h2{font-size:15px;margin:28px 0 6px}
p,td,th{font-variant-numeric:tabular-nums}p.soft,.soft{color:#636b75}
.facts{display:flex;gap:28px;flex-wrap:wrap;margin:16px 0;border-top:1px solid #dcdfe3;border-bottom:1px solid #dcdfe3;padding:12px 0}
.facts b{display:block;font-size:18px}
svg{width:100%;height:auto;display:block}
svg text{font-size:11px;fill:#636b75}
.parameters{fill:#3566ad}.gradients{fill:#8bbbe8}.optimizer{fill:#7b5fb5}.activations{fill:#e0a33a}.gathered{fill:#cf4a60}.overhead{fill:#b4bac2}
.replicated{fill:#23897b}.sharded{fill:#5257c4}.split{fill:#b25fa6}.none{fill:#e8eaed}
.compute{fill:#76828f}.hidden{fill:#c3ccd6}.exposed{fill:#cf4a60}
.grid{stroke:#dcdfe3}.budget{stroke:#b36b00;stroke-width:2}.stair{fill:none;stroke:#1667b7;stroke-width:2}.dot{fill:#b36b00}
table{border-collapse:collapse;width:100%}th{text-align:left;font-size:11px;text-transform:uppercase;color:#636b75}
td,th{padding:3px 8px 3px 0;border-bottom:1px solid #eef0f2}td.n,th.n{text-align:right}
.key{display:inline-block;width:10px;height:10px;margin:0 4px 0 12px}
)";

std::string keyOf(std::string_view style, std::string_view words)
{
    return fmt::format(R"(<svg class="key" viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" class="{}"/></svg>{})",
                       style, words);
}

std::string_view decisionOf(const Strategy& strategy, std::int64_t parameters)
{
    if (parameters == 0)
        return "none";
    return strategy.replicated() ? "replicated" : strategy.slices > 1 ? "split" : "sharded";
}

/// Horizontal lines at round numbers of units of the value axis.
void grid(Svg& svg, double top, double height, double most, double unit, std::string_view format)
{
    double step = unit;
    while (most / step > 5)
        step *= most / (step * 2) > 5 ? 2 : most / (step * 5) > 5 ? 5 : 2;
    for (double value = 0; value <= most; value += step) {
        const double y = top + height * (1 - value / most);
        svg.line(kLeft, y, kLeft + kPlot, y, "grid");
        svg.text(4, y + 4, fmt::format(fmt::runtime(format), value / unit));
    }
}

std::string memoryPicture(const Plan& plan, Bytes budget)
{
    const Timeline timeline = playTimeline(plan.table, plan.choice);
    constexpr double kTop = 10;
    constexpr double kHeight = 260;
    Svg svg(kWidth, kTop + kHeight + 24, "Memory over one step");
    const double most = 1.06 * double(std::max(timeline.peak, budget).count());
    grid(svg, kTop, kHeight, most, double(std::int64_t{1} << 30), "{:.0f}");
    const double width = kPlot / double(timeline.events.size());
    for (std::size_t i = 0; i < timeline.events.size(); ++i) {
        const TimelineEvent& event = timeline.events[i];
        double y = kTop + kHeight;
        for (std::size_t category = kMemoryCategories; category-- > 0;) {
            const double height = kHeight * double(event.bytes[category].count()) / most;
            y -= height;
            svg.rect(kLeft + width * double(i), y, width + 0.3, height, kCategories[category],
                     category == 0 ? fmt::format("{}: {}", plan.table.units[event.unit].name, formatBytes(event.total())) : std::string());
        }
    }
    const double line = kTop + kHeight * (1 - double(budget.count()) / most);
    svg.line(kLeft, line, kLeft + kPlot, line, "budget");
    svg.text(kLeft + 4, line - 4, "budget " + formatBytes(budget));
    svg.text(kLeft, kTop + kHeight + 16, "forward, backward, optimizer step \xE2\x86\x92");
    return std::move(svg).finish();
}

std::string decisionPicture(const Plan& plan)
{
    Svg svg(kWidth, 26, "Decision of each unit");
    const double width = kPlot / double(plan.choice.size());
    const std::int64_t ranks = plan.table.setup.cluster.ranks();
    for (std::size_t unit = 0; unit < plan.choice.size(); ++unit) {
        const Strategy& strategy = plan.cost(unit).strategy;
        svg.rect(kLeft + width * double(unit), 2, std::max(width - 0.3, 0.4), 20, decisionOf(strategy, plan.table.units[unit].parameters),
                 plan.table.units[unit].name + ": " + strategyLabel(strategy, ranks));
    }
    return std::move(svg).finish();
}

std::string timePicture(const Plan& plan)
{
    constexpr double kTop = 10;
    constexpr double kHeight = 150;
    double most = 1e-9;
    for (std::size_t unit = 0; unit < plan.choice.size(); ++unit)
        most = std::max(most, plan.cost(unit).serial().value());
    Svg svg(kWidth, kTop + kHeight + 6, "Time of each unit");
    grid(svg, kTop, kHeight, most, 1e-3, "{:.3g}");
    const double width = kPlot / double(plan.choice.size());
    for (std::size_t unit = 0; unit < plan.choice.size(); ++unit) {
        const OptionCost& cost = plan.cost(unit);
        const double exposed = std::max(plan.time.exposedByUnit[unit].value(), 0.0);
        const std::array parts{cost.compute().value(), std::max(cost.communication().value() - exposed, 0.0), exposed};
        constexpr std::array<std::string_view, 3> kParts{"compute", "hidden", "exposed"};
        double y = kTop + kHeight;
        for (std::size_t part = 0; part < parts.size(); ++part) {
            const double height = kHeight * parts[part] / most;
            y -= height;
            svg.rect(kLeft + width * double(unit), y, width + 0.1, height, kParts[part], plan.table.units[unit].name);
        }
    }
    return std::move(svg).finish();
}

std::string stairPicture(const Plan& plan, const std::vector<TradeOffPoint>& stair, const std::vector<Baseline>& baselines)
{
    constexpr double kTop = 10;
    constexpr double kHeight = 220;
    double bytes = double(plan.peak.count());
    double seconds = plan.objective.value();
    for (const TradeOffPoint& point : stair) {
        bytes = std::max(bytes, double(point.peak.count()));
        seconds = std::max(seconds, point.time.value());
    }
    bytes *= 1.05;
    seconds *= 1.05;
    const auto x = [&](Bytes at) { return kLeft + kPlot * std::min(double(at.count()) / bytes, 1.0); };
    const auto y = [&](Seconds at) { return kTop + kHeight * (1 - std::min(at.value() / seconds, 1.0)); };
    Svg svg(kWidth, kTop + kHeight + 24, "Least step time over memory");
    grid(svg, kTop, kHeight, seconds, 1e-3, "{:.3g}");
    std::string path;
    for (const TradeOffPoint& point : stair) {
        path += path.empty() ? fmt::format("M {:.2f} {:.2f}", x(point.peak), y(point.time))
                             : fmt::format(" H {:.2f} V {:.2f}", x(point.peak), y(point.time));
    }
    if (!path.empty())
        svg.path(path + fmt::format(" H {:.2f}", kLeft + kPlot), "stair");
    for (const Baseline& baseline : baselines) {
        if (!baseline.available || double(baseline.peak.count()) > bytes || baseline.objective.value() > seconds)
            continue;
        svg.rect(x(baseline.peak) - 3, y(baseline.objective) - 3, 6, 6, "compute", baseline.name);
        svg.text(x(baseline.peak) + 6, y(baseline.objective) + 4, baseline.name);
    }
    svg.rect(x(plan.peak) - 4, y(plan.objective) - 4, 8, 8, "dot", "this plan");
    svg.text(kLeft, kTop + kHeight + 16, "memory, up to " + formatBytes(Bytes(static_cast<std::int64_t>(bytes))) + " \xE2\x86\x92");
    return std::move(svg).finish();
}

std::string facts(const PlanOutcome& outcome)
{
    const Plan& plan = *outcome.plan;
    const auto fact = [](std::string_view title, const std::string& value, const std::string& beside) {
        return fmt::format("<div><span class=\"soft\">{}</span><b>{}</b><span class=\"soft\">{}</span></div>\n", title, xmlText(value),
                           xmlText(beside));
    };
    const std::string proof = outcome.gap <= 0 ? "proven optimal" : fmt::format("within {:.3g} %", outcome.gap * 100);
    return "<div class=\"facts\">\n" +
           fact("step", formatSeconds(plan.objective), fmt::format("{} on two streams", formatSeconds(plan.time.overlapped))) +
           fact("peak", formatBytes(plan.peak), "of " + formatBytes(outcome.budget)) +
           fact("throughput", formatCount(plan.tokensPerSecond()) + " tokens/s", formatCount(plan.samplesPerSecond()) + " samples/s") +
           fact("exposed communication", formatSeconds(plan.time.exposed), "") +
           fact("proof", proof, "no plan is faster than " + formatSeconds(outcome.lowerBound)) + "</div>\n";
}

std::string unitTable(const Plan& plan)
{
    std::string out = "<table><thead><tr><th>unit</th><th>decision</th><th class=\"n\">parameters</th><th class=\"n\">states</th>"
                      "<th class=\"n\">saved</th><th class=\"n\">compute</th><th class=\"n\">communication</th></tr></thead><tbody>\n";
    const std::int64_t ranks = plan.table.setup.cluster.ranks();
    for (std::size_t unit = 0; unit < plan.choice.size(); ++unit) {
        const Unit& which = plan.table.units[unit];
        const OptionCost& cost = plan.cost(unit);
        out += fmt::format("<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
                           "class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
                           xmlText(which.name), which.parameters > 0 ? strategyLabel(cost.strategy, ranks) : "", which.parameters,
                           formatBytes(cost.states()), formatBytes(cost.saved), formatSeconds(cost.compute()),
                           formatSeconds(cost.communication()));
    }
    return out + "</tbody></table>\n";
}

std::string baselineTable(const std::vector<Baseline>& baselines)
{
    std::string out =
        "<table><thead><tr><th>way to choose</th><th class=\"n\">peak</th><th class=\"n\">step</th><th>fits</th></tr></thead><tbody>\n";
    for (const Baseline& each : baselines) {
        const std::string fits = !each.available ? each.note : each.shortBy > Bytes() ? "short by " + formatBytes(each.shortBy) : "fits";
        out +=
            fmt::format("<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>\n", xmlText(each.name),
                        each.available ? formatBytes(each.peak) : "", each.available ? formatSeconds(each.objective) : "", xmlText(fits));
    }
    return out + "</tbody></table>\n";
}

std::string provenance(const PlanDocument& document)
{
    const Setup& setup = document.setup;
    std::vector<std::string> lines{
        fmt::format("Model {}: {} parameters.", document.provenance.model, setup.model->parameterCount()),
        fmt::format("Cluster {}: {} ranks of {}. {}", document.provenance.cluster, setup.cluster.ranks(), setup.cluster.device.name,
                    setup.cluster.device.source),
        fmt::format("Compute times: {}.", document.provenance.profile),
        fmt::format("Memory by the rules of the runtime '{}'; precision {}, optimizer {}; batch {} x {} tokens, {} micro-steps.",
                    setup.rules.name, setup.precision.name, setup.optimizer.name, setup.batch, setup.sequence, setup.accumulation),
        fmt::format("Loadline {}.", loadlineVersion())};
    lines.insert(lines.end(), setup.model->notes.begin(), setup.model->notes.end());
    std::string out = "<ul>\n";
    for (const std::string& line : lines)
        out += "<li>" + xmlText(line) + "</li>\n";
    return out + "</ul>\n";
}

/// JSON that stands inside a script element, which "</" or "<!--" would end or twist: its strings write '<' as an escape.
std::string scriptText(const std::string& json)
{
    std::string out;
    out.reserve(json.size());
    for (const char c : json)
        out += c == '<' ? std::string("\\u003c") : std::string(1, c);
    return out;
}

} // namespace

std::string htmlReport(const PlanDocument& document, const std::vector<TradeOffPoint>& stair)
{
    const Plan& plan = *document.outcome.plan;
    const std::string title =
        fmt::format("{} on {} x {}", document.setup.model->name, document.setup.cluster.ranks(), document.setup.cluster.device.name);
    std::string out =
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n";
    out += fmt::format("<title>Loadline: {}</title><style>{}</style></head><body><main>\n<h1>{}</h1>\n", xmlText(title), kStyle,
                       xmlText(title));
    out += facts(document.outcome);
    out += "<h2>Memory over one step, one GPU, GiB</h2>\n<p class=\"soft\">";
    for (const std::string_view category : kCategories)
        out += keyOf(category, category);
    out += "</p>\n" + memoryPicture(plan, document.outcome.budget);
    out += "<p class=\"soft\">" + keyOf("replicated", "replicated") + keyOf("sharded", "sharded") + keyOf("split", "split in slices") +
           "</p>\n" + decisionPicture(plan);
    out += "<h2>Time of each unit, ms</h2>\n<p class=\"soft\">" + keyOf("compute", "compute") + keyOf("hidden", "hidden communication") +
           keyOf("exposed", "exposed communication") + "</p>\n" + timePicture(plan);
    if (!stair.empty())
        out += "<h2>Trade-off: least step time in ms over memory</h2>\n" + stairPicture(plan, stair, document.baselines);
    if (!document.baselines.empty())
        out += "<h2>Known ways to choose, beside this plan</h2>\n" + baselineTable(document.baselines);
    out += "<h2>Units</h2>\n" + unitTable(plan) + "<h2>Where the figures come from</h2>\n" + provenance(document);
    out += fmt::format("{}{}{}\n</main></body></html>\n", kOpen, scriptText(planJson(document)), kClose);
    return out;
}

Result<SavedPlan> readHtmlReport(std::string_view text, std::string_view origin)
{
    const std::size_t open = text.find(kOpen);
    const std::size_t close = open == std::string_view::npos ? open : text.find(kClose, open);
    if (close == std::string_view::npos)
        return invalidInput(fmt::format("{} is no report of Loadline; give a page that 'export --format html' wrote", origin));
    return readPlan(text.substr(open + kOpen.size(), close - open - kOpen.size()), origin);
}

} // namespace loadline
