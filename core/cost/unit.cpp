// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace loadline {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

bool isWrapped(const Traits& traits)
{
    return std::holds_alternative<LinearTraits>(traits) || std::holds_alternative<RouterTraits>(traits) ||
           std::holds_alternative<ExpertsTraits>(traits) || std::holds_alternative<ConvolutionTraits>(traits) ||
           std::holds_alternative<CustomTraits>(traits);
}

/// For every operator the index of the one whose parameters it shares, or kNone.
Result<std::vector<std::size_t>> findOwners(const Model& model)
{
    std::vector<std::size_t> owners(model.operators.size(), kNone);
    std::unordered_map<std::string_view, std::size_t> byName;
    for (std::size_t i = 0; i < model.operators.size(); ++i) {
        const Operator& op = model.operators[i];
        if (!op.sharesWith.empty()) {
            const auto found = byName.find(op.sharesWith);
            if (found == byName.end())
                return invalidInput(
                    fmt::format("Operator {} shares parameters with {}, which no operator before it is called; list the owner "
                                "first.",
                                op.name, op.sharesWith));
            const std::size_t owner = found->second;
            owners[i] = owners[owner] == kNone ? owner : owners[owner];
        }
        byName.emplace(op.name, i);
    }
    return owners;
}

/// Which operators' parameters the root unit stores.
std::vector<bool> findRooted(const Setup& setup, const std::vector<std::size_t>& owners)
{
    const auto& operators = setup.model->operators;
    std::vector<bool> rooted(operators.size(), false);
    if (!setup.rules.rootStaysGathered || setup.cluster.ranks() == 1)
        return rooted;
    for (std::size_t i = 0; i < operators.size(); ++i) {
        const Operator& op = operators[i];
        if (op.parameters.empty())
            continue;
        const bool outside = op.place != Place::Layer;
        rooted[i] = setup.unit == UnitKind::Operator ? !isWrapped(op.traits) : outside;
    }
    // A tied linear of its own would be untied (docs/sources.md, FSDP2 2.11): both stay in the root.
    for (std::size_t i = 0; i < operators.size(); ++i)
        if (owners[i] != kNone && operators[i].place != Place::Layer)
            rooted[owners[i]] = true;
    return rooted;
}

bool sameUnit(UnitKind kind, const Operator& a, const Operator& b)
{
    if (kind == UnitKind::Operator || a.place != Place::Layer || b.place != Place::Layer || a.layer != b.layer)
        return false;
    return kind == UnitKind::Block || a.part == b.part;
}

std::string unitName(UnitKind kind, const Operator& first)
{
    if (kind == UnitKind::Operator || first.place != Place::Layer)
        return first.name;
    std::string block = blockName(first.name);
    if (kind == UnitKind::Block)
        return block;
    return first.part.empty() ? first.name : block + "." + first.part;
}

/// The layer's number in names is missing ("encoder.block"): two units must not share a name.
void makeNamesUnique(std::vector<Unit>& units)
{
    std::unordered_map<std::string, int> seen;
    for (Unit& unit : units)
        if (const int count = seen[unit.name]++; count > 0)
            unit.name += fmt::format("#{}", count + 1);
}

} // namespace

std::string blockName(const std::string& name)
{
    std::size_t end = std::string::npos;
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t dot = std::min(name.find('.', at), name.size());
        const bool number =
            dot > at && std::all_of(name.begin() + static_cast<std::ptrdiff_t>(at), name.begin() + static_cast<std::ptrdiff_t>(dot),
                                    [](char c) { return c >= '0' && c <= '9'; });
        if (number) {
            end = dot;
            break;
        }
        at = dot + 1;
    }
    return name.substr(0, end);
}

bool isRecomputed(const Setup& setup, const Unit& unit)
{
    if (unit.place != Place::Layer || unit.layer < 0 || unit.layer >= setup.recomputedBlocks)
        return false;
    if (setup.recomputedPart == RecomputedPart::Block)
        return true;
    if (unit.operators.empty())
        return false;
    const std::string& part = setup.model->operators[unit.operators.front()].part;
    return setup.recomputedPart == RecomputedPart::Mlp ? part == "mlp" : part == "attention" || part == "cross_attention";
}

bool startsRegion(const Setup& setup, const std::vector<Unit>& units, std::size_t index)
{
    return index == 0 || units[index - 1].layer != units[index].layer ||
           isRecomputed(setup, units[index - 1]) != isRecomputed(setup, units[index]);
}

Result<std::vector<Unit>> buildUnits(const Setup& setup)
{
    if (!setup.model || setup.model->operators.empty())
        return invalidInput("The model has no operator to plan; describe at least one.");
    const auto& operators = setup.model->operators;
    const auto owners = findOwners(*setup.model);
    if (!owners)
        return owners.error();
    const std::vector<bool> rooted = findRooted(setup, *owners);

    std::vector<Unit> units;
    std::vector<std::size_t> unitOf(operators.size());
    std::size_t root = kNone;
    for (std::size_t i = 0; i < operators.size(); ++i) {
        const Operator& op = operators[i];
        const bool makesRoot = rooted[i] && root == kNone;
        if (makesRoot || i == 0 || units.back().root || !sameUnit(setup.unit, operators[i - 1], op)) {
            Unit& unit = units.emplace_back();
            unit.name = makesRoot ? "root" : unitName(setup.unit, op);
            unit.place = op.place;
            unit.layer = op.place == Place::Layer ? op.layer : -1;
            unit.root = makesRoot;
        }
        if (makesRoot)
            root = units.size() - 1;
        units.back().operators.push_back(i);
        unitOf[i] = rooted[i] ? root : units.size() - 1;
    }
    for (std::size_t i = 0; i < operators.size(); ++i) {
        Unit& holder = units[unitOf[i]];
        if (!operators[i].parameters.empty()) {
            holder.holds.push_back(i);
            holder.parameters += operators[i].parameterCount();
        }
        const std::size_t owner = (*owners)[i];
        if (owner == kNone || rooted[owner] || unitOf[owner] == unitOf[i])
            continue;
        auto& borrows = holder.borrows;
        if (std::find(borrows.begin(), borrows.end(), unitOf[owner]) == borrows.end())
            borrows.push_back(unitOf[owner]);
    }
    makeNamesUnique(units);
    return units;
}

} // namespace loadline
