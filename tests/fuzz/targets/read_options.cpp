// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/exchange/options_json.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <cstdlib>

/// What is read comes back equal from what is written of it.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto saved = loadline::readRequestOptions(fuzzText(data, size), "input");
    if (!saved)
        return 0;
    const std::string text = loadline::requestOptionsJson(saved->options, saved->budget);
    const auto again = loadline::readRequestOptions(text, "again");
    if (!again || loadline::requestOptionsJson(again->options, again->budget) != text)
        std::abort();
    return 0;
}
