// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plan/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace loadline {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kLeastFirst = 12;

/// "model.layers.~.q_proj": what tells names apart stands at their ends.
std::string shortened(const std::string& text, std::size_t width)
{
    if (text.size() <= width)
        return text;
    const std::size_t tail = (width - 1) * 2 / 3;
    return text.substr(0, width - 1 - tail) + '~' + text.substr(text.size() - tail);
}

} // namespace

std::string TextTable::text(std::string_view indent) const
{
    std::vector<std::size_t> widths;
    for (const auto& column : m_columns)
        widths.push_back(column.title.size());
    for (const auto& row : m_rows) {
        for (std::size_t i = 0; i < widths.size(); ++i)
            widths[i] = std::max(widths[i], row[i].size());
    }
    const std::size_t others =
        std::accumulate(widths.begin() + 1, widths.end(), std::size_t{0}) + kGap * (widths.size() - 1) + indent.size();
    if (others + widths[0] > kPageWidth)
        widths[0] = others + kLeastFirst > kPageWidth ? kLeastFirst : kPageWidth - others;

    std::string out;
    const auto line = [&](const auto& cell) {
        std::string text(indent);
        for (std::size_t i = 0; i < widths.size(); ++i) {
            const auto shown = shortened(cell(i), widths[i]);
            if (i > 0)
                text.append(kGap, ' ');
            text += m_columns[i].align == Align::Right ? fmt::format("{:>{}}", shown, widths[i]) : fmt::format("{:<{}}", shown, widths[i]);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        out += text + '\n';
    };
    line([&](std::size_t i) { return m_columns[i].title; });
    for (const auto& row : m_rows)
        line([&](std::size_t i) { return row[i]; });
    return out;
}

std::string wrapped(std::string_view paragraph, std::string_view indent)
{
    std::string out;
    std::string line(indent);
    std::size_t at = 0;
    while (at < paragraph.size()) {
        auto end = paragraph.find(' ', at);
        end = end == std::string_view::npos ? paragraph.size() : end;
        const auto word = paragraph.substr(at, end - at);
        const bool first = line.size() == indent.size();
        if (!first && line.size() + 1 + word.size() > kPageWidth) {
            out += line + '\n';
            line = indent;
        } else if (!first) {
            line += ' ';
        }
        line += word;
        at = end + 1;
    }
    return out + line + '\n';
}

} // namespace loadline
