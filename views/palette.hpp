// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/timeline.hpp"

#include <QColor>
#include <QFont>
#include <QPalette>

#include <array>

namespace loadline {

/// Every colour of the window, by role. One accent (what can be pressed), one budget colour, green and red only for
/// better and worse; a category has the same colour in every chart and table.
struct Palette {
    bool dark = false;
    QColor ground; ///< window behind the panels
    QColor panel;
    QColor line; ///< between panels, grid of charts
    QColor text;
    QColor softText;
    QColor accent;
    QColor onAccent; ///< text on the accent
    QColor budget;
    QColor onBudget; ///< text on the budget's tag
    QColor better;
    QColor worse;
    QColor field;                                   ///< inside of choosers and behind in-cell bars
    QColor chosen;                                  ///< selected row
    std::array<QColor, kMemoryCategories> category; ///< by MemoryCategory
    QColor replicated;
    QColor sharded;
    QColor split;
    QColor compute;
    QColor hidden;
    QColor exposed;
};

const Palette& lightPalette();
const Palette& darkPalette();

/// The one that fits the application's window colour. GUI thread.
const Palette& currentPalette();

/// For QApplication::setPalette.
QPalette toQPalette(const Palette& palette);

/// WCAG contrast ratio, 1 to 21.
double contrast(const QColor& a, const QColor& b);

/// The application's font at so many pixels of a 96 dpi screen (10.5 is fine), optionally semibold.
QFont fontOf(double pixels, bool strong = false);

} // namespace loadline
