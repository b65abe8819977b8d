// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/knapsack.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

/// The same problem for a general integer-programming solver (GLPK's glpsol, COIN-OR's cbc): whole counts of each option of each
/// class, and one binary for "some operator takes it", which lifts the largest transient.
namespace loadline::test {

struct MipAnswer {
    double seconds = 0; ///< of the whole process
    /// How many of each class take each option, as the solver left them, rounded.
    std::vector<std::vector<std::int64_t>> counts;
};

inline std::string mipVariable(std::size_t group, std::size_t option)
{
    return fmt::format("x{}_{}", group, option);
}

/// Memory in MiB and time in ms, so that the numbers suit the solvers' tolerances.
inline void writeMip(const std::vector<KnapsackClass>& classes, std::int64_t budget, const std::string& path)
{
    constexpr double kMib = 1 << 20;
    std::ofstream file(path);
    file.precision(17);
    file << "Minimize\n time:";
    for (std::size_t g = 0; g < classes.size(); ++g)
        for (std::size_t o = 0; o < classes[g].options.size(); ++o)
            file << " + " << static_cast<double>(classes[g].options[o].ticks) * 1e-9 << " " << mipVariable(g, o) << "\n";
    file << "Subject To\n memory: W";
    for (std::size_t g = 0; g < classes.size(); ++g)
        for (std::size_t o = 0; o < classes[g].options.size(); ++o)
            if (classes[g].options[o].persist > 0)
                file << " + " << static_cast<double>(classes[g].options[o].persist) / kMib << " " << mipVariable(g, o) << "\n";
    file << " <= " << static_cast<double>(budget) / kMib << "\n";
    for (std::size_t g = 0; g < classes.size(); ++g) {
        file << " all" << g << ":";
        for (std::size_t o = 0; o < classes[g].options.size(); ++o)
            file << " + " << mipVariable(g, o) << "\n";
        file << " = " << classes[g].count << "\n";
        for (std::size_t o = 0; o < classes[g].options.size(); ++o) {
            const std::string x = mipVariable(g, o);
            file << " use" << x << ": " << x << " - " << classes[g].count << " y" << x << " <= 0\n";
            file << " top" << x << ": W - " << static_cast<double>(classes[g].options[o].transient) / kMib << " y" << x << " >= 0\n";
        }
    }
    file << "Bounds\n W >= 0\n";
    for (std::size_t g = 0; g < classes.size(); ++g)
        for (std::size_t o = 0; o < classes[g].options.size(); ++o)
            file << " 0 <= " << mipVariable(g, o) << " <= " << classes[g].count << "\n";
    file << "General\n";
    for (std::size_t g = 0; g < classes.size(); ++g)
        for (std::size_t o = 0; o < classes[g].options.size(); ++o)
            file << " " << mipVariable(g, o) << "\n";
    file << "Binary\n";
    for (std::size_t g = 0; g < classes.size(); ++g)
        for (std::size_t o = 0; o < classes[g].options.size(); ++o)
            file << " y" << mipVariable(g, o) << "\n";
    file << "End\n";
}

/// Which of the two programs is installed: tests/bench/peers/mip answers; empty output and a code if not.
inline bool hasMip(const std::string& solver)
{
    return std::system(("command -v " + std::string(solver == "glpk" ? "glpsol" : "cbc") + " >/dev/null 2>&1").c_str()) == 0;
}

/// Runs `script` (tests/bench/peers/mip) on the problem; nothing if the solver did not finish in `limit` seconds.
inline std::optional<MipAnswer> askMip(const std::string& script, const std::string& solver, const std::vector<KnapsackClass>& classes,
                                       std::int64_t budget, const std::string& folder, int limit)
{
    const std::string model = folder + "/problem.lp", answer = folder + "/answer.txt";
    writeMip(classes, budget, model);
    std::remove(answer.c_str());
    const auto start = std::chrono::steady_clock::now();
    const std::string command = fmt::format("'{}' {} '{}' '{}' {}", script, solver, model, answer, limit);
    if (std::system(command.c_str()) != 0)
        return std::nullopt;
    MipAnswer result;
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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
