// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/cuda/nvml.hpp"

#include <dlfcn.h>

#include <array>

namespace loadline {
namespace {

// NVML comes with the driver, its header with a part of the toolkit that is often left out; these few declarations are its stable ABI
// (NVML API reference, "Device Queries").
using Handle = void*;
struct Memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};
constexpr unsigned kClockSm = 1;
constexpr unsigned kDriverVersionLength = 80;
constexpr int kSuccess = 0;

class Nvml {
public:
    Nvml() : m_library(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL))
    {
        if (m_library == nullptr)
            return;
        find(m_init, "nvmlInit_v2");
        find(m_driver, "nvmlSystemGetDriverVersion");
        find(m_handle, "nvmlDeviceGetHandleByPciBusId_v2");
        find(m_memory, "nvmlDeviceGetMemoryInfo");
        find(m_mostClock, "nvmlDeviceGetMaxClockInfo");
        find(m_clock, "nvmlDeviceGetClockInfo");
        m_ready = m_init != nullptr && m_init() == kSuccess;
    }

    [[nodiscard]] NvmlFacts facts(const std::string& busId) const
    {
        NvmlFacts facts;
        std::array<char, kDriverVersionLength> driver{};
        if (m_ready && m_driver != nullptr && m_driver(driver.data(), kDriverVersionLength - 1) == kSuccess)
            facts.driver = driver.data();
        Handle handle = nullptr;
        if (!m_ready || m_handle == nullptr || m_handle(busId.c_str(), &handle) != kSuccess)
            return facts;
        facts.mostClockHz = clockOf(m_mostClock, handle);
        facts.clockHz = clockOf(m_clock, handle);
        Memory memory{};
        if (m_memory != nullptr && m_memory(handle, &memory) == kSuccess)
            facts.free = Bytes(static_cast<std::int64_t>(memory.free));
        return facts;
    }

private:
    using Clock = int (*)(Handle, unsigned, unsigned*);

    template <class Function>
    void find(Function& function, const char* name)
    {
        function = reinterpret_cast<Function>(dlsym(m_library, name));
    }

    static double clockOf(Clock clock, Handle handle)
    {
        unsigned megahertz = 0;
        return clock != nullptr && clock(handle, kClockSm, &megahertz) == kSuccess ? megahertz * 1e6 : 0;
    }

    void* m_library; ///< stays open: the process uses it until it ends
    int (*m_init)() = nullptr;
    int (*m_driver)(char*, unsigned) = nullptr;
    int (*m_handle)(const char*, Handle*) = nullptr;
    int (*m_memory)(Handle, Memory*) = nullptr;
    Clock m_mostClock = nullptr;
    Clock m_clock = nullptr;
    bool m_ready = false;
};

} // namespace

NvmlFacts nvmlFacts(const std::string& busId)
{
    static const Nvml nvml;
    return nvml.facts(busId);
}

} // namespace loadline
