// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/memory_snapshot.hpp"

#include "core/export/snapshot_pickle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace loadline {
namespace {

constexpr std::int64_t kBlock = 512;
constexpr std::int64_t kMostBytes = 1LL << 50; ///< of one allocation
constexpr std::int64_t kMostTotal = 1LL << 60;
constexpr std::size_t kMostSpans = 8192;
constexpr std::int64_t kMostDevices = 4096;

/// The sums of one device relative to its start, in spans of a length that doubles whenever there are too many.
class Curve {
public:
    void add(std::int64_t delta, std::int64_t timeUs)
    {
        const std::int64_t before = m_now;
        m_now += delta;
        if (m_count == 0)
            m_start = timeUs;
        if (m_count % m_length == 0) {
            if (m_spans.size() == kMostSpans)
                halve();
            m_spans.push_back({m_count, Seconds(static_cast<double>(timeUs - m_start) * 1e-6), Bytes(before), Bytes(before)});
        }
        MemorySpan& span = m_spans.back();
        span.least = std::min(span.least, Bytes(m_now));
        span.most = std::max(span.most, Bytes(m_now));
        ++m_count;
    }
    [[nodiscard]] std::int64_t now() const { return m_now; }
    [[nodiscard]] std::int64_t count() const { return m_count; }
    /// Shifted so that the last sum is `atEnd`.
    [[nodiscard]] std::vector<MemorySpan> shifted(std::int64_t atStart) const
    {
        std::vector<MemorySpan> spans = m_spans;
        for (MemorySpan& span : spans) {
            span.least = std::max(Bytes(), span.least + Bytes(atStart));
            span.most = std::max(Bytes(), span.most + Bytes(atStart));
        }
        return spans;
    }

private:
    void halve()
    {
        for (std::size_t i = 0; i < kMostSpans / 2; ++i) {
            MemorySpan span = m_spans[2 * i];
            span.least = std::min(span.least, m_spans[2 * i + 1].least);
            span.most = std::max(span.most, m_spans[2 * i + 1].most);
            m_spans[i] = span;
        }
        m_spans.resize(kMostSpans / 2);
        m_length *= 2;
    }
    std::vector<MemorySpan> m_spans;
    std::int64_t m_now = 0;
    std::int64_t m_count = 0;
    std::int64_t m_length = 1;
    std::int64_t m_start = 0;
};

struct Gathered {
    Curve curve;
    std::int64_t atEnd = 0;
    std::int64_t reserved = 0;
    bool outOfMemory = false;
};

class Reader {
public:
    void event(std::size_t device, const SnapshotEntry& entry)
    {
        if (static_cast<std::int64_t>(device) >= kMostDevices)
            return wrong("a device number");
        if (!entry.action)
            return;
        Gathered& gathered = m_devices[static_cast<std::int64_t>(device)];
        gathered.outOfMemory = gathered.outOfMemory || *entry.action == SnapshotWord::OutOfMemory;
        const bool alloc = *entry.action == SnapshotWord::Alloc;
        if (!alloc && *entry.action != SnapshotWord::FreeRequested)
            return;
        const std::int64_t size = entry.size.value_or(-1);
        if (size < 0 || size > kMostBytes)
            return wrong("an allocation's size");
        const std::int64_t rounded = std::max<std::int64_t>(1, (size + kBlock - 1) / kBlock) * kBlock;
        if (gathered.curve.now() > kMostTotal || gathered.curve.now() < -kMostTotal)
            return wrong("the sum of the allocations");
        gathered.curve.add(alloc ? rounded : -rounded, std::clamp<std::int64_t>(entry.timeUs.value_or(0), 0, kMostTotal));
    }
    void segment(const SnapshotEntry& entry)
    {
        const std::int64_t device = entry.device.value_or(0);
        const std::int64_t allocated = entry.allocatedSize.value_or(0);
        const std::int64_t total = entry.totalSize.value_or(0);
        if (device < 0 || device >= kMostDevices)
            return wrong("a device number");
        if (allocated < 0 || allocated > kMostBytes || total < 0 || total > kMostBytes)
            return wrong("a segment's size");
        Gathered& gathered = m_devices[device];
        if (gathered.atEnd > kMostTotal || gathered.reserved > kMostTotal)
            return wrong("the sum of the segments");
        gathered.atEnd += allocated;
        gathered.reserved += total;
    }
    [[nodiscard]] MemorySnapshot snapshot() const
    {
        MemorySnapshot snapshot;
        for (const auto& [device, gathered] : m_devices)
            snapshot.devices.push_back(memoryOf(device, gathered, snapshot.notes));
        return snapshot;
    }
    [[nodiscard]] const std::optional<std::string>& problem() const { return m_wrong; }

private:
    static DeviceMemory memoryOf(std::int64_t device, const Gathered& gathered, std::vector<std::string>& notes)
    {
        DeviceMemory memory;
        memory.device = device;
        memory.events = gathered.curve.count();
        memory.atEnd = Bytes(gathered.atEnd);
        memory.reserved = Bytes(gathered.reserved);
        memory.outOfMemory = gathered.outOfMemory;
        const std::int64_t start = gathered.atEnd - gathered.curve.now();
        if (start < 0)
            notes.push_back(fmt::format("Device {}: more is allocated in its history than its segments hold at the end, so the curve "
                                        "starts at 0; blocks that were rounded up further, or another record's segments.",
                                        device));
        memory.atStart = Bytes(std::max<std::int64_t>(start, 0));
        memory.curve = gathered.curve.shifted(memory.atStart.count());
        memory.peak = std::max(memory.atStart, memory.atEnd);
        for (const MemorySpan& span : memory.curve)
            memory.peak = std::max(memory.peak, span.most);
        if (memory.curve.empty())
            notes.push_back(
                fmt::format("Device {} has no history; call torch.cuda.memory._record_memory_history() before the step.", device));
        return memory;
    }
    void wrong(std::string what)
    {
        if (!m_wrong)
            m_wrong = std::move(what);
    }
    std::map<std::int64_t, Gathered> m_devices;
    std::optional<std::string> m_wrong;
};

} // namespace

Result<MemorySnapshot> readMemorySnapshot(std::istream& in, std::string_view origin)
{
    Reader reader;
    const SnapshotSink sink{[&](std::size_t device, const SnapshotEntry& entry) { reader.event(device, entry); },
                            [&](const SnapshotEntry& entry) { reader.segment(entry); }};
    if (const auto problem = readSnapshotPickle(in, origin, sink))
        return *problem;
    if (reader.problem())
        return invalidInput(fmt::format("{}: {} is out of range; write the snapshot again", origin, *reader.problem()));
    MemorySnapshot snapshot = reader.snapshot();
    if (snapshot.devices.empty())
        return invalidInput(fmt::format("{}: the snapshot is empty; take it on a GPU after a step", origin));
    return snapshot;
}

} // namespace loadline
