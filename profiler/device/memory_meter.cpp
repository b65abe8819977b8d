// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/device/memory_meter.hpp"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/Exception.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace loadline {
namespace {

thread_local MemoryMeter* ownMeter = nullptr;
std::atomic<MemoryMeter*> everybodysMeter{nullptr};

MemoryMeter* currentMeter()
{
    return ownMeter != nullptr ? ownMeter : everybodysMeter.load(std::memory_order_relaxed);
}

thread_local MemoryCategory currentCategory = MemoryCategory::Activations;

/// Stands before each block; as long as c10's alignment, which tensors rely on.
struct alignas(64) Header {
    MemoryMeter* meter;
    std::int64_t bytes;
    MemoryCategory category;
};
static_assert(sizeof(Header) == 64);

/// The block begins at the header, but the pointer that libtorch sees stays its own context: it then counts as simple data, whose
/// deleter may be called with the data pointer alone.
class CountingAllocator final : public c10::Allocator {
public:
    c10::DataPtr allocate(std::size_t bytes) override
    {
        if (bytes == 0)
            return {nullptr, nullptr, &release, c10::Device(c10::DeviceType::CPU)};
        const auto counted = static_cast<std::int64_t>(bytes);
        MemoryMeter* meter = currentMeter();
        TORCH_CHECK_WITH(OutOfMemoryError, meter == nullptr || meter->add(currentCategory, counted), "out of memory: no room for ", bytes,
                         " bytes more");
        auto* header = new (block(bytes + sizeof(Header), meter, counted)) Header{meter, counted, currentCategory};
        void* data = header + 1;
        return {data, data, &release, c10::Device(c10::DeviceType::CPU)};
    }

    [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &release; }

    void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }

private:
    static void* block(std::size_t size, MemoryMeter* meter, std::int64_t counted)
    {
        try {
            return c10::alloc_cpu(size);
        } catch (...) {
            if (meter != nullptr)
                meter->add(currentCategory, -counted);
            throw;
        }
    }

    static void release(void* data)
    {
        if (data == nullptr)
            return;
        Header* header = static_cast<Header*>(data) - 1;
        if (header->meter != nullptr)
            header->meter->add(header->category, -header->bytes);
        std::destroy_at(header);
        c10::free_cpu(header);
    }
};

constexpr std::uint8_t kPriority = 100; ///< above libtorch's own

/// Blocks of other allocators, which have no room for a header of ours.
struct Elsewhere {
    MemoryMeter* meter;
    std::int64_t bytes;
    MemoryCategory category;
};
std::mutex elsewhereMutex;
std::unordered_map<const void*, Elsewhere>& elsewhere()
{
    static std::unordered_map<const void*, Elsewhere> blocks;
    return blocks;
}

} // namespace

void MemoryMeter::install()
{
    static CountingAllocator allocator; // lives as long as any tensor
    c10::SetCPUAllocator(&allocator, kPriority);
}

MemoryMeter::~MemoryMeter()
{
    if (ownMeter == this)
        ownMeter = nullptr;
    MemoryMeter* self = this;
    everybodysMeter.compare_exchange_strong(self, nullptr);
}

bool MemoryMeter::add(MemoryCategory category, std::int64_t bytes)
{
    const std::int64_t total = m_total.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    const std::int64_t limit = m_limit.load(std::memory_order_relaxed);
    if (limit > 0 && bytes > 0 && total > limit) {
        m_total.fetch_sub(bytes, std::memory_order_relaxed);
        return false;
    }
    m_alive[static_cast<std::size_t>(category)].fetch_add(bytes, std::memory_order_relaxed);
    std::int64_t peak = m_peak.load(std::memory_order_relaxed);
    while (total > peak && !m_peak.compare_exchange_weak(peak, total, std::memory_order_relaxed)) {}
    if (total > peak) {
        for (std::size_t i = 0; i < kMemoryCategories; ++i)
            m_atPeak[i].store(m_alive[i].load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
    return true;
}

void MemoryMeter::taken(const void* block, std::size_t bytes)
{
    MemoryMeter* meter = currentMeter();
    if (meter == nullptr)
        return;
    const Elsewhere entry{meter, static_cast<std::int64_t>(bytes), currentCategory};
    {
        const std::lock_guard lock(elsewhereMutex);
        elsewhere()[block] = entry;
    }
    entry.meter->add(entry.category, entry.bytes);
}

void MemoryMeter::freed(const void* block)
{
    Elsewhere entry{};
    {
        const std::lock_guard lock(elsewhereMutex);
        const auto found = elsewhere().find(block);
        if (found == elsewhere().end())
            return;
        entry = found->second;
        elsewhere().erase(found);
    }
    entry.meter->add(entry.category, -entry.bytes);
}

CategoryBytes MemoryMeter::alive() const
{
    CategoryBytes bytes;
    for (std::size_t i = 0; i < kMemoryCategories; ++i)
        bytes[i] = Bytes(m_alive[i].load(std::memory_order_relaxed));
    return bytes;
}

CategoryBytes MemoryMeter::atPeak() const
{
    CategoryBytes bytes;
    for (std::size_t i = 0; i < kMemoryCategories; ++i)
        bytes[i] = Bytes(m_atPeak[i].load(std::memory_order_relaxed));
    return bytes;
}

void MemoryMeter::resetPeak()
{
    m_peak.store(m_total.load(std::memory_order_relaxed), std::memory_order_relaxed);
    for (std::size_t i = 0; i < kMemoryCategories; ++i)
        m_atPeak[i].store(m_alive[i].load(std::memory_order_relaxed), std::memory_order_relaxed);
}

MeterScope::MeterScope(MemoryMeter& meter, MeterReach reach) : m_reach(reach), m_before(ownMeter), m_elsewhere(everybodysMeter.load())
{
    ownMeter = &meter;
    if (reach == MeterReach::Process)
        everybodysMeter = &meter;
}

MeterScope::~MeterScope()
{
    ownMeter = m_before;
    if (m_reach == MeterReach::Process)
        everybodysMeter = m_elsewhere;
}

CategoryScope::CategoryScope(MemoryCategory category) : m_before(currentCategory)
{
    currentCategory = category;
}

CategoryScope::~CategoryScope()
{
    currentCategory = m_before;
}

} // namespace loadline
