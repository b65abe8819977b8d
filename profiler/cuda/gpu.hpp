// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "profiler/device/cuda_module.hpp"

namespace loadline {

/// One GPU, which becomes this thread's current one. Throws std::exception if it cannot be initialised.
ComputeDevicePtr openGpu(int index, MeterHooks hooks);

} // namespace loadline
