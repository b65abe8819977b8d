// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "profiler/device/device.hpp"
#include "profiler/device/rendezvous.hpp"
#include "profiler/program/output.hpp"

#include <string>

namespace loadline {

/// What one rank does, as its environment says (LOADLINE_VERB, default "train"; rendezvousFromEnvironment). Writes events; says why it
/// ended in a `result` event.
ExitCode runRank(const std::string& request);

/// Says why, to whoever reads events; on stderr too where no supervisor does.
ExitCode failRank(RunOutcome outcome, const std::string& why, ExitCode code);
ExitCode failRank(const Error& error);

/// Set by SIGTERM.
bool rankStopAsked();

/// One rank's training; `unsharded`: one process on the same global batches. In rank_train.
ExitCode trainRank(const TrainRequest& request, const Rendezvous& rendezvous, ComputeDevice& device, bool unsharded);

} // namespace loadline
