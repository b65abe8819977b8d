// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace loadline {

/// A picture under construction: rectangles, lines and words, in pixels from the top left. Numbers keep two digits after the point.
class Svg {
public:
    Svg(double width, double height, std::string_view title);

    void rect(double x, double y, double width, double height, std::string_view style, std::string_view hint = {});
    void line(double x1, double y1, double x2, double y2, std::string_view style);
    /// "M 0 0 L 1 1": as SVG writes paths.
    void path(std::string_view data, std::string_view style);
    void text(double x, double y, std::string_view words, std::string_view style = {});

    [[nodiscard]] std::string finish() &&;

private:
    std::string m_out;
};

/// & < > " as entities; bytes that are no UTF-8 or no XML character as U+FFFD.
std::string xmlText(std::string_view text);

} // namespace loadline
