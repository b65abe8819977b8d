// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plan/verbs.hpp"

#include "core/base/json.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <new>
#include <string_view>

namespace loadline {
namespace {

struct Verb {
    std::string_view name;
    Result<Answer> (*run)(const Arguments&);
};
constexpr std::array kVerbs{
    Verb{"inspect", runInspect},      Verb{"plan", runPlan},         Verb{"frontier", runFrontier}, Verb{"check", runCheck},
    Verb{"price", runPrice},          Verb{"compare", runCompare},   Verb{"solve", runSolve},       Verb{"export", runExport},
    Verb{"import-run", runImportRun}, Verb{"sessions", runSessions}, Verb{"list", runList},         Verb{"verdict", runVerdict},
};

/// One line, whatever a file name or a library's message holds.
void say(std::string_view words)
{
    std::string line(words);
    std::replace_if(
        line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 32; }, ' ');
    std::fprintf(stderr, "loadline-plan: %s\n", line.c_str());
}

bool print(std::string_view text)
{
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
}

int run(int argc, const char* const* argv)
{
    const auto parsed = parseArguments(argc, argv);
    if (!parsed.error.empty()) {
        say(parsed.error);
        return kWrongInput;
    }
    if (parsed.finished)
        return print(parsed.text) ? kAnswered : kWrongInput;
    const auto verb = std::find_if(kVerbs.begin(), kVerbs.end(), [&](const Verb& known) { return known.name == parsed.arguments.verb; });
    if (verb == kVerbs.end()) {
        say("'" + parsed.arguments.verb + "' is not in this version; use plan --json or frontier for figures to take away");
        return kWrongInput;
    }
    const auto answer = verb->run(parsed.arguments);
    if (!answer) {
        say(answer.error().message);
        return kWrongInput;
    }
    for (const auto& words : answer->words)
        say(words);
    if (!print(answer->text)) {
        say("stdout cannot be written; free its device or give another");
        return kWrongInput;
    }
    return answer->code;
}

} // namespace

std::optional<Error> writeOutput(const Arguments& arguments, std::string_view document)
{
    if (arguments.output.empty())
        return {};
    if (const auto written = writeFile(arguments.output, document); !written)
        return written.error();
    return {};
}

} // namespace loadline

int main(int argc, char** argv)
{
    try {
        return loadline::run(argc, argv);
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "loadline-plan: out of memory; ask for fewer choices (--granularity, --groups) or a larger --unit\n");
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "loadline-plan: a fault in Loadline (%s); please report it with the command line\n", problem.what());
    }
    return loadline::kFault;
}
