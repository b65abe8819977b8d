// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plan/table.hpp"
#include "app/plan/verbs.hpp"

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/exchange/problem.hpp"

#include <fmt/format.h>

#include <chrono>

namespace loadline {
namespace {

constexpr double kPicosecond = 1e-12;

class Stopwatch {
public:
    [[nodiscard]] double milliseconds() const
    {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - m_start).count();
    }

private:
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

std::string duration(std::int64_t ticks)
{
    constexpr std::int64_t kMicrosecond = 1'000'000; // below, no digit of a time in us is left
    return ticks < kMicrosecond ? fmt::format("{} ps", ticks) : formatSeconds(Seconds(static_cast<double>(ticks) * kPicosecond));
}

std::string solutionText(const KnapsackPlan& plan, std::int64_t budget, double milliseconds)
{
    if (plan.status == SearchStatus::Infeasible)
        return fmt::format("Nothing fits {} B; the least budget that works is {} B ({}).\n", budget, plan.leastBudget,
                           formatBytes(Bytes(plan.leastBudget)));
    std::string text = fmt::format(
        "{}, {} persist + {} transient of {}, {}, {:.3g} ms\n", duration(plan.ticks), formatBytes(Bytes(plan.persist)),
        formatBytes(Bytes(plan.transient)), formatBytes(Bytes(budget)),
        plan.status == SearchStatus::Optimal ? "proven optimal" : fmt::format("lower bound {}", duration(plan.lowerBound)), milliseconds);
    TextTable table({{"class", TextTable::Align::Right}, {"option", TextTable::Align::Right}, {"how many", TextTable::Align::Right}});
    constexpr std::size_t kMostRows = 60;
    std::size_t rows = 0;
    for (std::size_t index = 0; index < plan.picks.size(); ++index) {
        for (const auto& [option, count] : plan.picks[index]) {
            if (rows++ < kMostRows)
                table.add({std::to_string(index), std::to_string(option), std::to_string(count)});
        }
    }
    text += table.text();
    return rows > kMostRows ? text + fmt::format("  ... and {} more rows; --json has all\n", rows - kMostRows) : text;
}

Answer frontierAnswer(const Arguments& arguments, const Knapsack& knapsack, const SearchLimits& limits, const Stopwatch& watch)
{
    const auto frontier = exactFrontier(knapsack, limits);
    Answer answer;
    answer.text = arguments.json ? problemFrontierJson(frontier, watch.milliseconds()) : problemFrontierCsv(frontier);
    if (!frontier.exact)
        answer.words.emplace_back("the effort ran out: every corner is a real assignment, but some may be missing; raise --work");
    return answer;
}

} // namespace

Result<Answer> runSolve(const Arguments& arguments)
{
    const auto& path = arguments.files.front();
    const auto text = readFile(path);
    if (!text)
        return text.error();
    auto problem = readProblem(*text, fmt::format("'{}'", path));
    if (!problem)
        return problem.error();
    SearchLimits limits;
    if (arguments.request.work) {
        if (*arguments.request.work < 1)
            return invalidInput(fmt::format("--work is {}; give a whole number from 1", *arguments.request.work));
        limits.work = *arguments.request.work;
    }
    const Stopwatch watch;
    const auto knapsack = Knapsack::prepare(std::move(problem->classes));
    if (!knapsack)
        return invalidInput(fmt::format("'{}': {}", path, knapsack.error().message));
    Answer answer;
    if (arguments.wholeFrontier) {
        answer = frontierAnswer(arguments, *knapsack, limits, watch);
    } else {
        const auto plan = knapsack->solve(problem->budget, limits);
        const double milliseconds = watch.milliseconds();
        answer.code = plan.status == SearchStatus::Infeasible ? kNothingFits : kAnswered;
        answer.text = arguments.json ? solutionJson(plan, milliseconds) : solutionText(plan, problem->budget, milliseconds);
    }
    if (auto wrong = writeOutput(arguments, answer.text))
        return *wrong;
    return answer;
}

} // namespace loadline
