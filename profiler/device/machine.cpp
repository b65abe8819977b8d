// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/device/machine.hpp"

#include <fmt/format.h>
#include <torch/version.h>

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

namespace loadline {
namespace {

std::string textOf(const char* path)
{
    std::ifstream in(path);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// The text behind "key ... :" in the first line that begins with `key`; empty if there is none.
std::string_view valueIn(std::string_view text, std::string_view key)
{
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        auto line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (!line.starts_with(key))
            continue;
        const auto colon = line.find(':');
        if (colon == std::string_view::npos ||
            line.substr(key.size(), colon - key.size()).find_first_not_of(" \t") != std::string_view::npos)
            continue;
        line.remove_prefix(colon + 1);
        const auto first = line.find_first_not_of(" \t");
        return first == std::string_view::npos ? std::string_view() : line.substr(first);
    }
    return {};
}

double numberAt(std::string_view text)
{
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// A whole number alone in a file; 0 if there is none ("max").
std::int64_t countIn(const char* path)
{
    const std::string text = textOf(path);
    std::int64_t count = 0;
    std::from_chars(text.data(), text.data() + text.size(), count);
    return count;
}

int allowedThreads()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof(set), &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

} // namespace

std::string cpuNameIn(std::string_view cpuinfo)
{
    return std::string(valueIn(cpuinfo, "model name"));
}

double cpuClockIn(std::string_view cpuinfo)
{
    return std::max(0.0, numberAt(valueIn(cpuinfo, "cpu MHz"))) * 1e6;
}

Bytes memoryIn(std::string_view meminfo, std::string_view key)
{
    const double kib = numberAt(valueIn(meminfo, key));
    return kib > 0 && kib < 1e15 ? Bytes(static_cast<std::int64_t>(kib) * 1024) : Bytes(0);
}

Machine readMachine()
{
    Machine machine;
    const std::string cpu = textOf("/proc/cpuinfo");
    const std::string memory = textOf("/proc/meminfo");
    machine.name = cpuNameIn(cpu);
    machine.threads = allowedThreads();
    machine.memory = memoryIn(memory, "MemTotal");
    machine.free = memoryIn(memory, "MemAvailable");
    if (const auto limit = countIn("/sys/fs/cgroup/memory.max"); limit > 0) {
        machine.memory = std::min(machine.memory, Bytes(limit));
        machine.free = std::min(machine.free, Bytes(std::max<std::int64_t>(0, limit - countIn("/sys/fs/cgroup/memory.current"))));
    }
    const auto kilohertz = countIn("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
    machine.clockHz = kilohertz > 0 ? static_cast<double>(kilohertz) * 1e3 : cpuClockIn(cpu);
    utsname system{};
    if (uname(&system) == 0)
        machine.system = fmt::format("{} {}", system.sysname, system.release);
    return machine;
}

std::string clockText(double hertz)
{
    return hertz > 0 ? fmt::format("{:.2f} GHz", hertz / 1e9) : std::string();
}

WorkerDevice describeCpu()
{
    const Machine machine = readMachine();
    WorkerDevice device;
    device.kind = "cpu";
    device.name = machine.name.empty() ? "CPU" : machine.name;
    device.memory = machine.memory;
    device.free = machine.free;
    device.threads = machine.threads;
    device.versions = {{"torch", TORCH_VERSION}, {"backend", "gloo"}, {"system", machine.system}};
    if (machine.clockHz > 0)
        device.versions.emplace_back("clock", clockText(machine.clockHz));
    return device;
}

} // namespace loadline
