// SPDX-License-Identifier: GPL-3.0-or-later
// Runs one fuzz target over every file of a folder: what once broke a reader never does again.
#include "tests/fuzz/fuzz.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

int main(int argc, char** argv)
{
    if (argc != 2 || !std::filesystem::is_directory(argv[1])) {
        std::fputs("usage: fuzz_READER FOLDER\n", stderr);
        return 2;
    }
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
        std::ifstream in(entry.path(), std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
        ++files;
    }
    std::printf("%d files\n", files);
    return files > 0 ? 0 : 1; // an empty corpus proves nothing
}
