// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/svg.hpp"

#include <fmt/format.h>

namespace loadline {
namespace {

/// Bytes of the UTF-8 character at `text`, 0 if it is none.
std::size_t characterAt(std::string_view text)
{
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t size = first < 0x80 ? 1 : first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
    if (size == 0 || size > text.size() || first >= 0xf5)
        return 0;
    for (std::size_t i = 1; i < size; ++i) {
        if ((static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80)
            return 0;
    }
    return size;
}

} // namespace

std::string xmlText(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        const std::size_t size = characterAt(text);
        const char first = text.front();
        const bool control = size == 1 && static_cast<unsigned char>(first) < 0x20 && first != '\n' && first != '\t';
        if (size == 0 || control)
            out += "\xEF\xBF\xBD";
        else if (first == '&')
            out += "&amp;";
        else if (first == '<')
            out += "&lt;";
        else if (first == '>')
            out += "&gt;";
        else if (first == '"')
            out += "&quot;";
        else
            out += text.substr(0, size);
        text.remove_prefix(size == 0 ? 1 : size);
    }
    return out;
}

Svg::Svg(double width, double height, std::string_view title)
    : m_out(fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {:.2f} {:.2f}" role="img" aria-label="{}">)", width, height,
                        xmlText(title)))
{
    m_out += '\n';
}

void Svg::rect(double x, double y, double width, double height, std::string_view style, std::string_view hint)
{
    if (width <= 0 || height <= 0)
        return;
    m_out += fmt::format(R"(<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" class="{}")", x, y, width, height, style);
    m_out += hint.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", xmlText(hint));
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view style)
{
    m_out += fmt::format(R"(<line x1="{:.2f}" y1="{:.2f}" x2="{:.2f}" y2="{:.2f}" class="{}"/>)", x1, y1, x2, y2, style);
    m_out += '\n';
}

void Svg::path(std::string_view data, std::string_view style)
{
    m_out += fmt::format(R"(<path d="{}" class="{}"/>)", data, style);
    m_out += '\n';
}

void Svg::text(double x, double y, std::string_view words, std::string_view style)
{
    m_out += fmt::format(R"(<text x="{:.2f}" y="{:.2f}" class="{}">{}</text>)", x, y, style, xmlText(words));
    m_out += '\n';
}

std::string Svg::finish() &&
{
    m_out += "</svg>\n";
    return std::move(m_out);
}

} // namespace loadline
