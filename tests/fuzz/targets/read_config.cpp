// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/config/training_config.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    for (const auto syntax : {loadline::ConfigSyntax::JsonText, loadline::ConfigSyntax::YamlText, loadline::ConfigSyntax::TomlText})
        (void)loadline::readTrainingConfig(fuzzText(data, size), syntax, "input");
    return 0;
}
