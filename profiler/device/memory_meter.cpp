// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/device/memory_meter.hpp"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace loadline {

class MemoryMeter::Counts {
public:
    /// False, having counted nothing, if a positive `bytes` is more than the limit lets in.
    bool add(MemoryCategory category, std::int64_t bytes)
    {
        const std::int64_t now = total.fetch_add(bytes, std::memory_order_relaxed) + bytes;
        const std::int64_t most = limit.load(std::memory_order_relaxed);
        if (most > 0 && bytes > 0 && now > most) {
            total.fetch_sub(bytes, std::memory_order_relaxed);
            return false;
        }
        alive[static_cast<std::size_t>(category)].fetch_add(bytes, std::memory_order_relaxed);
        std::int64_t before = peak.load(std::memory_order_relaxed);
        while (now > before && !peak.compare_exchange_weak(before, now, std::memory_order_relaxed)) {}
        if (now > before)
            rememberPeak();
        return true;
    }

    void rememberPeak()
    {
        for (std::size_t i = 0; i < kMemoryCategories; ++i)
            atPeak[i].store(alive[i].load(std::memory_order_relaxed), std::memory_order_relaxed);
    }

    std::array<std::atomic<std::int64_t>, kMemoryCategories> alive{};
    std::array<std::atomic<std::int64_t>, kMemoryCategories> atPeak{};
    std::atomic<std::int64_t> total{0};
    std::atomic<std::int64_t> peak{0};
    std::atomic<std::int64_t> limit{0};
};

namespace {

using Counts = MemoryMeter::Counts;

thread_local MemoryMeter* ownMeter = nullptr;
std::atomic<MemoryMeter*> everybodysMeter{nullptr};

/// Empty: nobody counts.
std::shared_ptr<Counts> currentCounts()
{
    const MemoryMeter* meter = ownMeter != nullptr ? ownMeter : everybodysMeter.load(std::memory_order_relaxed);
    return meter != nullptr ? meter->counts() : nullptr;
}

thread_local MemoryCategory currentCategory = MemoryCategory::Activations;

/// Stands before each block; as long as c10's alignment, which tensors rely on.
struct alignas(64) Header {
    std::shared_ptr<Counts> counts;
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
        auto counts = currentCounts();
        TORCH_CHECK_WITH(OutOfMemoryError, counts == nullptr || counts->add(currentCategory, counted), "out of memory: no room for ", bytes,
                         " bytes more");
        void* memory = block(bytes + sizeof(Header), counts.get(), counted);
        auto* header = new (memory) Header{std::move(counts), counted, currentCategory};
        void* data = header + 1;
        return {data, data, &release, c10::Device(c10::DeviceType::CPU)};
    }

    [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &release; }

    void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }

private:
    static void* block(std::size_t size, Counts* counts, std::int64_t counted)
    {
        try {
            return c10::alloc_cpu(size);
        } catch (...) {
            if (counts != nullptr)
                counts->add(currentCategory, -counted);
            throw;
        }
    }

    static void release(void* data)
    {
        if (data == nullptr)
            return;
        Header* header = static_cast<Header*>(data) - 1;
        if (header->counts != nullptr)
            header->counts->add(header->category, -header->bytes);
        std::destroy_at(header);
        c10::free_cpu(header);
    }
};

constexpr std::uint8_t kPriority = 100; ///< above libtorch's own

/// Blocks of other allocators, which have no room for a header of ours.
struct Elsewhere {
    std::shared_ptr<Counts> counts;
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

MemoryMeter::MemoryMeter() : m_counts(std::make_shared<Counts>()) {}

MemoryMeter::~MemoryMeter()
{
    if (ownMeter == this)
        ownMeter = nullptr;
    MemoryMeter* self = this;
    everybodysMeter.compare_exchange_strong(self, nullptr);
}

void MemoryMeter::taken(const void* block, std::size_t bytes)
{
    auto counts = currentCounts();
    if (counts == nullptr)
        return;
    const Elsewhere entry{std::move(counts), static_cast<std::int64_t>(bytes), currentCategory};
    {
        const std::lock_guard lock(elsewhereMutex);
        elsewhere()[block] = entry;
    }
    entry.counts->add(entry.category, entry.bytes);
}

void MemoryMeter::freed(const void* block)
{
    Elsewhere entry{};
    {
        const std::lock_guard lock(elsewhereMutex);
        const auto found = elsewhere().find(block);
        if (found == elsewhere().end())
            return;
        entry = std::move(found->second);
        elsewhere().erase(found);
    }
    entry.counts->add(entry.category, -entry.bytes);
}

CategoryBytes MemoryMeter::alive() const
{
    CategoryBytes bytes;
    for (std::size_t i = 0; i < kMemoryCategories; ++i)
        bytes[i] = Bytes(m_counts->alive[i].load(std::memory_order_relaxed));
    return bytes;
}

CategoryBytes MemoryMeter::atPeak() const
{
    CategoryBytes bytes;
    for (std::size_t i = 0; i < kMemoryCategories; ++i)
        bytes[i] = Bytes(m_counts->atPeak[i].load(std::memory_order_relaxed));
    return bytes;
}

Bytes MemoryMeter::total() const
{
    return Bytes(m_counts->total.load(std::memory_order_relaxed));
}

Bytes MemoryMeter::peak() const
{
    return Bytes(m_counts->peak.load(std::memory_order_relaxed));
}

void MemoryMeter::setLimit(Bytes limit)
{
    m_counts->limit.store(limit.count(), std::memory_order_relaxed);
}

void MemoryMeter::resetPeak()
{
    m_counts->peak.store(m_counts->total.load(std::memory_order_relaxed), std::memory_order_relaxed);
    m_counts->rememberPeak();
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
