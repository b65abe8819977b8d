// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/config/document.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <exception>

namespace loadline {
namespace {

/// YAML 1.1's plain words, as Python's loader takes them; anything quoted stays text.
Json scalar(const YAML::Node& node)
{
    const std::string& text = node.Scalar();
    if (node.Tag() == "!") // quoted
        return text;
    bool truth = false;
    if (YAML::convert<bool>::decode(node, truth))
        return truth;
    const char* end = text.data() + text.size();
    std::int64_t whole = 0;
    if (const auto [stop, error] = std::from_chars(text.data(), end, whole); error == std::errc{} && stop == end)
        return whole;
    double number = 0;
    if (const auto [stop, error] = std::from_chars(text.data(), end, number); error == std::errc{} && stop == end && !text.empty())
        return number;
    return text;
}

struct Converter {
    int values = 0;
    std::string problem;

    Json convert(const YAML::Node& node, int depth)
    {
        if (!problem.empty())
            return nullptr;
        if (depth > kMostConfigDepth)
            return refuse(node, fmt::format("is nested deeper than {} levels; flatten it", kMostConfigDepth));
        if (++values > kMostConfigValues)
            return refuse(node, fmt::format("has more than {} values; it is not a training configuration", kMostConfigValues));
        switch (node.Type()) {
        case YAML::NodeType::Scalar:
            return scalar(node);
        case YAML::NodeType::Sequence: {
            Json list = Json::array();
            for (const auto& item : node)
                list.push_back(convert(item, depth + 1));
            return list;
        }
        case YAML::NodeType::Map:
            return convertMap(node, depth);
        default:
            return nullptr;
        }
    }

    Json convertMap(const YAML::Node& node, int depth)
    {
        Json object = Json::object();
        for (const auto& entry : node) {
            if (!entry.first.IsScalar())
                return refuse(entry.first, "has a key that is not a word; write plain keys");
            const std::string& key = entry.first.Scalar();
            if (object.contains(key))
                return refuse(entry.first, fmt::format("has the key '{}' twice; keep one of them", key.substr(0, 60)));
            object[key] = convert(entry.second, depth + 1);
        }
        return object;
    }

    Json refuse(const YAML::Node& node, const std::string& text)
    {
        if (problem.empty())
            problem = fmt::format("line {}: {}", node.Mark().line + 1, text);
        return nullptr;
    }
};

} // namespace

Result<Json> parseYaml(std::string_view text, std::string_view origin)
{
    try {
        const YAML::Node root = YAML::Load(std::string(text));
        Converter converter;
        Json json = converter.convert(root, 0);
        if (!converter.problem.empty())
            return invalidInput(fmt::format("{}, {}", origin, converter.problem));
        return json;
    } catch (const YAML::Exception& problem) {
        return invalidInput(fmt::format("{}, line {}: is not valid YAML ({}); mend the file", origin, problem.mark.line + 1, problem.msg));
    } catch (const std::exception&) {
        return invalidInput(fmt::format("{} is not valid YAML; mend the file", origin));
    }
}

} // namespace loadline
