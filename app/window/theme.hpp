// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace loadline {

enum class Theme { System, Light, Dark };

/// "system", "light", "dark"; anything else is System.
Theme themeOf(const QString& name);

/// Remembers what the system's palette was like. Once, right after the application object is made.
void rememberSystemTheme();

/// Style, palette, style sheet and base font of the whole application. Every widget and chart follows at once.
/// `fixedFont`: DejaVu Sans where it is installed, so that pictures and tests do not depend on the machine's choice.
void applyTheme(Theme theme, bool fixedFont = false);

} // namespace loadline
