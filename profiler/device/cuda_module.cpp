// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/device/cuda_module.hpp"

#include "profiler/device/memory_meter.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

namespace loadline {
namespace {

Result<CudaModule*> openModule()
{
    std::error_code error;
    const auto file = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "loadline_cuda.so";
    if (error || !std::filesystem::exists(file, error))
        return unsupported(
            fmt::format("this Loadline was built without CUDA (no '{}'); build it where the CUDA 13 toolkit is", file.string()));
    // Global: libtorch finds CUDA by the registrations that its CUDA library makes while it is loaded.
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (handle == nullptr)
        return unsupported(
            fmt::format("'{}' cannot be loaded ({}); install the CUDA libraries that PyTorch's wheel names", file.string(), dlerror()));
    const auto function = reinterpret_cast<CudaModuleFunction>(dlsym(handle, kCudaModuleSymbol));
    if (function == nullptr)
        return unsupported(fmt::format("'{}' is not Loadline's; install the one of this version", file.string()));
    CudaModule* module = function();
    module->setHooks({&MemoryMeter::taken, &MemoryMeter::freed});
    return module;
}

} // namespace

Result<CudaModule*> cudaModule()
{
    static const Result<CudaModule*> module = openModule();
    return module;
}

} // namespace loadline
