// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/strategy.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    (void)loadline::parseStrategy(fuzzText(data, size), 64);
    return 0;
}
