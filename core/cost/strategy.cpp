// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/strategy.hpp"

#include "core/base/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace loadline {
namespace {

constexpr std::int64_t kMostSlices = 1024;

std::optional<std::int64_t> wholeNumber(std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 0)
        return std::nullopt;
    return value;
}

std::string groupName(std::int64_t group, std::int64_t ranks)
{
    return group == ranks ? "zdp" : fmt::format("d{}", group);
}

std::string storageLabel(const Strategy& strategy, std::int64_t ranks)
{
    if (strategy.replicated())
        return strategy.slices > 1 ? fmt::format("dp/{}", strategy.slices) : "dp";
    std::string group = groupName(strategy.group, ranks);
    if (strategy.slices == 1)
        return group;
    if (strategy.shardedSlices == strategy.slices)
        return fmt::format("{}/{}", group, strategy.slices);
    const std::string part = fmt::format("{}of{}", strategy.shardedSlices, strategy.slices);
    return strategy.group == ranks ? part : group + ":" + part;
}

/// "zdp", "dp" or "d8"; empty if it is none of them.
std::optional<std::int64_t> readGroup(std::string_view text, std::int64_t ranks)
{
    if (text == "dp")
        return 1;
    if (text == "zdp")
        return ranks;
    if (!text.starts_with('d'))
        return std::nullopt;
    return wholeNumber(text.substr(1));
}

/// One storage term into `strategy`; false if it is no such term.
bool readStorage(std::string_view term, std::int64_t ranks, Strategy& strategy)
{
    std::optional<std::int64_t> group = ranks;
    std::optional<std::int64_t> sharded;
    std::optional<std::int64_t> slices = 1;
    std::string_view rest = term;
    if (const auto colon = rest.find(':'); colon != std::string_view::npos) {
        group = readGroup(rest.substr(0, colon), ranks);
        rest = rest.substr(colon + 1);
        if (rest.find("of") == std::string_view::npos)
            return false;
    }
    if (const auto of = rest.find("of"); of != std::string_view::npos) {
        sharded = wholeNumber(rest.substr(0, of));
        slices = wholeNumber(rest.substr(of + 2));
        if (!sharded)
            return false;
    } else {
        if (const auto slash = rest.find('/'); slash != std::string_view::npos) {
            slices = wholeNumber(rest.substr(slash + 1));
            rest = rest.substr(0, slash);
        }
        group = readGroup(rest, ranks);
        sharded = slices;
    }
    if (!group || !slices || *slices < 1 || *slices > kMostSlices || *sharded > *slices)
        return false;
    strategy.group = *sharded == 0 ? 1 : *group;
    strategy.slices = static_cast<int>(*slices);
    strategy.shardedSlices = strategy.group == 1 ? 0 : static_cast<int>(*sharded);
    return true;
}

} // namespace

std::string strategyLabel(const Strategy& strategy, std::int64_t ranks)
{
    std::string label = storageLabel(strategy, ranks);
    if (strategy.recompute)
        label += "+recompute";
    if (!strategy.reshardAfterForward)
        label += "+keep";
    return label;
}

Result<Strategy> parseStrategy(std::string_view text, std::int64_t ranks)
{
    Strategy strategy;
    bool storage = false;
    for (const std::string& term : split(text, '+')) {
        if (term == "recompute") {
            strategy.recompute = true;
        } else if (term == "keep") {
            strategy.reshardAfterForward = false;
        } else if (storage || !readStorage(term, ranks, strategy)) {
            return invalidInput(fmt::format("Strategy '{}' is not one of dp, zdp, d8, zdp/4, 2of4, d8:2of4, recompute, keep; join several "
                                            "with '+'.",
                                            text));
        } else {
            storage = true;
        }
    }
    if (!storage && !strategy.reshardAfterForward && ranks > 1) {
        strategy.group = ranks;
        strategy.shardedSlices = 1;
    }
    if (strategy.group < 1 || strategy.group > ranks || ranks % strategy.group != 0)
        return invalidInput(fmt::format("Strategy '{}' shards over {} ranks, which do not divide the cluster's {}; name a divisor.", text,
                                        strategy.group, ranks));
    if (strategy.replicated() && !strategy.reshardAfterForward)
        return invalidInput(fmt::format("Strategy '{}' keeps a gathered copy of a unit that is not sharded; leave out keep.", text));
    return strategy;
}

} // namespace loadline
