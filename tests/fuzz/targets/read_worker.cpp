// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/worker.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <cstdlib>

/// Both directions of the worker protocol: what is read can be written, and is read again.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace loadline;
    const auto text = fuzzText(data, size);
    if (const auto event = readEvent(text); event && *event && !readEvent(writeEvent(**event)))
        std::abort();
    if (const auto request = readTrainRequest(text); request && !readTrainRequest(writeRequest(*request)))
        std::abort();
    if (const auto request = readLinksRequest(text); request && !readLinksRequest(writeRequest(*request)))
        std::abort();
    if (const auto request = readProfileRequest(text); request && !readProfileRequest(writeRequest(*request)))
        std::abort();
    return 0;
}
