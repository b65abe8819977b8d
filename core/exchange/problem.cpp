// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/problem.hpp"

#include "core/base/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace loadline {
namespace {

constexpr std::size_t kMostDepth = 64;
constexpr double kMostExactWhole = 9007199254740992.0; // 2^53: a double holds every whole number up to here

enum class Spot { Outside, Root, Classes, Class, Options, Option, Skipped };

/// Follows the one shape that a problem has and puts numbers straight into it.
class ProblemReader : public nlohmann::json_sax<Json> {
public:
    bool null() override { return other("null"); }
    bool boolean(bool) override { return other("a truth value"); }
    bool number_integer(number_integer_t value) override { return number(value, value >= 0); }
    bool number_unsigned(number_unsigned_t value) override
    {
        return number(static_cast<std::int64_t>(value), value <= static_cast<number_unsigned_t>(INT64_MAX));
    }
    bool number_float(number_float_t value, const string_t&) override
    {
        const bool whole = value >= 0 && value <= kMostExactWhole && value == std::floor(value);
        return number(whole ? static_cast<std::int64_t>(value) : 0, whole);
    }
    bool string(string_t& value) override
    {
        if (m_stack.back() == Spot::Root && m_key == "format") {
            m_hasFormat = true;
            if (value == "loadline.problem/1")
                return true;
            return refuse(fmt::format("has the format '{}', and this version reads 'loadline.problem/1'; convert it", value.substr(0, 60)));
        }
        return other("a text");
    }
    bool binary(binary_t&) override { return refuse("holds binary data; write numbers"); }

    bool start_object(std::size_t) override
    {
        if (!deepen())
            return false;
        m_keys.emplace_back();
        switch (m_stack.back()) {
        case Spot::Outside:
            return enter(Spot::Root);
        case Spot::Classes:
            m_problem.classes.emplace_back();
            return enter(Spot::Class);
        case Spot::Options:
            m_problem.classes.back().options.emplace_back();
            m_seen = 0;
            return enter(Spot::Option);
        case Spot::Skipped:
            return enter(Spot::Skipped);
        default:
            return isNumberKey() || isListKey() ? wrongType("an object") : enter(Spot::Skipped);
        }
    }
    bool key(string_t& value) override
    {
        auto& keys = m_keys.back();
        if (std::find(keys.begin(), keys.end(), value) != keys.end())
            return refuse(fmt::format("{}has the key '{}' twice; keep one of them", where(), value.substr(0, 60)));
        keys.push_back(value);
        m_key = value;
        return true;
    }
    bool end_object() override
    {
        const Spot left = m_stack.back();
        if (left == Spot::Option && m_seen != 7)
            return refuse(fmt::format("{}lacks '{}'; every option has persist, transient and time_ps", where(), missing()));
        if (left == Spot::Class && m_problem.classes.back().options.empty())
            return refuse(fmt::format("{}has no options; give it at least one", where()));
        m_keys.pop_back();
        m_stack.pop_back();
        return true;
    }
    bool start_array(std::size_t) override
    {
        if (!deepen())
            return false;
        const Spot at = m_stack.back();
        if (at == Spot::Root && m_key == "classes") {
            m_hasClasses = true;
            return enter(Spot::Classes);
        }
        if (at == Spot::Class && m_key == "options")
            return enter(Spot::Options);
        if (at == Spot::Skipped || ((at == Spot::Root || at == Spot::Class || at == Spot::Option) && !isNumberKey()))
            return enter(Spot::Skipped);
        return wrongType("a list");
    }
    bool end_array() override
    {
        m_stack.pop_back();
        return true;
    }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override
    {
        m_position = position;
        m_problemText = "is not valid JSON; mend the file";
        return false;
    }

