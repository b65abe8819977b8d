// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/exchange/request.hpp"

#include <string>
#include <vector>

namespace loadline {

/// The command line of loadline-plan.
struct Arguments {
    std::string verb;
    RequestOptions request;
    std::vector<std::string> given; ///< flags that stand on the command line, without dashes
    std::vector<std::string> files; ///< the verb's own operands
    std::string uniform;            ///< price: dp, zdp, hsdp or zero2
    std::string config;             ///< price: a file of another program
    std::string output;
    std::string format;   ///< export
    std::string store;    ///< file of the sessions; empty: this person's own
    std::string save;     ///< plan: name of the session to save
    std::string filter;   ///< sessions: words to look for
    std::string tag;      ///< sessions
    bool removed = false; ///< sessions: the deleted ones
    int points = 100;     ///< frontier: budgets across the range
    bool json = false;
    bool csv = false;
    bool wholeFrontier = false; ///< solve --frontier

    [[nodiscard]] bool has(std::string_view flag) const;
};

/// What reading the command line came to.
struct ParsedArguments {
    Arguments arguments;
    bool finished = false; ///< help or version was asked for (`text`), or the line is wrong (`error`)
    std::string text;
    std::string error; ///< one sentence
};

ParsedArguments parseArguments(int argc, const char* const* argv);

} // namespace loadline
