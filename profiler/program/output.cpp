// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/program/output.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>

namespace loadline {
namespace {

constexpr std::size_t kMostInput = std::size_t{256} << 20;

bool putAll(int fd, std::string_view text)
{
    while (!text.empty()) {
        const auto written = write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

} // namespace

bool putLine(std::string_view line)
{
    std::string whole(line);
    if (!whole.ends_with('\n'))
        whole += '\n';
    return putAll(STDOUT_FILENO, whole);
}

bool putEvent(const WorkerEvent& event)
{
    return putLine(writeEvent(event));
}

void putWords(std::string_view sentence)
{
    putAll(STDERR_FILENO, "loadline-device: " + std::string(sentence) + "\n");
}

std::string readInput()
{
    std::string text;
    std::array<char, 65536> part{};
    while (text.size() < kMostInput) {
        const auto size = read(STDIN_FILENO, part.data(), part.size());
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            break;
        text.append(part.data(), static_cast<std::size_t>(size));
    }
    return text;
}

} // namespace loadline
