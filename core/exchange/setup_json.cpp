// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/setup_json.hpp"

#include "core/cluster/fields.hpp"
#include "core/cluster/library.hpp"
#include "core/cluster/recipe.hpp"
#include "core/cost/profile.hpp"
#include "core/exchange/request.hpp"
#include "core/model/format.hpp"

#include <fmt/format.h>

#include <memory>

namespace loadline {
namespace {

constexpr std::int64_t kMostTokens = 1LL << 31;
constexpr std::int64_t kMostBlocks = 1'000'000;
constexpr std::size_t kMostChoices = 16;

/// A document of ours inside another one. It was written by us, so it parses.
Json nested(const std::string& text)
{
    return Json::parse(text, nullptr, false);
}

std::string textOf(const Json& json, std::string_view key)
{
    const auto found = json.find(key);
    return found == json.end() ? std::string("null") : found->dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string originOf(std::string_view origin, std::string_view key)
{
    return fmt::format("{}, setup.{}", origin, key);
}

template <class Number>
Result<std::vector<Number>> numbers(const Json& json, std::string_view key, std::int64_t most, std::string_view origin)
{
    std::vector<Number> list;
    const auto found = json.find(key);
    const bool isList = found != json.end() && found->is_array() && found->size() <= kMostChoices;
    for (std::size_t i = 0; isList && i < found->size(); ++i) {
        const auto& value = (*found)[i];
        if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 || value.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
            break;
        list.push_back(static_cast<Number>(value.get<std::int64_t>()));
    }
    if (!isList || list.size() != found->size())
        return invalidInput(fmt::format("{}, key 'setup.{}' is not a list of at most {} whole numbers from 1 to {}; save the plan again",
                                        origin, key, kMostChoices, most));
    return list;
}

Result<std::vector<Pin>> readPins(const Json& json, std::string_view origin)
{
    std::vector<Pin> pins;
    const auto found = json.find("pins");
    if (found == json.end() || !found->is_array())
        return invalidInput(fmt::format("{}, key 'setup.pins' is not a list; save the plan again", origin));
    for (const auto& entry : *found) {
        if (!entry.is_object())
            return invalidInput(fmt::format("{}, key 'setup.pins' has an entry that is no object; save the plan again", origin));
        Fields fields(entry, originOf(origin, "pins"));
        Pin pin;
        pin.pattern = fields.text("pattern");
        pin.strategy = fields.text("strategy");
        if (fields.fault())
            return *fields.fault();
        pins.push_back(std::move(pin));
    }
    return pins;
}

std::optional<Error> readParts(const Json& json, std::string_view origin, Setup& setup)
{
    const auto found = json.find("model");
    if (found == json.end() || !found->is_object())
        return invalidInput(fmt::format("{}, key 'setup.model' is not an object; save the plan again", origin));
    auto model = readModelDocument(*found, originOf(origin, "model"));
    if (!model)
        return model.error();
    setup.model = std::make_shared<const Model>(std::move(*model));
    auto cluster = readCluster(textOf(json, "cluster"), originOf(origin, "cluster"));
    if (!cluster)
        return cluster.error();
    setup.cluster = std::move(*cluster);
    auto precision = readPrecision(textOf(json, "precision"), originOf(origin, "precision"));
    if (!precision)
        return precision.error();
    setup.precision = std::move(*precision);
    auto optimizer = readOptimizer(textOf(json, "optimizer"), originOf(origin, "optimizer"));
    if (!optimizer)
        return optimizer.error();
    setup.optimizer = std::move(*optimizer);
    if (const auto profile = json.find("profile"); profile != json.end() && !profile->is_null()) {
        if (!profile->is_string())
            return invalidInput(fmt::format("{}, key 'setup.profile' is not a text; save the plan again", origin));
        auto read = readProfile(profile->get<std::string>(), originOf(origin, "profile"));
        if (!read)
            return read.error();
        setup.profile = std::make_shared<const Profile>(std::move(*read));
    }
    return {};
}

std::optional<Error> readModes(Fields& fields, Setup& setup)
{
    const auto unit = resolveUnit(fields.text("unit"));
    const auto memory = resolveMemory(fields.text("memory"));
    const auto time = resolveTime(fields.text("time"));
    const auto attention = resolveAttention(fields.text("attention"));
    const auto rules = resolveRuntime(fields.text("runtime"));
    if (fields.fault())
        return fields.fault();
    for (const auto* problem : {unit ? nullptr : &unit.error(), memory ? nullptr : &memory.error(), time ? nullptr : &time.error(),
                                attention ? nullptr : &attention.error(), rules ? nullptr : &rules.error()}) {
        if (problem != nullptr)
            return *problem;
    }
    setup.unit = *unit;
    setup.memory = *memory;
    setup.time = *time;
    setup.attention = *attention;
    setup.rules = *rules;
    return {};
}

} // namespace

Json setupJson(const Setup& setup, const std::vector<Pin>& pins)
{
    Json json;
    json["sequence"] = setup.sequence;
    json["unit"] = unitWord(setup.unit);
    json["granularities"] = setup.granularities;
    json["groups"] = setup.groups;
    json["recomputed_blocks"] = setup.recomputedBlocks;
    if (setup.recomputedPart != RecomputedPart::Block)
        json["recomputed_part"] = recomputedPartWord(setup.recomputedPart);
    json["attention"] = attentionWord(setup.attention);
    json["dropout"] = setup.dropout ? Json(*setup.dropout) : Json(nullptr);
    json["overhead_bytes"] = setup.overhead ? Json(setup.overhead->count()) : Json(nullptr);
    json["memory"] = memoryWord(setup.memory);
    json["time"] = timeWord(setup.time);
    json["runtime"] = setup.rules.name;
    Json list = Json::array();
    for (const auto& pin : pins)
        list.push_back({{"pattern", pin.pattern}, {"strategy", pin.strategy}});
    json["pins"] = std::move(list);
    json["precision"] = nested(writePrecision(setup.precision));
    json["optimizer"] = nested(writeOptimizer(setup.optimizer));
    json["cluster"] = nested(writeCluster(setup.cluster));
    json["profile"] = setup.profile ? Json(writeProfile(*setup.profile)) : Json(nullptr);
    json["model"] = modelJson(*setup.model);
    return json;
}

Result<SetupAndPins> readSetupJson(const Json& json, std::string_view origin)
{
    if (!json.is_object())
        return invalidInput(fmt::format("{}, key 'setup' is not an object; save the plan again", origin));
    SetupAndPins result;
    Setup& setup = result.setup;
    Fields fields(json, fmt::format("{}, setup", origin));
    setup.sequence = fields.whole("sequence", 1, kMostTokens);
    setup.recomputedBlocks = fields.whole("recomputed_blocks", 0, kMostBlocks);
    if (fields.has("recomputed_part")) {
        const auto part = resolveRecomputedPart(fields.text("recomputed_part"));
        if (!part)
            return fields.fault() ? *fields.fault() : invalidInput(fmt::format("{}, {}", origin, part.error().message));
        setup.recomputedPart = *part;
    }
    if (fields.has("dropout") && !json["dropout"].is_null())
        setup.dropout = fields.number("dropout", 0, 1);
    if (fields.has("overhead_bytes") && !json["overhead_bytes"].is_null())
        setup.overhead = Bytes(fields.whole("overhead_bytes", 0, INT64_MAX / 4));
    if (auto problem = readModes(fields, setup))
        return *problem;
    auto granularities = numbers<int>(json, "granularities", 1024, origin);
    if (!granularities)
        return granularities.error();
    setup.granularities = std::move(*granularities);
    auto groups = numbers<std::int64_t>(json, "groups", kMostRanks, origin);
    if (!groups)
        return groups.error();
    setup.groups = std::move(*groups);
    auto pins = readPins(json, origin);
    if (!pins)
        return pins.error();
    result.pins = std::move(*pins);
    if (auto problem = readParts(json, origin, setup))
        return *problem;
    return result;
}

} // namespace loadline
