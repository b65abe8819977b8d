// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/config/document.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cmath>
#include <exception>
#include <string>

namespace loadline {
namespace {

Json convert(const toml::node& node, int depth, int& values)
{
    if (depth > kMostConfigDepth || ++values > kMostConfigValues)
        return nullptr;
    if (const auto* table = node.as_table()) {
        Json object = Json::object();
        for (const auto& [key, value] : *table)
            object[std::string(key.str())] = convert(value, depth + 1, values);
        return object;
    }
    if (const auto* array = node.as_array()) {
        Json list = Json::array();
        for (const auto& item : *array)
            list.push_back(convert(item, depth + 1, values));
        return list;
    }
    if (const auto* text = node.as_string())
        return text->get();
    if (const auto* whole = node.as_integer())
        return whole->get();
    if (const auto* number = node.as_floating_point())
        return std::isfinite(number->get()) ? Json(number->get()) : Json(nullptr);
    if (const auto* truth = node.as_boolean())
        return truth->get();
    return nullptr; // dates: nothing that is read here
}

} // namespace

Result<Json> parseToml(std::string_view text, std::string_view origin)
{
    toml::table root;
    try {
        root = toml::parse(text);
    } catch (const toml::parse_error& problem) {
        return invalidInput(
            fmt::format("{}, line {}: is not valid TOML ({}); mend the file", origin, problem.source().begin.line, problem.description()));
    } catch (const std::exception&) {
        return invalidInput(fmt::format("{} is not valid TOML; mend the file", origin));
    }
    int values = 0;
    Json json = convert(root, 0, values);
    if (values > kMostConfigValues)
        return invalidInput(fmt::format("{} has more than {} values; it is not a training configuration", origin, kMostConfigValues));
    return json;
}

} // namespace loadline
