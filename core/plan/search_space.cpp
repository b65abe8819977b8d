// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/search_space.hpp"

#include "core/plan/pins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace loadline {
namespace {

/// Above this many ticks a step, doubles in the bounds would lose whole ticks (docs/sources.md, Search experiments).
constexpr double kMostTicks = 4503599627370496.0; // 2^52

/// 8 PiB: the search adds up 256 weighted events, which must not overflow.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 53;

bool plausible(Seconds seconds)
{
    return std::isfinite(seconds.value()) && seconds.value() >= 0 && seconds.value() < 1e15;
}

bool plausible(Bytes bytes)
{
    return bytes.count() >= 0 && bytes.count() < kMostBytes;
}

/// All that an option can add to any event.
std::array<Bytes, 23> bytesOf(const OptionCost& cost)
{
    return {cost.parameters,
            cost.optimizer,
            cost.gradients,
            cost.steadyGradients,
            cost.saved,
            cost.kept,
            cost.gathered,
            cost.gatheredBackward,
            cost.input,
            cost.forwardTransient,
            cost.backwardTransient,
            cost.stepTransient,
            cost.recomputed,
            cost.recomputeTransient,
            cost.gatherTemporary,
            cost.averaged,
            cost.forwardBuffer,
            cost.backwardBuffer,
            cost.reduceBuffer,
            cost.reduceTransient,
            cost.fullGradient,
            cost.heldGradient,
            cost.keptToEnd + cost.finalBuffer};
}

bool plausible(const OptionCost& cost)
{
    for (const Bytes bytes : bytesOf(cost))
        if (!plausible(bytes))
            return false;
    for (const Seconds seconds :
         {cost.forwardCompute, cost.backwardCompute, cost.gatherForward, cost.gatherBackward, cost.reduce, cost.step})
        if (!plausible(seconds))
            return false;
    return true;
}

std::optional<Error> fault(const CostTable& table)
{
    if (table.units.empty())
        return invalidInput("The model has no operator to plan; describe at least one.");
    double bytes = 0;
    for (const Unit& unit : table.units) {
        if (unit.costClass >= table.classOptions.size() || table.classOptions[unit.costClass].empty())
            return invalidInput(fmt::format("Unit {} has no strategy to choose from; offer at least one group or granularity.", unit.name));
        double most = 0;
        for (const OptionCost& option : table.classOptions[unit.costClass]) {
            if (!plausible(option))
                return invalidInput(
                    fmt::format("Unit {} has a cost that is negative or too large to plan with; check sizes, batch and links.", unit.name));
            double all = 0;
            for (const Bytes part : bytesOf(option))
                all += static_cast<double>(part.count());
            most = std::max(most, all);
        }
        bytes += most;
    }
    if (bytes > static_cast<double>(kMostBytes) || !plausible(table.overhead) || !plausible(table.constant))
        return invalidInput("The model needs more than 8 PiB on one rank; check sizes, batch and sequence.");
    return std::nullopt;
}

double finestTicks(const CostTable& table)
{
    double seconds = 0;
    for (const Unit& unit : table.units) {
        double most = 0;
        for (const OptionCost& option : table.classOptions[unit.costClass])
            most = std::max(most, option.serial().value());
        seconds += most;
    }
    double perSecond = 1e12;
    while (seconds * perSecond >= kMostTicks && perSecond > 1)
        perSecond /= 1000;
    return perSecond;
}

} // namespace

std::int64_t SearchSpace::ticks(const Choice& choice) const
{
    std::int64_t sum = 0;
    for (std::size_t unit = 0; unit < choice.size(); ++unit)
        sum += ticks(unit, choice[unit]);
    return sum;
}

Result<SearchSpace> makeSearchSpace(CostTable table, const std::vector<Pin>& pins)
{
    if (auto error = fault(table))
        return *std::move(error);
    auto allowed = allowedOptions(table, pins);
    if (!allowed)
        return allowed.error();

    SearchSpace space;
    space.ticksPerSecond = finestTicks(table);
    for (const auto& options : table.classOptions) {
        auto& ticks = space.classTicks.emplace_back();
        for (const OptionCost& option : options)
            ticks.push_back(std::llround(option.serial().value() * space.ticksPerSecond));
    }
    std::map<std::pair<std::size_t, std::vector<std::uint32_t>>, std::size_t> seen;
    for (std::size_t unit = 0; unit < table.units.size(); ++unit) {
        auto key = std::pair(table.units[unit].costClass, std::move((*allowed)[unit]));
        const auto [place, isNew] = seen.try_emplace(std::move(key), space.groups.size());
        if (isNew)
            space.groups.push_back({{}, place->first.second});
        space.groups[place->second].units.push_back(unit);
        space.groupOfUnit.push_back(place->second);
    }
    space.table = std::move(table);
    return space;
}

} // namespace loadline
