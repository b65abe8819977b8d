// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/plan/knapsack.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

/// Plain second implementations that share nothing with the search, and random problems.
namespace loadline::test {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

/// Each operator on its own: what `count` means.
inline std::vector<std::vector<KnapsackOption>> spelledOut(const std::vector<KnapsackClass>& classes)
{
    std::vector<std::vector<KnapsackOption>> operators;
    for (const KnapsackClass& one : classes)
        operators.insert(operators.end(), static_cast<std::size_t>(one.count), one.options);
    return operators;
}

/// Tries every assignment; kNone if none fits.
inline std::int64_t bruteForce(const std::vector<KnapsackClass>& classes, std::int64_t budget)
{
    const auto operators = spelledOut(classes);
    std::vector<std::size_t> choice(operators.size(), 0);
    std::int64_t best = kNone;
    while (true) {
        std::int64_t persist = 0, transient = 0, ticks = 0;
        for (std::size_t i = 0; i < operators.size(); ++i) {
            const KnapsackOption& option = operators[i][choice[i]];
            persist += option.persist;
            transient = std::max(transient, option.transient);
            ticks += option.ticks;
        }
        if (persist + transient <= budget)
            best = std::min(best, ticks);
        std::size_t next = 0;
        while (next < operators.size() && ++choice[next] == operators[next].size())
            choice[next++] = 0;
        if (next == operators.size())
            return best;
    }
}

/// Nemhauser and Ullmann 1969 on (persist, transient, ticks): the whole Pareto set, operator by operator, no bound at all.
inline std::vector<KnapsackOption> paretoSet(const std::vector<KnapsackClass>& classes)
{
    std::vector<KnapsackOption> set{{0, 0, 0}};
    for (const auto& options : spelledOut(classes)) {
        std::vector<KnapsackOption> all;
        for (const KnapsackOption& state : set)
            for (const KnapsackOption& option : options)
                all.push_back({state.persist + option.persist, std::max(state.transient, option.transient), state.ticks + option.ticks});
        std::sort(all.begin(), all.end());
        set.clear();
        for (const KnapsackOption& one : all)
            if (std::none_of(set.begin(), set.end(),
                             [&one](const KnapsackOption& other) { return other.transient <= one.transient && other.ticks <= one.ticks; }))
                set.push_back(one);
    }
    return set;
}

inline std::int64_t bestIn(const std::vector<KnapsackOption>& set, std::int64_t budget)
{
    std::int64_t best = kNone;
    for (const KnapsackOption& one : set)
        if (one.persist + one.transient <= budget)
            best = std::min(best, one.ticks);
    return best;
}

/// The same with the largest transient fixed from outside and memory as a sorted stair: copes with hundreds of operators.
inline std::int64_t stairForEachTransient(const std::vector<KnapsackClass>& classes, std::int64_t budget)
{
    std::vector<std::int64_t> transients;
    for (const KnapsackClass& one : classes)
        for (const KnapsackOption& option : one.options)
            transients.push_back(option.transient);
    std::sort(transients.begin(), transients.end());
    transients.erase(std::unique(transients.begin(), transients.end()), transients.end());
    std::int64_t best = kNone;
    using Pair = std::pair<std::int64_t, std::int64_t>;
    for (const std::int64_t transient : transients) {
        std::vector<Pair> stair{{0, 0}}, all;
        for (const auto& options : spelledOut(classes)) {
            all.clear();
            for (const Pair& state : stair)
                for (const KnapsackOption& option : options)
                    if (option.transient <= transient && state.first + option.persist + transient <= budget)
                        all.emplace_back(state.first + option.persist, state.second + option.ticks);
            std::sort(all.begin(), all.end());
            stair.clear();
            for (const Pair& one : all)
                if (stair.empty() || one.second < stair.back().second)
                    stair.push_back(one);
        }
        if (!stair.empty())
            best = std::min(best, stair.back().second);
    }
    return best;
}

struct RandomShape {
    int mostClasses = 4;
    int mostOptions = 4;
    int mostCount = 3;
    int mostNumber = 30; ///< small numbers make ties
};

inline std::vector<KnapsackClass> randomClasses(std::mt19937_64& random, const RandomShape& shape)
{
    const auto upTo = [&random](int most) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most)) + 1; };
    std::vector<KnapsackClass> classes(static_cast<std::size_t>(upTo(shape.mostClasses)));
    for (KnapsackClass& one : classes) {
        one.count = upTo(shape.mostCount);
        one.options.resize(static_cast<std::size_t>(upTo(shape.mostOptions)));
        const bool falling = random() % 2 == 0; // more persist, fewer ticks, as real tables have it
        for (KnapsackOption& option : one.options) {
            option.persist = upTo(shape.mostNumber) - 1;
            option.transient = upTo(shape.mostNumber) - 1;
            option.ticks = falling ? 3 * shape.mostNumber - 2 * option.persist + upTo(shape.mostNumber) : upTo(shape.mostNumber) - 1;
        }
    }
    return classes;
}

/// Problem with what `picks` claims: recounted from the classes alone. Empty if the plan is sound.
inline std::string faultOf(const std::vector<KnapsackClass>& classes, const KnapsackPlan& plan, std::int64_t budget)
{
    std::int64_t persist = 0, transient = 0, ticks = 0;
    if (plan.picks.size() != classes.size())
        return "picks do not cover the classes";
    for (std::size_t i = 0; i < classes.size(); ++i) {
        std::int64_t count = 0;
        std::int64_t before = -1;
        for (const auto& [option, copies] : plan.picks[i]) {
            if (option >= classes[i].options.size() || copies < 1 || static_cast<std::int64_t>(option) <= before)
                return "a pick is out of range or out of order";
            before = option;
            count += copies;
            persist += copies * classes[i].options[option].persist;
            ticks += copies * classes[i].options[option].ticks;
            transient = std::max(transient, classes[i].options[option].transient);
        }
        if (count != classes[i].count)
            return "a class has picks for another number of operators";
    }
    if (persist != plan.persist || transient != plan.transient || ticks != plan.ticks)
        return "the sums differ from the picks";
    if (persist + transient > budget)
        return "the plan is over the budget";
    if (plan.lowerBound > plan.ticks)
        return "the lower bound is above the plan";
    return {};
}

} // namespace loadline::test
