// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

namespace loadline {
namespace {

constexpr double kMostBytes = 9.2e18; // below 2^63

struct SizeUnit {
    std::string_view name; ///< lower case
    double bytes;
};
constexpr std::array kSizeUnits{
    SizeUnit{"", 1},
    SizeUnit{"b", 1},
    SizeUnit{"kb", 1e3},
    SizeUnit{"mb", 1e6},
    SizeUnit{"gb", 1e9},
    SizeUnit{"tb", 1e12},
    SizeUnit{"pb", 1e15},
    SizeUnit{"kib", 1024.0},
    SizeUnit{"mib", 1048576.0},
    SizeUnit{"gib", 1073741824.0},
    SizeUnit{"tib", 1099511627776.0},
    SizeUnit{"pib", 1125899906842624.0},
};

std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
        text.remove_prefix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
        text.remove_suffix(1);
    return text;
}

/// Reads a leading number and cuts it off `text`; false if there is none.
bool takeNumber(std::string_view& text, double& number)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || !std::isfinite(number))
        return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

std::string threeDigits(double value)
{
    const double size = std::abs(value);
    if (size >= 99.95)
        return fmt::format("{:.0f}", value);
    return size >= 9.995 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

} // namespace

std::string formatBytes(Bytes bytes)
{
    constexpr std::array kNames{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    const double size = std::abs(static_cast<double>(bytes.count()));
    if (size < 1024)
        return fmt::format("{} B", bytes.count());
    double value = static_cast<double>(bytes.count());
    std::size_t unit = 0;
    for (value /= 1024; std::abs(value) >= 1023.95 && unit + 1 < kNames.size(); ++unit)
        value /= 1024;
    return fmt::format("{:.1f} {}", value, kNames.at(unit));
}

std::string formatSeconds(Seconds seconds)
{
    const double value = seconds.value();
    const double size = std::abs(value);
    if (size == 0)
        return "0 s";
    if (size >= 0.9995)
        return threeDigits(value) + " s";
    return size >= 0.9995e-3 ? threeDigits(value * 1e3) + " ms" : threeDigits(value * 1e6) + " us";
}

std::string formatCount(double value)
{
    const double size = std::abs(value);
    if (size < 999.5)
        return size == std::floor(size) ? fmt::format("{:.0f}", value) : threeDigits(value);
    constexpr std::array kSuffixes{"k", "M", "G", "T"};
    std::size_t suffix = 0;
    for (value /= 1e3; std::abs(value) >= 999.5 && suffix + 1 < kSuffixes.size(); ++suffix)
        value /= 1e3;
    return threeDigits(value) + kSuffixes.at(suffix);
}

Result<Bytes> parseBytes(std::string_view text)
{
    const auto whole = text;
    text = trimmed(text);
    double number = 0;
    if (!takeNumber(text, number))
        return invalidInput(fmt::format("size '{}' does not start with a number; write it like 72GiB", whole));
    std::string unit{trimmed(text)};
    for (char& c : unit)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (const auto& known : kSizeUnits) {
        if (known.name != unit)
            continue;
        const double bytes = number * known.bytes;
        if (bytes < 0 || bytes > kMostBytes)
            return invalidInput(fmt::format("size '{}' is outside 0 B to 8 EiB; give a size that a device can have", whole));
        return Bytes(static_cast<std::int64_t>(bytes));
    }
    return invalidInput(fmt::format("size '{}' has the unknown unit '{}'; use B, KB, MB, GB, TB, KiB, MiB, GiB or TiB", whole, unit));
}

Result<Bytes> parseBudget(std::string_view text, Bytes whole)
{
    auto rest = trimmed(text);
    if (rest.empty() || rest.back() != '%')
        return parseBytes(text);
    double percent = 0;
    rest.remove_suffix(1);
    rest = trimmed(rest);
    if (!takeNumber(rest, percent) || !rest.empty() || percent < 0 || percent > 100)
        return invalidInput(fmt::format("budget '{}' is not a share from 0% to 100%; write it like 90%", text));
    return Bytes(static_cast<std::int64_t>(static_cast<double>(whole.count()) * (percent / 100)));
}

std::vector<std::string> split(std::string_view text, char separator)
{
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == separator)
            parts.emplace_back();
        else
            parts.back().push_back(c);
    }
    return parts;
}

bool matchesPattern(std::string_view pattern, std::string_view text)
{
    // Greedy with one point of return: the last '*' absorbs one more character after a mismatch. O(|pattern| |text|).
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t mark = 0;
    while (t < text.size()) {
        if (p < pattern.size() && (pattern[p] == '?' || (pattern[p] == text[t] && pattern[p] != '*'))) {
            ++p;
            ++t;
        } else if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            mark = t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*')
        ++p;
    return p == pattern.size();
}

} // namespace loadline