    /// What is wrong with the document as a whole once it has been read; empty if nothing is.
    [[nodiscard]] std::string lacking() const
    {
        if (!m_hasFormat)
            return "lacks \"format\": \"loadline.problem/1\"; add it";
        if (!m_hasBudget)
            return "lacks 'budget'; add it in bytes";
        if (!m_hasClasses || m_problem.classes.empty())
            return "has no classes; add at least one";
        return {};
    }
    [[nodiscard]] const std::string& problemText() const { return m_problemText; }
    [[nodiscard]] std::size_t position() const { return m_position; }
    Problem take() { return std::move(m_problem); }

private:
    bool refuse(std::string text)
    {
        m_problemText = std::move(text);
        return false;
    }
    bool deepen() { return m_stack.size() < kMostDepth || refuse(fmt::format("is nested deeper than {} levels; flatten it", kMostDepth)); }
    bool enter(Spot place)
    {
        m_stack.push_back(place);
        return true;
    }
    [[nodiscard]] bool isNumberKey() const
    {
        switch (m_stack.back()) {
        case Spot::Root:
            return m_key == "budget";
        case Spot::Class:
            return m_key == "count";
        case Spot::Option:
            return optionField() >= 0;
        default:
            return false;
        }
    }
    [[nodiscard]] bool isListKey() const
    {
        return (m_stack.back() == Spot::Root && m_key == "classes") || (m_stack.back() == Spot::Class && m_key == "options");
    }
    [[nodiscard]] int optionField() const
    {
        if (m_key == "persist")
            return 0;
        if (m_key == "transient")
            return 1;
        return m_key == "time_ps" ? 2 : -1;
    }
    [[nodiscard]] std::string_view missing() const
    {
        if ((m_seen & 1) == 0)
            return "persist";
        return (m_seen & 2) == 0 ? "transient" : "time_ps";
    }
    bool wrongType(std::string_view what)
    {
        switch (m_stack.back()) {
        case Spot::Outside:
            return refuse(fmt::format("is {}; it must be an object", what));
        case Spot::Classes:
            return refuse(fmt::format("has {} as class {}; a class is an object", what, m_problem.classes.size()));
        case Spot::Options:
            return refuse(fmt::format("{}has {} as an option; an option is an object", where(), what));
        default:
            return refuse(fmt::format("{}has {} as '{}'; {}", where(), what, m_key,
                                      isNumberKey() ? "write a whole number from 0 to 9223372036854775807" : "see docs/formats.md"));
        }
    }
    bool other(std::string_view what)
    {
        const Spot at = m_stack.back();
        if (at == Spot::Skipped)
            return true;
        const bool named = at == Spot::Root || at == Spot::Class || at == Spot::Option;
        const bool format = at == Spot::Root && m_key == "format";
        return named && !isNumberKey() && !isListKey() && !format ? true : wrongType(what);
    }
    bool number(std::int64_t value, bool fits)
    {
        if (!isNumberKey())
            return other("a number");
        if (!fits)
            return wrongType("a number that is negative, broken or too large");
        if (m_stack.back() == Spot::Root) {
            m_hasBudget = true;
            m_problem.budget = value;
        } else if (m_stack.back() == Spot::Class) {
            m_problem.classes.back().count = value;
        } else {
            auto& option = m_problem.classes.back().options.back();
            const int field = optionField();
            m_seen |= 1U << static_cast<unsigned>(field);
            (field == 0 ? option.persist : field == 1 ? option.transient : option.ticks) = value;
        }
        return true;
    }
    /// "class 3, option 1 " with indices from 0, as in `picks`.
    [[nodiscard]] std::string where() const
    {
        if (m_problem.classes.empty() || m_stack.size() < 3)
            return {};
        const auto& options = m_problem.classes.back().options;
        const std::string at = fmt::format("class {}", m_problem.classes.size() - 1);
        const bool inOption = std::find(m_stack.begin(), m_stack.end(), Spot::Option) != m_stack.end();
        return inOption ? fmt::format("{}, option {} ", at, options.size() - 1) : at + ' ';
    }

    Problem m_problem;
    std::vector<Spot> m_stack{Spot::Outside};
    std::vector<std::vector<std::string>> m_keys;
    std::string m_key;
    unsigned m_seen = 0; ///< bits of the option's fields read so far
    bool m_hasFormat = false;
    bool m_hasBudget = false;
    bool m_hasClasses = false;
    std::string m_problemText;
    std::size_t m_position = 0;
};

Json corners(const KnapsackFrontier& frontier)
{
    Json points = Json::array();
    for (const auto& point : frontier.points)
        points.push_back(Json::array({point.bytes, point.ticks}));
    return points;
}

} // namespace

Result<Problem> readProblem(std::string_view text, std::string_view origin)
{
    ProblemReader reader;
    if (Json::sax_parse(text.begin(), text.end(), &reader)) {
        if (const auto lacking = reader.lacking(); !lacking.empty())
            return invalidInput(fmt::format("{} {}", origin, lacking));
        return reader.take();
    }
    if (reader.position() == 0)
        return invalidInput(fmt::format("{}: {}", origin, reader.problemText()));
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(reader.position(), text.size()));
    return invalidInput(fmt::format("{}, line {}: {}", origin, 1 + std::count(text.begin(), end, '\n'), reader.problemText()));
}

std::string solutionJson(const KnapsackPlan& plan, double solveMilliseconds)
{
    const bool feasible = plan.status != SearchStatus::Infeasible;
    Json picks = Json::array();
    for (const auto& chosen : plan.picks) {
        Json list = Json::array();
        for (const auto& [option, count] : chosen)
            list.push_back(Json::array({option, count}));
        picks.push_back(std::move(list));
    }
    Json json;
    json["format"] = "loadline.solution/1";
    json["status"] = statusName(plan.status);
    json["time_ps"] = feasible ? Json(plan.ticks) : Json(nullptr);
    json["lower_bound_ps"] = feasible ? Json(plan.lowerBound) : Json(nullptr);
    json["persist_bytes"] = feasible ? Json(plan.persist) : Json(nullptr);
    json["transient_bytes"] = feasible ? Json(plan.transient) : Json(nullptr);
    json["least_budget_bytes"] = plan.leastBudget;
    json["picks"] = std::move(picks);
    json["work"] = plan.work;
    json["solve_ms"] = solveMilliseconds;
    return json.dump() + '\n';
}

std::string problemFrontierJson(const KnapsackFrontier& frontier, double solveMilliseconds)
{
    Json json;
    json["format"] = "loadline.problem-frontier/1";
    json["exact"] = frontier.exact;
    json["corners"] = corners(frontier);
    json["work"] = frontier.work;
    json["solve_ms"] = solveMilliseconds;
    return json.dump() + '\n';
}

std::string problemFrontierCsv(const KnapsackFrontier& frontier)
{
    std::string text = "bytes,time_ps\n";
    for (const auto& point : frontier.points)
        fmt::format_to(std::back_inserter(text), "{},{}\n", point.bytes, point.ticks);
    return text;
}

std::string_view statusName(SearchStatus status)
{
    switch (status) {
    case SearchStatus::Optimal:
        return "optimal";
    case SearchStatus::WithinGap:
        return "within_gap";
    case SearchStatus::Infeasible:
        return "infeasible";
    }
    return "infeasible";
}

} // namespace loadline
