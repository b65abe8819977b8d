// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "profiler/device/device.hpp"

#include <cstddef>

namespace loadline {

/// Where the CUDA half tells the meter of allocations: the meter's state is the program's, not the module's.
struct MeterHooks {
    void (*taken)(const void* block, std::size_t bytes);
    void (*freed)(const void* block);
};

/// The half of profiler/device that needs the CUDA libraries, a module of its own: a machine without them loads none of them.
class CudaModule {
public:
    virtual ~CudaModule() = default;
    virtual int count() = 0;                          ///< GPUs that this process may use; 0 without a driver
    virtual std::vector<WorkerDevice> describe() = 0; ///< all of them; makes no context on any
    virtual std::string whyNone() = 0;                ///< one clause: what CUDA says when there is none
    virtual ComputeDevicePtr open(int index) = 0;     ///< from 0 to count(); throws std::exception if it fails
    virtual void setHooks(MeterHooks hooks) = 0;
};

/// The module's only symbol; it lives as long as the process.
inline constexpr const char* kCudaModuleSymbol = "loadlineCudaModule";
using CudaModuleFunction = CudaModule* (*)();

/// The module beside this program, opened at the first call. Errors: not built or not installed, or its libraries are missing.
Result<CudaModule*> cudaModule();

} // namespace loadline
