// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/pin_edit.hpp"

#include "core/base/text.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>

namespace loadline {
namespace {

struct Parts {
    std::string pattern;
    std::string strategy;
};

Parts partsOf(const std::string& pin)
{
    const std::size_t equals = pin.rfind('=');
    return equals == std::string::npos ? Parts{pin, {}} : Parts{pin.substr(0, equals), pin.substr(equals + 1)};
}

std::string joined(std::string pattern, const std::string& strategy)
{
    return pattern.append("=").append(strategy);
}

std::set<std::size_t> matched(const std::string& pattern, const CostTable& table)
{
    std::set<std::size_t> units;
    for (std::size_t unit = 0; unit < table.units.size(); ++unit) {
        if (matchesPattern(pattern, table.units[unit].name))
            units.insert(unit);
    }
    return units;
}

int slicesOf(const std::string& strategy)
{
    const std::size_t slash = strategy.find('/');
    int slices = 1;
    if (slash != std::string::npos)
        std::from_chars(strategy.data() + slash + 1, strategy.data() + strategy.size(), slices);
    return slices;
}

bool canTake(const CostTable& table, std::size_t unit, const std::string& strategy)
{
    if (strategy.empty() || strategy == "recompute")
        return true;
    if (table.units[unit].parameters == 0)
        return false;
    const int slices = slicesOf(strategy);
    const auto& options = table.options(unit);
    return slices == 1 || std::any_of(options.begin(), options.end(), [slices](const OptionCost& option) {
               return option.strategy.slices == slices && option.strategy.shardedSlices == slices;
           });
}

/// The name with its block number as '*'; empty if it has none.
std::string folded(const std::string& name)
{
    std::string pattern;
    bool number = false;
    for (const std::string& part : split(name, '.')) {
        const bool digits = !number && !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
        number = number || digits;
        pattern += (pattern.empty() ? "" : ".") + (digits ? std::string("*") : part);
    }
    return number ? pattern : std::string();
}

/// As few patterns as fold whole kinds; the rest by name.
std::vector<std::string> patternsOf(std::set<std::size_t> units, const CostTable& table)
{
    std::vector<std::string> patterns;
    while (!units.empty()) {
        const std::string& name = table.units[*units.begin()].name;
        const std::string pattern = folded(name);
        const std::set<std::size_t> all = pattern.empty() ? std::set<std::size_t>() : matched(pattern, table);
        if (all.size() > 1 && std::includes(units.begin(), units.end(), all.begin(), all.end())) {
            patterns.push_back(pattern);
            for (const std::size_t unit : all)
                units.erase(unit);
        } else {
            patterns.push_back(name);
            units.erase(units.begin());
        }
    }
    return patterns;
}

} // namespace

Result<std::vector<std::string>> withPin(const std::vector<std::string>& pins, const CostTable& table,
                                         const std::vector<std::size_t>& units, const std::string& strategy)
{
    std::set<std::size_t> taken;
    for (const std::size_t unit : units) {
        if (unit < table.units.size() && canTake(table, unit, strategy))
            taken.insert(unit);
    }
    if (taken.empty())
        return invalidInput("None of these operators can be pinned to '" + strategy + "'; choose others, or another way");
    std::vector<std::string> result;
    for (const std::string& pin : pins) {
        const Parts parts = partsOf(pin);
        const bool sameKind = strategy.empty() || (parts.strategy == "recompute") == (strategy == "recompute");
        const std::set<std::size_t> held = matched(parts.pattern, table);
        std::set<std::size_t> rest;
        std::set_difference(held.begin(), held.end(), taken.begin(), taken.end(), std::inserter(rest, rest.end()));
        if (!sameKind || rest.size() == held.size()) {
            result.push_back(pin);
            continue;
        }
        for (const std::string& pattern : patternsOf(rest, table))
            result.push_back(joined(pattern, parts.strategy));
    }
    if (strategy.empty())
        return result;
    for (const std::string& pattern : patternsOf(taken, table))
        result.push_back(joined(pattern, strategy));
    return result;
}

std::vector<std::string> pinsByUnit(const std::vector<std::string>& pins, const CostTable& table)
{
    std::vector<std::string> words(table.units.size());
    for (const std::string& pin : pins) {
        const Parts parts = partsOf(pin);
        for (const std::size_t unit : matched(parts.pattern, table))
            words[unit] += (words[unit].empty() ? "" : " + ") + parts.strategy;
    }
    return words;
}

} // namespace loadline
