// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/cuda/gpu.hpp"

#include "profiler/cuda/nccl.hpp"

#include <ATen/Context.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

namespace loadline {
namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

class GpuEvent final : public Event {
public:
    void record() override { m_event.record(); }

    [[nodiscard]] Seconds since(const Event& earlier) const override
    {
        const auto& first = dynamic_cast<const GpuEvent&>(earlier).m_event;
        first.synchronize();
        m_event.synchronize();
        return Seconds(static_cast<double>(first.elapsed_time(m_event)) / 1e3); // CUDA says milliseconds
    }

private:
    mutable at::cuda::CUDAEvent m_event{cudaEventDefault}; // with timing, which libtorch's events leave out
};

class Gpu final : public ComputeDevice {
public:
    Gpu(c10::DeviceIndex index, MeterHooks hooks) : m_index(index), m_hooks(hooks) {}

    [[nodiscard]] c10::Device place() const override { return {c10::DeviceType::CUDA, m_index}; }
    [[nodiscard]] bool shared() const override { return false; }
    void synchronize() override { c10::cuda::getCurrentCUDAStream(m_index).synchronize(); }
    CommunicatorPtr join(const Rendezvous& rendezvous) override { return joinNccl(rendezvous, place()); }

    /// Blocks count as many bytes as were asked for, in the thread that asks: the allocator calls its trackers there. A block ends when it
    /// is given back, even if another stream still uses it, as `allocated_bytes` has it.
    void meter() override
    {
        static bool metered = false;
        if (std::exchange(metered, true))
            return;
        allocator::attachAllocatorTraceTracker([hooks = m_hooks](const allocator::TraceEntry& entry) {
            const auto* block = reinterpret_cast<const void*>(entry.addr_); // NOLINT(performance-no-int-to-ptr): a name, never followed
            if (entry.action_ == allocator::TraceEntry::ALLOC)
                hooks.taken(block, entry.size_);
            else if (entry.action_ == allocator::TraceEntry::FREE_REQUESTED)
                hooks.freed(block);
        });
    }

    [[nodiscard]] DeviceMemory memory() const override
    {
        DeviceMemory memory;
        std::size_t free = 0;
        std::size_t total = 0;
        C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
        memory.free = Bytes(static_cast<std::int64_t>(free));
        memory.total = Bytes(static_cast<std::int64_t>(total));
        const auto stats = allocator::getDeviceStats(m_index);
        constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
        memory.allocated = Bytes(stats.allocated_bytes[kAll].current);
        memory.allocatedPeak = Bytes(stats.allocated_bytes[kAll].peak);
        memory.reserved = Bytes(stats.reserved_bytes[kAll].current);
        memory.reservedPeak = Bytes(stats.reserved_bytes[kAll].peak);
        return memory;
    }

    void resetPeaks() override { allocator::resetPeakStats(m_index); }
    std::unique_ptr<Event> event() override { return std::make_unique<GpuEvent>(); }

private:
    c10::DeviceIndex m_index;
    MeterHooks m_hooks;
};

} // namespace

ComputeDevicePtr openGpu(int index, MeterHooks hooks)
{
    const auto device = static_cast<c10::DeviceIndex>(index);
    c10::cuda::set_device(device);
    at::globalContext().lazyInitDevice(c10::DeviceType::CUDA); // the allocator has no devices before it
    return std::make_unique<Gpu>(device, hooks);
}

} // namespace loadline
