// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace loadline {

/// Small things that are remembered for a person from one start to the next, in an INI file of their configuration folder. A file that
/// cannot be read or written means that nothing is remembered; it is never an error.
namespace habits {

[[nodiscard]] QString file();

/// The mark at the budget line was followed once; it is never shown again.
[[nodiscard]] bool coachDone();
void setCoachDone();

/// Nothing should move by itself: LOADLINE_REDUCED_MOTION, else what this person's desktop says (GTK's gtk-enable-animations,
/// KDE's AnimationDurationFactor).
[[nodiscard]] bool reducedMotion();

} // namespace habits
} // namespace loadline
