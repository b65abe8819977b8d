// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/device/device.hpp"

#include "profiler/device/cuda_module.hpp"
#include "profiler/device/failure.hpp"
#include "profiler/device/machine.hpp"
#include "profiler/device/memory_meter.hpp"

#include <fmt/format.h>

#include <chrono>

namespace loadline {
namespace {

/// A CPU computes when it is called, so a point in its queue is a moment.
class CpuEvent final : public Event {
public:
    void record() override { m_at = std::chrono::steady_clock::now(); }

    [[nodiscard]] Seconds since(const Event& earlier) const override
    {
        const auto& other = dynamic_cast<const CpuEvent&>(earlier);
        return Seconds(std::chrono::duration<double>(m_at - other.m_at).count());
    }

private:
    std::chrono::steady_clock::time_point m_at;
};

class CpuDevice final : public ComputeDevice {
public:
    [[nodiscard]] c10::Device place() const override { return {c10::DeviceType::CPU}; }
    [[nodiscard]] bool shared() const override { return true; }
    void synchronize() override {}
    CommunicatorPtr join(const Rendezvous& rendezvous) override { return joinGloo(rendezvous); }
    void meter() override { MemoryMeter::install(); }

    [[nodiscard]] DeviceMemory memory() const override
    {
        DeviceMemory memory;
        const auto machine = readMachine();
        memory.total = machine.memory;
        memory.free = machine.free;
        return memory; // by category and exactly: MemoryMeter
    }

    void resetPeaks() override {}
    std::unique_ptr<Event> event() override { return std::make_unique<CpuEvent>(); }
};

Result<ComputeDevicePtr> openCuda(int index)
{
    const auto module = cudaModule();
    if (!module.ok())
        return Error{ErrorCode::NotFound, module.error().message};
    CudaModule& cuda = *module.value();
    const int devices = cuda.count();
    if (devices == 0)
        return notFound(fmt::format("no CUDA device can be used here: {}; use device 'cpu'", cuda.whyNone()));
    if (index < 0 || index >= devices)
        return notFound(fmt::format("there is no CUDA device {}; this machine has {}, counted from 0", index, devices));
    try {
        return cuda.open(index);
    } catch (const std::exception& exception) {
        return notFound(fmt::format("CUDA device {} cannot be used: {}", index, oneSentence(exception)));
    }
}

} // namespace

Result<ComputeDevicePtr> openDevice(std::string_view kind, int index)
{
    if (kind == "cpu")
        return ComputeDevicePtr(std::make_unique<CpuDevice>());
    if (kind == "cuda")
        return openCuda(index);
    return invalidInput(fmt::format("device '{}' is neither 'cpu' nor 'cuda'; write one of them", kind));
}

std::vector<WorkerDevice> describeDevices(std::string* whyNoGpu)
{
    std::vector<WorkerDevice> devices{describeCpu()};
    const auto module = cudaModule();
    if (!module.ok()) {
        if (whyNoGpu != nullptr)
            *whyNoGpu = module.error().message;
        return devices;
    }
    for (auto& device : module.value()->describe())
        devices.push_back(std::move(device));
    if (devices.size() == 1 && whyNoGpu != nullptr)
        *whyNoGpu = "no CUDA device can be used here: " + module.value()->whyNone();
    return devices;
}

} // namespace loadline
