// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/exchange/worker.hpp"

#include <string>
#include <string_view>

namespace loadline {

enum ExitCode { kDone = 0, kFailed = 1, kWrongRequest = 2, kFault = 3, kNoDevice = 4 };

/// One whole line at once, so that lines of several processes on one stdout do not mix. False once nobody reads any more.
bool putLine(std::string_view line);
bool putEvent(const WorkerEvent& event);
/// A sentence for people, on stderr.
void putWords(std::string_view sentence);

/// Everything on stdin, 256 MiB at most.
std::string readInput();

} // namespace loadline
