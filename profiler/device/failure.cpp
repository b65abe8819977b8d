// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler/device/failure.hpp"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <new>
#include <string_view>

namespace loadline {
namespace {

std::string textOf(const std::exception& exception)
{
    if (const auto* error = dynamic_cast<const c10::Error*>(&exception))
        return error->what_without_backtrace();
    return exception.what();
}

bool containsAny(const std::string& text, const std::initializer_list<std::string_view> words)
{
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

} // namespace

Failure failureOf(const std::exception& exception)
{
    const std::string text = textOf(exception);
    if (dynamic_cast<const c10::OutOfMemoryError*>(&exception) != nullptr || dynamic_cast<const std::bad_alloc*>(&exception) != nullptr ||
        containsAny(text, {"can't allocate memory", "out of memory", "not enough memory"}))
        return Failure::OutOfMemory;
    // Words of Gloo's pairs, of TCPStore and of NCCL's watchdog.
    if (containsAny(text, {"Timed out", "timed out", "Timeout", "timeout", "did not complete within"}))
        return Failure::TimedOut;
    if (containsAny(text, {"Connection closed by peer", "Connection reset by peer", "Broken pipe", "Connection refused",
                           "remote process exited", "Application timeout caused pair closure", "another rank has failed"}))
        return Failure::PeerLost;
    return Failure::Other;
}

std::string oneSentence(const std::exception& exception)
{
    std::string text = textOf(exception);
    // "[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:538] Connection closed by peer [127.0.0.1]:38741"
    if (text.starts_with('[')) {
        const auto close = text.find("] ");
        if (close != std::string::npos && text.substr(0, close).find(':') != std::string::npos)
            text.erase(0, close + 2);
    }
    text.erase(std::min(text.find('\n'), text.size()));
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
        text.pop_back();
    return text.empty() ? "an unknown fault" : text;
}

} // namespace loadline
