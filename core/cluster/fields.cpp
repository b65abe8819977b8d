// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cluster/fields.hpp"

#include "core/base/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace loadline {
namespace {

const Json kEmpty = Json::object();
const Json kNone = Json::array();

/// User text that goes into a message: short, and printable in any terminal.
std::string shown(std::string_view text)
{
    std::string out;
    for (const char c : text.substr(0, 60))
        out.push_back(static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c);
    // A cut inside a UTF-8 character would make the sentence itself invalid.
    if (text.size() > 60) {
        while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80)
            out.pop_back();
        if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xC0)
            out.pop_back();
        out += "...";
    }
    return out;
}

} // namespace

Fields::Fields(const Json& object, std::string origin) : m_object(&object), m_origin(std::move(origin))
{
    if (object.is_object())
        return;
    m_object = &kEmpty;
    m_fault = invalidInput(fmt::format("{} is not a JSON object; put its keys between braces", m_origin));
}

const Json* Fields::find(std::string_view key, bool required)
{
    m_known.emplace(key);
    const auto at = m_object->find(std::string(key));
    if (at != m_object->end())
        return &*at;
    if (required)
        fail(key, "is missing; add it");
    return nullptr;
}

bool Fields::has(std::string_view key) const
{
    return m_object->find(std::string(key)) != m_object->end();
}

double Fields::number(std::string_view key, double least, double most)
{
    const auto* value = find(key, true);
    if (value == nullptr)
        return least;
    if (!value->is_number()) {
        fail(key, "is not a number; write one");
        return least;
    }
    const auto read = value->get<double>();
    if (std::isfinite(read) && read >= least && read <= most)
        return read;
    fail(key, fmt::format("is outside {:g} to {:g}; give a value inside", least, most));
    return least;
}

double Fields::number(std::string_view key, double least, double most, double fallback)
{
    return find(key, false) != nullptr ? number(key, least, most) : fallback;
}

std::int64_t Fields::whole(std::string_view key, std::int64_t least, std::int64_t most)
{
    const auto* value = find(key, true);
    if (value == nullptr)
        return least;
    if (!value->is_number_integer()) {
        fail(key, "is not a whole number; write one");
        return least;
    }
    const auto read = value->get<std::int64_t>();
    if (read >= least && read <= most)
        return read;
    fail(key, fmt::format("is outside {} to {}; give a value inside", least, most));
    return least;
}

std::int64_t Fields::whole(std::string_view key, std::int64_t least, std::int64_t most, std::int64_t fallback)
{
    return find(key, false) != nullptr ? whole(key, least, most) : fallback;
}

Bytes Fields::bytes(std::string_view key, Bytes least, Bytes most)
{
    const auto* value = find(key, true);
    if (value == nullptr)
        return least;
    if (!value->is_string())
        return Bytes(whole(key, least.count(), most.count()));
    const auto read = parseBytes(value->get_ref<const std::string&>());
    if (!read.ok()) {
        fail(key, "is not a size; write it like 79.6GiB or as a whole number of bytes");
        return least;
    }
    if (read.value() >= least && read.value() <= most)
        return read.value();
    fail(key, fmt::format("is outside {} to {}; give a size inside", formatBytes(least), formatBytes(most)));
    return least;
}

std::string Fields::text(std::string_view key)
{
    const auto* value = find(key, true);
    if (value == nullptr)
        return {};
    if (!value->is_string() || value->get_ref<const std::string&>().empty()) {
        fail(key, "is not text; write words between quotes");
        return {};
    }
    if (value->get_ref<const std::string&>().size() > 4096) {
        fail(key, "is longer than 4096 bytes; shorten it");
        return {};
    }
    return value->get<std::string>();
}

std::string Fields::text(std::string_view key, std::string_view fallback)
{
    return find(key, false) != nullptr ? text(key) : std::string(fallback);
}

bool Fields::flag(std::string_view key, bool fallback)
{
    const auto* value = find(key, false);
    if (value == nullptr)
        return fallback;
    if (value->is_boolean())
        return value->get<bool>();
    fail(key, "is not true or false; write one of them");
    return fallback;
}

Fields Fields::object(std::string_view key)
{
    const auto* value = find(key, true);
    if (value != nullptr && !value->is_object())
        fail(key, "is not an object; put its keys between braces");
    Fields inner(value != nullptr && value->is_object() ? *value : kEmpty, m_origin);
    inner.m_path = fmt::format("{}{}.", m_path, key);
    inner.m_fault = m_fault;
    return inner;
}

const Json& Fields::list(std::string_view key, std::size_t most)
{
    const auto* value = find(key, false);
    if (value == nullptr)
        return kNone;
    if (!value->is_array())
        fail(key, "is not a list; put its values between brackets");
    else if (value->size() > most)
        fail(key, fmt::format("has more than {} entries; remove some", most));
    else
        return *value;
    return kNone;
}

std::vector<std::int64_t> Fields::wholes(std::string_view key, std::int64_t least, std::int64_t most, std::vector<std::int64_t> fallback)
{
    constexpr std::size_t kMostEntries = 64;
    if (!has(key))
        return fallback;
    std::vector<std::int64_t> read;
    for (const auto& value : list(key, kMostEntries)) {
        if (value.is_number_integer() && value >= least && value <= most)
            read.push_back(value.get<std::int64_t>());
        else
            fail(key, fmt::format("has an entry that is not a whole number from {} to {}; correct it", least, most));
    }
    return read;
}

void Fields::adopt(const Fields& inner)
{
    if (!m_fault)
        m_fault = inner.m_fault;
}

void Fields::fail(std::string_view key, std::string_view what)
{
    if (!m_fault)
        m_fault = invalidInput(fmt::format("{}: key '{}{}' {}", m_origin, m_path, key, what));
}

void Fields::refuseUnknown()
{
    for (const auto& [key, value] : m_object->items()) {
        if (!m_known.contains(key))
            fail(shown(key), "is unknown; remove it or correct its spelling");
    }
}

std::optional<Error> checkFormat(const Json& document, std::string_view origin, std::string_view kind, int newest)
{
    const auto expected = fmt::format("loadline.{}/{}", kind, newest);
    const auto at = document.is_object() ? document.find("format") : document.end();
    if (at == document.end() || !at->is_string())
        return invalidInput(fmt::format("{} has no text under the key 'format'; a file of this kind says \"{}\" there", origin, expected));
    const auto& format = at->get_ref<const std::string&>();
    const auto prefix = fmt::format("loadline.{}/", kind);
    int version = 0;
    const auto* end = format.data() + format.size();
    if (format.starts_with(prefix)) {
        const auto [stop, error] = std::from_chars(format.data() + prefix.size(), end, version);
        if (error == std::errc::result_out_of_range)
            version = std::numeric_limits<int>::max();
        if (stop != end)
            version = 0;
    }
    if (version < 1)
        return invalidInput(fmt::format("{}: key 'format' is '{}'; expected \"{}\"", origin, shown(format), expected));
    if (version > newest)
        return unsupported(fmt::format("{}: format '{}' is newer than this version of Loadline reads ({}); update Loadline", origin,
                                       shown(format), expected));
    return std::nullopt;
}

Result<Json> parseFormat(std::string_view text, std::string_view origin, std::string_view kind, int newest)
{
    auto document = parseJson(text, origin);
    if (!document.ok())
        return document.error();
    if (auto error = checkFormat(document.value(), origin, kind, newest))
        return *std::move(error);
    return document;
}

} // namespace loadline
