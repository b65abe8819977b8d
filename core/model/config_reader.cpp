// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/config_reader.hpp"

#include "core/base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace loadline {
namespace {

const Json& emptyObject()
{
    static const Json object = Json::object();
    return object;
}

std::string_view firstOf(std::string_view keys)
{
    return keys.substr(0, keys.find(' '));
}

/// A value as it goes into a sentence: short, one line.
std::string shown(const Json& value)
{
    if (value.is_array())
        return "a list";
    if (value.is_object())
        return "an object";
    auto text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > 40)
        text = text.substr(0, 37) + "...";
    return text;
}

} // namespace

ConfigReader::ConfigReader(const Json& object, std::string origin, std::string path)
    : m_object(&object), m_origin(std::move(origin)), m_path(std::move(path))
{
}

std::pair<std::string, const Json*> ConfigReader::find(std::string_view keys) const
{
    for (auto& key : split(keys, ' '))
        if (const auto at = m_object->find(key); at != m_object->end() && !at->is_null())
            return {std::move(key), &*at};
    return {std::string(firstOf(keys)), nullptr};
}

std::int64_t ConfigReader::checked(const std::string& key, const Json& value, IntegerRange range)
{
    std::optional<std::int64_t> whole;
    if (value.is_number_integer())
        whole = value.get<std::int64_t>();
    else if (value.is_number_float()) {
        const double number = value.get<double>();
        if (std::abs(number) < 9e15 && number == std::floor(number)) // 4.0 is as good as 4; some tools write it
            whole = static_cast<std::int64_t>(number);
    }
    if (!whole)
        fail(fmt::format("the key '{}{}' is {}, but must be a whole number from {} to {}", m_path, key, shown(value), range.least,
                         range.most));
    else if (*whole < range.least || *whole > range.most)
        fail(fmt::format("the key '{}{}' is {}, but must be from {} to {}", m_path, key, *whole, range.least, range.most));
    else
        return *whole;
    return range.least;
}

std::int64_t ConfigReader::integer(std::string_view keys, IntegerRange range)
{
    if (const auto [key, value] = find(keys); value != nullptr) {
        noteConflict(keys);
        return checked(key, *value, range);
    }
    fail(fmt::format("the key '{}{}' is missing; add it (docs/models.md lists the keys, docs/model-format.md says how to describe a model "
                     "by hand)",
                     m_path, firstOf(keys)));
    return range.least;
}

std::int64_t ConfigReader::integerOr(std::string_view keys, std::int64_t fallback, IntegerRange range)
{
    if (const auto [key, value] = find(keys); value != nullptr) {
        noteConflict(keys);
        return checked(key, *value, range);
    }
    noteDefault(keys, fmt::format("{}", fallback));
    return fallback;
}

std::optional<std::int64_t> ConfigReader::optionalInteger(std::string_view keys, IntegerRange range)
{
    const auto [key, value] = find(keys);
    if (value == nullptr)
        return std::nullopt;
    return checked(key, *value, range);
}

bool ConfigReader::flagOr(std::string_view keys, bool fallback)
{
    const auto [key, value] = find(keys);
    if (value == nullptr) {
        noteDefault(keys, fallback ? "true" : "false");
        return fallback;
    }
    if (!value->is_boolean())
        fail(fmt::format("the key '{}{}' is {}, but must be true or false", m_path, key, shown(*value)));
    return value->is_boolean() ? value->get<bool>() : fallback;
}

double ConfigReader::numberOr(std::string_view keys, double fallback, double least, double most)
{
    const auto [key, value] = find(keys);
    if (value == nullptr) {
        noteDefault(keys, fmt::format("{}", fallback));
        return fallback;
    }
    const double number = value->is_number() ? value->get<double>() : std::nan("");
    if (!(number >= least && number <= most)) {
        fail(fmt::format("the key '{}{}' is {}, but must be a number from {} to {}", m_path, key, shown(*value), least, most));
        return fallback;
    }
    return number;
}

double ConfigReader::capOr(std::string_view key, double fallback)
{
    if (mentions(key) && !has(key))
        return 0;
    return numberOr(key, fallback);
}

std::string ConfigReader::textOr(std::string_view keys, std::string_view fallback)
{
    const auto [key, value] = find(keys);
    if (value == nullptr) {
        noteDefault(keys, fallback);
        return std::string(fallback);
    }
    if (!value->is_string())
        fail(fmt::format("the key '{}{}' is {}, but must be a text in quotes", m_path, key, shown(*value)));
    return value->is_string() ? value->get<std::string>() : std::string(fallback);
}

