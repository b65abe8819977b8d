// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/run_log.hpp"
#include "core/export/tables.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    (void)loadline::readRunLog(fuzzText(data, size), "input");
    (void)loadline::readPlanCsv(fuzzText(data, size), "input");
    return 0;
}
