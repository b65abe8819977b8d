// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/knapsack.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

/// The same problem for a general integer-programming solver (GLPK's glpsol, COIN-OR's cbc): whole counts of each option of each
/// class, and one binary for each level that the largest transient can reach.
namespace loadline::test {

struct MipAnswer {
    double cpuSeconds = 0; ///< of the solver's process and the script around it
    /// How many of each class take each option, as the solver left them, rounded.
    std::vector<std::vector<std::int64_t>> counts;
};

inline std::string mipVariable(std::size_t group, std::size_t option)
{
    return fmt::format("x{}_{}", group, option);
}

/// Memory in MiB and time in ms, so that the numbers suit the solvers' tolerances. The largest transient is a ladder of levels:
/// u1, u2, ... say how far up it goes, and a class may use what stands above a level only if the ladder does.
inline void writeMip(const std::vector<KnapsackClass>& classes, std::int64_t budget, const std::string& path)
{
    const auto mebibytes = [](std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
    std::vector<std::int64_t> levels;
    for (const KnapsackClass& one : classes)
        for (const KnapsackOption& option : one.options)
            levels.push_back(option.transient);
    std::sort(levels.begin(), levels.end());
    levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    std::ofstream file(path);
    const auto forAll = [&](const auto& write) {
        for (std::size_t g = 0; g < classes.size(); ++g)
            for (std::size_t o = 0; o < classes[g].options.size(); ++o)
                write(mipVariable(g, o), classes[g].options[o], classes[g].count);
    };
    file << "Minimize\n time:";
    forAll([&](const std::string& x, const KnapsackOption& option, std::int64_t) {
        file << fmt::format(" + {:.17g} {}\n", static_cast<double>(option.ticks) * 1e-9, x);
    });
    file << "Subject To\n memory:";
    forAll([&](const std::string& x, const KnapsackOption& option, std::int64_t) {
        file << fmt::format(" + {:.17g} {}\n", mebibytes(option.persist), x);
    });
    for (std::size_t l = 1; l < levels.size(); ++l)
        file << fmt::format(" + {:.17g} u{}\n", mebibytes(levels[l] - levels[l - 1]), l);
    file << fmt::format(" <= {:.17g}\n", mebibytes(budget - levels[0]));
    for (std::size_t l = 2; l < levels.size(); ++l)
        file << fmt::format(" rung{}: u{} - u{} <= 0\n", l, l, l - 1);
    for (std::size_t g = 0; g < classes.size(); ++g) {
        file << " all" << g << ":";
        for (std::size_t o = 0; o < classes[g].options.size(); ++o)
            file << " + " << mipVariable(g, o) << "\n";
        file << " = " << classes[g].count << "\n";
        for (std::size_t l = 1; l < levels.size(); ++l) {
            std::string above;
            bool isOwn = false; // a level that only other classes have says nothing new about this one
            for (std::size_t o = 0; o < classes[g].options.size(); ++o) {
                isOwn = isOwn || classes[g].options[o].transient == levels[l];
                if (classes[g].options[o].transient >= levels[l])
                    above += " + " + mipVariable(g, o) + "\n";
            }
            if (isOwn)
                file << fmt::format(" up{}_{}:{} - {} u{} <= 0\n", g, l, above, classes[g].count, l);
        }
    }
    file << "Bounds\n";
    forAll([&](const std::string& x, const KnapsackOption&, std::int64_t count) { file << fmt::format(" 0 <= {} <= {}\n", x, count); });
    file << "General\n";
    forAll([&](const std::string& x, const KnapsackOption&, std::int64_t) { file << " " << x << "\n"; });
    if (levels.size() > 1)
        file << "Binary\n";
    for (std::size_t l = 1; l < levels.size(); ++l)
        file << fmt::format(" u{}\n", l);
    file << "End\n";
}

/// Which of the two programs is installed: tests/bench/peers/mip answers; empty output and a code if not.
inline bool hasMip(const std::string& solver)
{
    return std::system(("command -v " + std::string(solver == "glpk" ? "glpsol" : "cbc") + " >/dev/null 2>&1").c_str()) == 0;
}

/// CPU time of all processes started and ended so far.
inline double childrenCpuSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6; };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Runs `script` (tests/bench/peers/mip) on the problem; nothing if the solver did not finish in `limit` seconds.
inline std::optional<MipAnswer> askMip(const std::string& script, const std::string& solver, const std::vector<KnapsackClass>& classes,
                                       std::int64_t budget, const std::string& folder, int limit)
{
    const std::string model = folder + "/problem.lp", answer = folder + "/answer.txt";
    writeMip(classes, budget, model);
    std::remove(answer.c_str());
    const double start = childrenCpuSeconds();
    const std::string command = fmt::format("'{}' {} '{}' '{}' {}", script, solver, model, answer, limit);
    if (std::system(command.c_str()) != 0)
        return std::nullopt;
    MipAnswer result;
    result.cpuSeconds = childrenCpuSeconds() - start;
    for (const KnapsackClass& one : classes)
        result.counts.emplace_back(one.options.size(), 0);
    std::ifstream file(answer); // a line for each count that is not 0: its name and value
    std::string name;
    double value = 0;
    while (file >> name >> value) {
        std::size_t group = 0, option = 0;
        if (std::sscanf(name.c_str(), "x%zu_%zu", &group, &option) == 2 && group < classes.size() && option < classes[group].options.size())
            result.counts[group][option] = static_cast<std::int64_t>(value + 0.5);
    }
    return result;
}

} // namespace loadline::test
