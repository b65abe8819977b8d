// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/cuda/gpu.hpp"
#include "profiler/cuda/nccl.hpp"
#include "profiler/cuda/nvml.hpp"
#include "profiler/device/cuda_module.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <array>

namespace loadline {
namespace {

/// "13.0" of 13000, as CUDA writes its versions.
std::string versionText(int version)
{
    return version > 0 ? fmt::format("{}.{}", version / 1000, version % 1000 / 10) : std::string();
}

std::string busIdOf(int index)
{
    std::array<char, 32> text{};
    return cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), index) == cudaSuccess ? text.data() : "";
}

WorkerDevice describeGpu(int index)
{
    WorkerDevice device;
    device.kind = "cuda";
    device.index = index;
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, index) == cudaSuccess) {
        device.name = properties.name;
        device.memory = Bytes(static_cast<std::int64_t>(properties.totalGlobalMem));
    }
    const auto facts = nvmlFacts(busIdOf(index));
    int driver = 0;
    int runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    device.free = facts.free;
    device.driver = facts.driver.empty() ? versionText(driver) : facts.driver;
    device.threads = properties.multiProcessorCount;
    device.versions = {{"torch", TORCH_VERSION},
                       {"backend", "nccl"},
                       {"nccl", ncclVersion()},
                       {"cuda", versionText(runtime)},
                       {"cuda driver", versionText(driver)}};
    if (facts.mostClockHz > 0)
        device.versions.emplace_back("clock", fmt::format("{:.2f} GHz", facts.mostClockHz / 1e9));
    if (facts.clockHz > 0)
        device.versions.emplace_back("clock now", fmt::format("{:.2f} GHz", facts.clockHz / 1e9));
    return device;
}

class Module final : public CudaModule {
public:
    int count() override
    {
        int devices = 0;
        m_status = cudaGetDeviceCount(&devices);
        return m_status == cudaSuccess ? devices : 0;
    }

    std::string whyNone() override
    {
        return count() == 0 && m_status != cudaSuccess ? std::string("CUDA says '") + cudaGetErrorString(m_status) + "'"
                                                       : std::string("the driver lists no device");
    }

    std::vector<WorkerDevice> describe() override
    {
        std::vector<WorkerDevice> devices;
        for (int index = 0; index < count(); ++index)
            devices.push_back(describeGpu(index));
        return devices;
    }

    ComputeDevicePtr open(int index) override { return openGpu(index, m_hooks); }
    void setHooks(MeterHooks hooks) override { m_hooks = hooks; }

private:
    cudaError_t m_status = cudaSuccess;
    MeterHooks m_hooks{};
};

} // namespace
} // namespace loadline

extern "C" __attribute__((visibility("default"))) loadline::CudaModule* loadlineCudaModule()
{
    static loadline::Module module;
    return &module;
}
