// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/units.hpp"

#include <string>

namespace loadline {

/// What NVML, the driver's own library, says of one GPU. Empty and zero without it.
struct NvmlFacts {
    std::string driver;     ///< "580.65.06"
    double mostClockHz = 0; ///< of the multiprocessors
    double clockHz = 0;     ///< now
    Bytes free;
};

/// `busId` as cudaDeviceGetPCIBusId writes it. Makes no CUDA context, which would take hundreds of MiB of every GPU looked at.
NvmlFacts nvmlFacts(const std::string& busId);

} // namespace loadline
