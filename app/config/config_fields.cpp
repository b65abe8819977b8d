// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/config/config_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace loadline {
namespace {

std::string lower(std::string text)
{
    for (char& c : text)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

bool saysAuto(const Json& value)
{
    return value.is_string() && lower(value.get<std::string>()) == "auto";
}

} // namespace

ConfigFields::ConfigFields(const Json* object, std::string path, ReadLog& log) : m_object(object), m_path(std::move(path)), m_log(&log) {}

const Json* ConfigFields::find(std::string_view key) const
{
    if (m_object == nullptr || !m_object->is_object())
        return nullptr;
    const auto found = m_object->find(std::string(key));
    return found == m_object->end() || found->is_null() ? nullptr : &*found;
}

std::string ConfigFields::name(std::string_view key) const
{
    return m_path.empty() ? std::string(key) : fmt::format("{}.{}", m_path, key);
}

void ConfigFields::note(std::string text) const
{
    if (std::find(m_log->notes.begin(), m_log->notes.end(), text) == m_log->notes.end())
        m_log->notes.push_back(std::move(text));
}

void ConfigFields::refuse(std::string_view key, std::string_view why) const
{
    if (m_log->problem.empty())
        m_log->problem = fmt::format("{}, key '{}': {}", m_log->origin, name(key), why);
}

bool ConfigFields::isAuto(std::string_view key) const
{
    const Json* value = find(key);
    return value != nullptr && saysAuto(*value);
}

std::optional<double> ConfigFields::number(std::string_view key) const
{
    const Json* value = find(key);
    if (value == nullptr || saysAuto(*value))
        return {};
    if (!value->is_number()) {
        refuse(key, "is not a number; write one");
        return {};
    }
    return value->get<double>();
}

std::optional<std::int64_t> ConfigFields::whole(std::string_view key, std::int64_t least, std::int64_t most) const
{
    const auto value = number(key);
    if (!value)
        return {};
    if (!std::isfinite(*value) || *value != std::floor(*value) || *value < static_cast<double>(least) ||
        *value > static_cast<double>(most)) {
        refuse(key, fmt::format("is not a whole number from {} to {}; correct it", least, most));
        return {};
    }
    return static_cast<std::int64_t>(*value);
}

std::optional<bool> ConfigFields::truth(std::string_view key) const
{
    const Json* value = find(key);
    if (value == nullptr || saysAuto(*value))
        return {};
    if (value->is_boolean())
        return value->get<bool>();
    if (value->is_string()) {
        const auto text = lower(value->get<std::string>());
        if (text == "true" || text == "yes")
            return true;
        if (text == "false" || text == "no")
            return false;
    }
    refuse(key, "is neither true nor false; write one of them");
    return {};
}

std::optional<std::string> ConfigFields::word(std::string_view key) const
{
    const Json* value = find(key);
    if (value == nullptr)
        return {};
    if (!value->is_string()) {
        refuse(key, "is not a text; write it in quotes");
        return {};
    }
    return value->get<std::string>();
}

std::string ConfigFields::wholeOrWord(std::string_view key) const
{
    const Json* value = find(key);
    if (value == nullptr)
        return {};
    if (value->is_string())
        return value->get<std::string>();
    if (value->is_primitive())
        return value->dump();
    refuse(key, "is neither a word nor a number; write one");
    return {};
}

ConfigFields ConfigFields::object(std::string_view key) const
{
    const Json* value = find(key);
    if (value != nullptr && !value->is_object()) {
        refuse(key, "is not an object; give it keys of its own");
        value = nullptr;
    }
    return {value, name(key), *m_log};
}

} // namespace loadline
