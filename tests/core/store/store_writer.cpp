// SPDX-License-Identifier: GPL-3.0-or-later
// Changes a store without pause until it is killed, and says on stdout after each commit what was committed.
#include "core/store/store.hpp"

#include <cstdio>
#include <string>

int main(int argc, char** argv)
{
    if (argc != 3)
        return 2;
    auto store = loadline::Store::open(argv[1], {.busyMilliseconds = 20000});
    if (!store) {
        std::fprintf(stderr, "%s\n", store.error().message.c_str());
        return 1;
    }
    loadline::SessionRecord session;
    if (const auto id = store->findSession("counted")) {
        auto read = store->session(*id);
        if (!read)
            return 1;
        session = *read;
    } else {
        session.row.name = "counted";
    }
    for (long count = std::stol(argv[2]);; ++count) {
        // The same number in three tables: a torn commit shows.
        session.row.notes = std::to_string(count);
        session.options = std::to_string(count);
        session.plan = std::to_string(count) + std::string(static_cast<std::size_t>(count * 977 % 30000), 'p');
        session.row.modified = count;
        if (const auto problem = store->saveSession(session)) {
            std::fprintf(stderr, "%s\n", problem->message.c_str());
            return 1;
        }
        std::printf("%ld\n", count);
        std::fflush(stdout);
    }
}
