// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/palette.hpp"

#include <QGuiApplication>

#include <algorithm>
#include <cmath>

namespace loadline {
namespace {

QColor rgb(unsigned value)
{
    return QColor::fromRgb(static_cast<QRgb>(value | 0xff000000U));
}

Palette makeLight()
{
    Palette p;
    p.ground = rgb(0xf4f5f6);
    p.panel = rgb(0xffffff);
    p.line = rgb(0xdcdfe3);
    p.text = rgb(0x1d2126);
    p.softText = rgb(0x5f6771);
    p.accent = rgb(0x1667b7);
    p.onAccent = rgb(0xffffff);
    p.budget = rgb(0xa86400);
    p.onBudget = rgb(0xffffff);
    p.better = rgb(0x1a7a42);
    p.worse = rgb(0xc0392b);
    p.field = rgb(0xeef0f2);
    p.chosen = rgb(0xdce8f4);
    p.category = {rgb(0x3566ad), rgb(0x8bbbe8), rgb(0x7b5fb5), rgb(0xe0a33a), rgb(0xcf4a60), rgb(0xb4bac2)};
    p.replicated = rgb(0x23897b);
    p.sharded = rgb(0x5257c4);
    p.split = rgb(0xb25fa6);
    p.compute = rgb(0x76828f);
    p.hidden = rgb(0xc3ccd6);
    p.exposed = rgb(0xcf4a60);
    return p;
}

Palette makeDark()
{
    Palette p;
    p.dark = true;
    p.ground = rgb(0x15181d);
    p.panel = rgb(0x1c2026);
    p.line = rgb(0x2d333b);
    p.text = rgb(0xe3e6ea);
    p.softText = rgb(0x98a1ac);
    p.accent = rgb(0x4c9be8);
    p.onAccent = rgb(0x10141a);
    p.budget = rgb(0xf2b134);
    p.onBudget = rgb(0x1c1503);
    p.better = rgb(0x4cb782);
    p.worse = rgb(0xe8705f);
    p.field = rgb(0x15181d);
    p.chosen = rgb(0x24384d);
    p.category = {rgb(0x3f6fb5), rgb(0x7fb2e5), rgb(0x8a6fc0), rgb(0xd99b2b), rgb(0xd8576b), rgb(0x5b6470)};
    p.replicated = rgb(0x2f9e8f);
    p.sharded = rgb(0x6a6fd8);
    p.split = rgb(0xc77dbb);
    p.compute = rgb(0x6e7b8b);
    p.hidden = rgb(0x3d4a5a);
    p.exposed = rgb(0xd8576b);
    return p;
}

double luminance(const QColor& color)
{
    const auto channel = [](double value) { return value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4); };
    return 0.2126 * channel(color.redF()) + 0.7152 * channel(color.greenF()) + 0.0722 * channel(color.blueF());
}

} // namespace

const Palette& lightPalette()
{
    static const Palette palette = makeLight();
    return palette;
}

const Palette& darkPalette()
{
    static const Palette palette = makeDark();
    return palette;
}

const Palette& currentPalette()
{
    // Qt 6.4 has no colour scheme to ask for; the lightness of the window tells.
    return QGuiApplication::palette().color(QPalette::Window).lightness() < 128 ? darkPalette() : lightPalette();
}

QPalette toQPalette(const Palette& p)
{
    QPalette q;
    q.setColor(QPalette::Window, p.ground);
    q.setColor(QPalette::WindowText, p.text);
    q.setColor(QPalette::Base, p.panel);
    q.setColor(QPalette::AlternateBase, p.ground);
    q.setColor(QPalette::Text, p.text);
    q.setColor(QPalette::PlaceholderText, p.softText);
    q.setColor(QPalette::Button, p.panel);
    q.setColor(QPalette::ButtonText, p.text);
    q.setColor(QPalette::BrightText, p.worse);
    q.setColor(QPalette::Highlight, p.accent);
    q.setColor(QPalette::HighlightedText, p.onAccent);
    q.setColor(QPalette::Link, p.accent);
    q.setColor(QPalette::ToolTipBase, p.panel);
    q.setColor(QPalette::ToolTipText, p.text);
    q.setColor(QPalette::Light, p.panel);
    q.setColor(QPalette::Midlight, p.line);
    q.setColor(QPalette::Mid, p.line);
    q.setColor(QPalette::Dark, p.softText);
    q.setColor(QPalette::Shadow, p.line);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        q.setColor(QPalette::Disabled, role, p.softText);
    return q;
}

double contrast(const QColor& a, const QColor& b)
{
    const double one = luminance(a);
    const double other = luminance(b);
    return (std::max(one, other) + 0.05) / (std::min(one, other) + 0.05);
}

QFont fontOf(double pixels, bool strong)
{
    QFont font = QGuiApplication::font();
    font.setPointSizeF(pixels * 0.75); // 96 dots and 72 points to the inch
    font.setWeight(strong ? QFont::DemiBold : QFont::Normal);
    return font;
}

} // namespace loadline