std::vector<std::string> ConfigReader::texts(std::string_view key)
{
    std::vector<std::string> out;
    const auto [name, value] = find(key);
    if (value == nullptr)
        return out;
    const auto isText = [](const Json& item) { return item.is_string(); };
    if (!value->is_array() || !std::all_of(value->begin(), value->end(), isText)) {
        fail(fmt::format("the key '{}{}' must be a list of texts", m_path, name));
        return out;
    }
    for (const auto& item : *value)
        out.push_back(item.get<std::string>());
    return out;
}

std::vector<std::int64_t> ConfigReader::integers(std::string_view key)
{
    std::vector<std::int64_t> out;
    const auto [name, value] = find(key);
    if (value == nullptr)
        return out;
    const auto isWhole = [](const Json& item) { return item.is_number_integer(); };
    if (!value->is_array() || !std::all_of(value->begin(), value->end(), isWhole)) {
        fail(fmt::format("the key '{}{}' must be a list of whole numbers", m_path, name));
        return out;
    }
    for (const auto& item : *value)
        out.push_back(item.get<std::int64_t>());
    return out;
}

std::int64_t ConfigReader::sizeOf(std::string_view key) const
{
    const auto value = find(key).second;
    return value != nullptr && value->is_structured() ? static_cast<std::int64_t>(value->size()) : 0;
}

std::vector<std::string> ConfigReader::repeatedTexts(std::string_view key)
{
    std::vector<std::string> out;
    const auto found = find(key);
    const auto& name = found.first;
    const Json* value = found.second;
    if (value == nullptr)
        return out;
    const auto wrong = [&] {
        fail(fmt::format("the key '{}{}' must be a list of pairs of a list of texts and a number", m_path, name));
        return std::vector<std::string>{};
    };
    if (!value->is_array())
        return wrong();
    for (const auto& pair : *value) {
        if (!pair.is_array() || pair.size() != 2 || !pair[0].is_array() || !pair[1].is_number_integer())
            return wrong();
        const auto times = checked(name, pair[1], kLayerRange);
        for (std::int64_t i = 0; i < times && out.size() < static_cast<std::size_t>(kLayerRange.most); ++i)
            for (const auto& text : pair[0]) {
                if (!text.is_string())
                    return wrong();
                out.push_back(text.get<std::string>());
            }
    }
    return out;
}

ConfigReader ConfigReader::child(std::string_view key) const
{
    const auto [name, value] = find(key);
    const bool isObject = value != nullptr && value->is_object();
    ConfigReader reader(isObject ? *value : emptyObject(), m_origin, m_path + name + ".");
    if (value != nullptr && !isObject)
        reader.fail(fmt::format("the key '{}{}' is {}, but must be an object", m_path, name, shown(*value)));
    return reader;
}

void ConfigReader::take(const ConfigReader& child)
{
    if (!m_problem)
        m_problem = child.m_problem;
    m_defaults.insert(m_defaults.end(), child.m_defaults.begin(), child.m_defaults.end());
    m_notes.insert(m_notes.end(), child.m_notes.begin(), child.m_notes.end());
}

std::vector<ConfigReader> ConfigReader::children(std::string_view key)
{
    std::vector<ConfigReader> out;
    const auto [name, value] = find(key);
    if (value == nullptr)
        return out;
    const auto isObject = [](const Json& item) { return item.is_object(); };
    if (!value->is_array() || !std::all_of(value->begin(), value->end(), isObject)) {
        fail(fmt::format("the key '{}{}' must be a list of objects", m_path, name));
        return out;
    }
    for (std::size_t i = 0; i < value->size(); ++i)
        out.emplace_back((*value)[i], m_origin, fmt::format("{}{}[{}].", m_path, name, i));
    return out;
}

void ConfigReader::fail(std::string_view sentence, ErrorCode code)
{
    if (!m_problem)
        m_problem = Error{code, fmt::format("{}: {}", m_origin, sentence)};
}

void ConfigReader::require(bool condition, std::string_view sentence)
{
    if (!condition)
        fail(sentence);
}

std::string ConfigReader::defaultsNote() const
{
    if (m_defaults.empty())
        return {};
    return fmt::format("Not in the configuration, so the family's defaults were taken: {}.", fmt::join(m_defaults, ", "));
}

void ConfigReader::noteDefault(std::string_view keys, std::string_view value)
{
    auto text = fmt::format("{}{} = {}", m_path, firstOf(keys), value);
    if (std::find(m_defaults.begin(), m_defaults.end(), text) == m_defaults.end())
        m_defaults.push_back(std::move(text));
}

void ConfigReader::noteConflict(std::string_view keys)
{
    const auto [first, taken] = find(keys);
    for (const auto& key : split(keys, ' ')) {
        const auto at = m_object->find(key);
        if (at == m_object->end() || at->is_null() || *at == *taken)
            continue;
        m_notes.push_back(
            fmt::format("'{}{}' is {} but '{}' is {}: the first one was taken.", m_path, first, shown(*taken), key, shown(*at)));
    }
}

} // namespace loadline
