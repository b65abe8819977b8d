// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto text = fuzzText(data, size);
    (void)loadline::parseBytes(text);
    (void)loadline::parseBudget(text, loadline::Bytes(std::int64_t{80} << 30));
    const auto cut = text.substr(0, text.size() / 2);
    (void)loadline::matchesPattern(cut, text);
    return 0;
}
