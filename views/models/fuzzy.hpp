// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <optional>

namespace loadline {

/// How well typed letters match words, the higher the better; empty if they do not come in this order. Letters that begin a word and
/// letters that follow one another count more, a longer text counts less; case does not matter. An empty query matches everything alike.
std::optional<int> fuzzyScore(const QString& typed, const QString& words);

} // namespace loadline
