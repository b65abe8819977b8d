// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "profiler/device/communicator.hpp"

#include <c10/core/Device.h>

namespace loadline {

/// Processes over NCCL, one GPU each, which is `device`. Collectives run on the process group's own stream, so a gather that is
/// started early runs beside computing. Throws std::exception if the others do not come in time.
CommunicatorPtr joinNccl(const Rendezvous& rendezvous, c10::Device device);

/// "2.28.9", of the library that is loaded.
std::string ncclVersion();

} // namespace loadline
