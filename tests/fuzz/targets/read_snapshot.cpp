// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/memory_snapshot.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <sstream>
#include <string>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::istringstream in{std::string(fuzzText(data, size))};
    (void)loadline::readMemorySnapshot(in, "input");
    return 0;
}
