// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/exchange/verdict.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace loadline {
namespace {

constexpr std::array<std::string_view, 4> kKinds{"loss", "bytes", "peak", "time"}; ///< by VerdictLine::Kind

std::string figure(const VerdictTerm& term, double value)
{
    return term.kind == VerdictTerm::Kind::Time ? formatSeconds(Seconds(value)) : formatBytes(Bytes(static_cast<std::int64_t>(value)));
}

std::string termsText(const RunComparison& comparison)
{
    std::string text = fmt::format("{:<28}{:>14}{:>14}{:>9}  {}\n", "", "predicted", "measured", "error", "booked to");
    for (const auto& term : comparison.terms)
        text += fmt::format("{:<28}{:>14}{:>14}{:>+8.1f}%  {}\n",
                            fmt::format("{}: {}", term.kind == VerdictTerm::Kind::Time ? "time" : "peak", term.name),
                            figure(term, term.predicted), figure(term, term.measured), 100 * term.share, term.cause);
    return text;
}

double errorOf(const UnitDifference& unit)
{
    return std::abs((unit.measuredForward + unit.measuredBackward).value() - (unit.predictedForward + unit.predictedBackward).value());
}

std::string unitsText(const RunComparison& comparison, std::size_t most)
{
    auto units = comparison.units;
    std::stable_sort(units.begin(), units.end(), [](const UnitDifference& a, const UnitDifference& b) { return errorOf(a) > errorOf(b); });
    units.resize(std::min(units.size(), most));
    if (units.empty())
        return {};
    std::string text = fmt::format("{:<28}{:>28}{:>28}\n", "furthest off", "forward pred. / meas.", "backward pred. / meas.");
    for (const auto& unit : units)
        text += fmt::format("{:<28}{:>28}{:>28}\n", unit.name,
                            fmt::format("{} / {}", formatSeconds(unit.predictedForward), formatSeconds(unit.measuredForward)),
                            fmt::format("{} / {}", formatSeconds(unit.predictedBackward), formatSeconds(unit.measuredBackward)));
    return text;
}

/// Not a number is null.
Json numberJson(double value)
{
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json linesJson(const RunComparison& comparison)
{
    Json lines = Json::object();
    for (const auto& line : comparison.lines) {
        Json json;
        json["holds"] = line.holds ? Json(*line.holds) : Json(nullptr);
        json["text"] = line.text;
        lines[std::string(kKinds[static_cast<std::size_t>(line.kind)])] = std::move(json);
    }
    return lines;
}

Json termsJson(const RunComparison& comparison)
{
    Json terms = Json::array();
    for (const auto& term : comparison.terms)
        terms.push_back({{"of", term.kind == VerdictTerm::Kind::Time ? "time" : "memory"},
                         {"name", term.name},
                         {"predicted", numberJson(term.predicted)},
                         {"measured", numberJson(term.measured)},
                         {"share", numberJson(term.share)},
                         {"cause", term.cause}});
    return terms;
}

Json unitsJson(const RunComparison& comparison)
{
    Json units = Json::array();
    for (const auto& unit : comparison.units)
        units.push_back({{"name", unit.name},
                         {"predicted", {{"forward", unit.predictedForward.value()}, {"backward", unit.predictedBackward.value()}}},
                         {"measured", {{"forward", unit.measuredForward.value()}, {"backward", unit.measuredBackward.value()}}}});
    return units;
}

} // namespace

std::string comparisonText(const RunComparison& comparison, std::size_t mostUnits)
{
    std::string text = termsText(comparison);
    if (const auto units = unitsText(comparison, mostUnits); !units.empty())
        text += '\n' + units;
    text += '\n';
    for (const auto& line : comparison.lines)
        text += fmt::format("{}  {}\n", line.holds ? (*line.holds ? "yes" : "no ") : "  ?", line.text);
    return text;
}

std::string verdictText(const RunComparison& comparison)
{
    std::string text = comparison.holds() ? "verdict: the plan holds" : "verdict: the plan does not hold";
    for (const auto& line : comparison.lines)
        text += "; " + line.text;
    return text;
}

std::string verdictJson(const RunComparison& comparison)
{
    Json json;
    json["format"] = "loadline.verdict/1";
    json["holds"] = comparison.holds();
    json["steps"] = comparison.steps;
    json["step_seconds"] = {{"predicted", comparison.predictedStep.value()}, {"measured", comparison.measuredStep.value()}};
    json["peak_bytes"] = {{"predicted", comparison.predictedPeak.count()}, {"measured", comparison.measuredPeak.count()}};
    json["largest_loss_error"] = numberJson(comparison.largestLossError);
    json["lines"] = linesJson(comparison);
    json["terms"] = termsJson(comparison);
    json["operators"] = unitsJson(comparison);
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

} // namespace loadline
