// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <nlohmann/json.hpp>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    for (const auto dialect : {loadline::JsonDialect::Strict, loadline::JsonDialect::Python})
        (void)loadline::parseJson(fuzzText(data, size), "input", dialect);
    return 0;
}
