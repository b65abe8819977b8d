// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/problem.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    (void)loadline::readProblem(fuzzText(data, size), "input");
    return 0;
}
