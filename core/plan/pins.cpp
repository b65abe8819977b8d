// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/pins.hpp"

#include "core/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <string_view>

namespace loadline {
namespace {

/// What a pin's strategy asks for; an empty field leaves that open.
struct Wish {
    bool replicated = false;
    std::optional<std::int64_t> group;
    std::optional<int> slices;
    std::optional<int> shardedSlices; ///< empty with `slices`: all of them
    bool storage = false;             ///< names a way of storing at all
    bool keep = false;
    bool recompute = false;
};

std::optional<std::int64_t> wholeNumber(std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > 1'000'000'000)
        return std::nullopt;
    return value;
}

bool readSlices(std::string_view text, Wish& wish)
{
    const std::size_t of = text.find("of");
    if (of == std::string_view::npos)
        return false;
    const auto sharded = wholeNumber(text.substr(0, of));
    const auto slices = wholeNumber(text.substr(of + 2));
    if (!sharded || !slices || *sharded > *slices)
        return false;
    wish.slices = static_cast<int>(*slices);
    wish.shardedSlices = static_cast<int>(*sharded);
    return true;
}

bool readGroup(std::string_view text, std::int64_t ranks, Wish& wish)
{
    if (text == "zdp") {
        wish.group = ranks;
        return true;
    }
    if (!text.starts_with('d'))
        return false;
    wish.group = wholeNumber(text.substr(1));
    return wish.group.has_value();
}

bool readStorage(std::string_view text, std::int64_t ranks, Wish& wish)
{
    wish.storage = true;
    if (const std::size_t colon = text.find(':'); colon != std::string_view::npos)
        return readGroup(text.substr(0, colon), ranks, wish) && readSlices(text.substr(colon + 1), wish);
    if (readSlices(text, wish))
        return true;
    wish.slices = 1;
    if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
        const auto slices = wholeNumber(text.substr(slash + 1));
        if (!slices)
            return false;
        wish.slices = static_cast<int>(*slices);
        text = text.substr(0, slash);
    }
    if (text == "dp") {
        wish.replicated = true;
        return true;
    }
    return readGroup(text, ranks, wish);
}

std::optional<Wish> readWish(std::string_view text, std::int64_t ranks)
{
    Wish wish;
    for (const std::string& term : split(text, '+')) {
        if (term == "recompute")
            wish.recompute = true;
        else if (term == "keep")
            wish.keep = true;
        else if (wish.storage || !readStorage(term, ranks, wish))
            return std::nullopt;
    }
    return wish;
}

bool granted(const Wish& wish, const Strategy& strategy)
{
    if (wish.recompute && !strategy.recompute)
        return false;
    if (!wish.storage)
        return !wish.keep || !strategy.reshardAfterForward;
    if (strategy.reshardAfterForward == wish.keep)
        return false;
    if (wish.replicated || wish.group == 1)
        return strategy.replicated();
    if (wish.group && strategy.group != *wish.group)
        return false;
    return strategy.slices == *wish.slices && strategy.shardedSlices == wish.shardedSlices.value_or(*wish.slices);
}

Error cannotTake(const Pin& pin, const CostTable& table, std::size_t unit)
{
    std::string offered;
    std::string last;
    for (const OptionCost& option : table.options(unit)) {
        const std::string label = strategyLabel(option.strategy, table.setup.cluster.ranks());
        if (offered.size() > 120)
            continue;
        if (label != last)
            offered += (offered.empty() ? "" : ", ") + label;
        last = label;
    }
    return invalidInput(fmt::format("--pin {}={}: unit {} has no such strategy; it offers {}.", pin.pattern, pin.strategy,
                                    table.units[unit].name, offered));
}

/// Narrows `allowed` of one unit. Leaves units alone that have nothing to shard.
std::optional<Error> narrow(const CostTable& table, std::size_t unit, const Pin& pin, const Wish& wish, std::vector<std::uint32_t>& allowed)
{
    const auto& options = table.options(unit);
    Wish heeded = wish;
    if (table.units[unit].parameters == 0) {
        if (!wish.recompute)
            return std::nullopt;
        heeded.storage = heeded.keep = false;
    }
    std::vector<std::uint32_t> matching;
    for (const std::uint32_t index : allowed)
        if (granted(heeded, options[index].strategy))
            matching.push_back(index);
    if (matching.empty()) {
        if (std::any_of(options.begin(), options.end(), [&](const OptionCost& option) { return granted(heeded, option.strategy); }))
            return invalidInput(fmt::format("--pin {}={}: another pin already excludes that for unit {}; drop one of the two.", pin.pattern,
                                            pin.strategy, table.units[unit].name));
        return cannotTake(pin, table, unit);
    }
    allowed = std::move(matching);
    return std::nullopt;
}

} // namespace

Result<std::vector<std::vector<std::uint32_t>>> allowedOptions(const CostTable& table, const std::vector<Pin>& pins)
{
    std::vector<std::vector<std::uint32_t>> allowed(table.units.size());
    for (std::size_t unit = 0; unit < table.units.size(); ++unit) {
        allowed[unit].resize(table.options(unit).size());
        std::iota(allowed[unit].begin(), allowed[unit].end(), 0U);
    }
    for (const Pin& pin : pins) {
        const auto wish = readWish(pin.strategy, table.setup.cluster.ranks());
        if (!wish)
            return invalidInput(fmt::format("--pin {}={}: the strategy must be one of dp, zdp, d8, zdp/4, 2of4, recompute, with +keep or "
                                            "+recompute where wanted.",
                                            pin.pattern, pin.strategy));
        bool matched = false;
        for (std::size_t unit = 0; unit < table.units.size(); ++unit) {
            if (!matchesPattern(pin.pattern, table.units[unit].name))
                continue;
            matched = true;
            if (auto error = narrow(table, unit, pin, *wish, allowed[unit]))
                return *std::move(error);
        }
        if (!matched)
            return invalidInput(fmt::format("--pin {}={}: no unit has a name like that; the first unit is called {}.", pin.pattern,
                                            pin.strategy, table.units.empty() ? "nothing" : table.units.front().name));
    }
    return allowed;
}

} // namespace loadline
