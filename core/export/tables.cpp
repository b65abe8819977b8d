// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/tables.hpp"

#include "core/exchange/plan_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace loadline {
namespace {

constexpr std::string_view kHeader =
    "name,unit,parameters,group,slices,sharded_slices,recompute,reshard_after_forward,states_bytes,saved_bytes,"
    "forward_transient_bytes,backward_transient_bytes,compute_seconds,communication_seconds";
constexpr std::size_t kColumns = 14;

std::string quoted(const std::string& text)
{
    if (text.find_first_of(",\"\r\n") == std::string::npos)
        return text;
    std::string result = "\"";
    for (const char c : text)
        result += c == '"' ? std::string("\"\"") : std::string(1, c);
    return result + '"';
}

/// For every operator the unit that runs it.
std::vector<std::size_t> unitsOf(const CostTable& table)
{
    std::vector<std::size_t> units(table.setup.model->operators.size(), 0);
    for (std::size_t u = 0; u < table.units.size(); ++u)
        for (const std::size_t op : table.units[u].operators)
            units[op] = u;
    return units;
}

std::string costColumns(const Plan& plan, std::size_t unit)
{
    const OptionCost& cost = plan.cost(unit);
    return fmt::format("{},{},{},{},{},{}", cost.states().count(), cost.saved.count(), cost.forwardTransient.count(),
                       cost.backwardTransient.count(), cost.compute().value(), cost.communication().value());
}

/// The fields of one record; `at` moves behind it. Nothing if a quote is left open.
std::optional<std::vector<std::string>> nextRecord(std::string_view text, std::size_t& at)
{
    std::vector<std::string> fields(1);
    bool inQuotes = false;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (inQuotes) {
            if (c != '"')
                fields.back() += c;
            else if (at + 1 < text.size() && text[at + 1] == '"')
                fields.back() += text[++at];
            else
                inQuotes = false;
        } else if (c == '"') {
            inQuotes = true;
        } else if (c == ',') {
            fields.emplace_back();
        } else if (c == '\n') {
            ++at;
            break;
        } else if (c != '\r') {
            fields.back() += c;
        }
    }
    if (inQuotes)
        return {};
    return fields;
}

template <class T>
bool number(const std::string& text, T& value)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() && value >= 0;
}

std::optional<PlanRow> rowOf(const std::vector<std::string>& fields)
{
    PlanRow row;
    int recompute = 0;
    int reshard = 0;
    if (fields.size() != kColumns || !number(fields[2], row.parameters) || !number(fields[3], row.strategy.group) ||
        !number(fields[4], row.strategy.slices) || !number(fields[5], row.strategy.shardedSlices) || !number(fields[6], recompute) ||
        !number(fields[7], reshard) || recompute > 1 || reshard > 1)
        return {};
    row.name = fields[0];
    row.strategy.recompute = recompute == 1;
    row.strategy.reshardAfterForward = reshard == 1;
    return row;
}

} // namespace

std::string planCsv(const Plan& plan)
{
    const Model& model = *plan.table.setup.model;
    const auto strategies = strategiesByOperator(plan.table, plan.choice);
    const auto units = unitsOf(plan.table);
    std::string text = fmt::format("{}\r\n", kHeader);
    for (std::size_t i = 0; i < model.operators.size(); ++i) {
        const Strategy& s = strategies[i];
        const bool first = i == 0 || units[i] != units[i - 1];
        text += fmt::format("{},{},{},{},{},{},{},{},{}\r\n", quoted(model.operators[i].name), quoted(plan.table.units[units[i]].name),
                            model.operators[i].parameterCount(), s.group, s.slices, s.shardedSlices, s.recompute ? 1 : 0,
                            s.reshardAfterForward ? 1 : 0, first ? costColumns(plan, units[i]) : std::string(",,,,,"));
    }
    return text;
}

Result<std::vector<PlanRow>> readPlanCsv(std::string_view text, std::string_view origin)
{
    std::vector<PlanRow> rows;
    std::size_t at = 0;
    for (std::size_t record = 1; at < text.size(); ++record) {
        const auto fields = nextRecord(text, at);
        if (!fields)
            return invalidInput(fmt::format("{}, record {}: a quote is never closed; export the table again", origin, record));
        if (record == 1) {
            if (fields->size() != kColumns || fields->front() != "name")
                return invalidInput(fmt::format("{}: the first line is not the header of a plan's table; export it again", origin));
            continue;
        }
        auto row = rowOf(*fields);
        if (!row)
            return invalidInput(
                fmt::format("{}, record {}: a field is missing or no whole number; export the table again", origin, record));
        rows.push_back(std::move(*row));
    }
    return rows;
}

} // namespace loadline
