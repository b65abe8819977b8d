// SPDX-License-Identifier: GPL-3.0-or-later
// A store whose file has any bytes: it is opened, set aside or refused; what is then shown can be read and written.
#include "core/store/store.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    namespace fs = std::filesystem;
    static const std::string folder = [] {
        std::string pattern = (fs::temp_directory_path() / "loadline-fuzz-XXXXXX").string();
        return std::string(::mkdtemp(pattern.data()));
    }();
    const fs::path file = fs::path(folder) / "store.db";
    fs::create_directories(folder);
    std::ofstream(file, std::ios::binary) << fuzzText(data, size);
    if (auto store = loadline::Store::open(file)) {
        const auto rows = store->sessions();
        if (rows) {
            for (const auto& row : *rows) {
                (void)store->session(row.id);
                if (const auto runs = store->runs(row.id); runs && !runs->empty())
                    (void)store->metrics(runs->front().id);
            }
        }
        loadline::SessionRecord session;
        session.row.name = "new";
        if (!store->readOnly() && store->saveSession(session)) {
            // A schema that only looks like ours may refuse it: with a sentence.
        }
        (void)store->profiles();
    }
    std::error_code none;
    fs::remove_all(folder, none);
    return 0;
}
