// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <exception>
#include <string>

namespace loadline {

/// What an exception out of libtorch means for a run.
enum class Failure { OutOfMemory, PeerLost, TimedOut, Other };
Failure failureOf(const std::exception& exception);

/// Its first line without source places, backtraces and libtorch's advice; never empty.
std::string oneSentence(const std::exception& exception);

} // namespace loadline
