// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cost/profile.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    (void)loadline::readProfile(fuzzText(data, size), "input");
    return 0;
}
