// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "profiler/device/communicator.hpp"

namespace loadline {

/// Collectives of `flat` in two phases, so that each byte crosses the slow links between nodes once per node and not once per rank: the
/// "communication with groups" of OSDP's authors (docs/time-model.md, Which link). `flat` has `perNode` neighbouring ranks in each node;
/// where that is one rank, or all of them, `flat` itself comes back. The second phase runs while somebody waits for the first, so it is not
/// overlapped with computing. A reduction takes 1 / perNode of its array as memory of its own. Collective.
CommunicatorPtr twoPhase(CommunicatorPtr flat, int perNode);

} // namespace loadline
