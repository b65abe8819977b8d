// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "profiler/device/communicator.hpp"

#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace loadline {

/// Where ranks meet. Throws std::exception if the port is taken or the others do not come in time. Compiled into the program and into the
/// CUDA module.
c10::intrusive_ptr<c10d::Store> joinStore(const Rendezvous& rendezvous);

} // namespace loadline
