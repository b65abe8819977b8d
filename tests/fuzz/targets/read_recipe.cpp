// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cluster/recipe.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    (void)loadline::readPrecision(fuzzText(data, size), "input");
    (void)loadline::readOptimizer(fuzzText(data, size), "input");
    return 0;
}
