// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/knapsack_prepared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace loadline::knapsack {
namespace {

/// Sums stay under 2^61, so that differences and one more addition stay inside 64 bits.
constexpr std::int64_t kMostSum = std::int64_t{1} << 61;
/// 32 bytes each: 64 MB, some fifty times what 10,000 different operators with 62 options need.
constexpr std::size_t kMostCorners = std::size_t{1} << 21;

/// Adds count x value to `sum`; false if it leaves the range.
bool addProduct(std::int64_t& sum, std::int64_t count, std::int64_t value)
{
    const Wide total = static_cast<Wide>(count) * value + sum;
    if (total > kMostSum)
        return false;
    sum = static_cast<std::int64_t>(total);
    return true;
}

Result<std::int64_t> checkClasses(const std::vector<KnapsackClass>& classes)
{
    if (classes.empty())
        return invalidInput("There is nothing to choose: give at least one class of operators.");
    std::int64_t persist = 0, ticks = 0, transient = 0;
    for (std::size_t index = 0; index < classes.size(); ++index) {
        const KnapsackClass& one = classes[index];
        if (one.options.empty())
            return invalidInput(fmt::format("Class {} has no option: give it at least one.", index));
        if (one.count < 1)
            return invalidInput(fmt::format("Class {} stands for {} operators: its count must be at least 1.", index, one.count));
        std::int64_t mostPersist = 0, mostTicks = 0;
        for (const KnapsackOption& option : one.options) {
            if (option.persist < 0 || option.transient < 0 || option.ticks < 0)
                return invalidInput(
                    fmt::format("Class {} has an option with a negative number: bytes and ticks must be 0 or more.", index));
            mostPersist = std::max(mostPersist, option.persist);
            mostTicks = std::max(mostTicks, option.ticks);
            transient = std::max(transient, option.transient);
        }
        if (!addProduct(persist, one.count, mostPersist) || !addProduct(ticks, one.count, mostTicks))
            return invalidInput(fmt::format("At class {} the bytes or ticks add up to more than 2^61: use smaller numbers.", index));
    }
    if (!addProduct(persist, 1, transient))
        return invalidInput("The bytes add up to more than 2^61: use smaller numbers.");
    return ticks;
}

std::size_t hashOf(const std::vector<KnapsackOption>& options)
{
    std::uint64_t hash = 0x9e3779b97f4a7c15ULL;
    const auto mix = [&hash](std::int64_t value) {
        hash = (hash ^ static_cast<std::uint64_t>(value)) * 0xff51afd7ed558ccdULL;
        hash ^= hash >> 32;
    };
    for (const KnapsackOption& option : options) {
        mix(option.persist);
        mix(option.transient);
        mix(option.ticks);
    }
    return hash;
}

/// Groups of classes whose kept options are equal, in order of their first class.
class Grouping {
public:
    Grouping(Prepared& problem, const std::vector<KnapsackClass>& classes, bool reduce)
        : m_problem(problem), m_classes(classes), m_reduce(reduce), m_memberships(classes.size())
    {
    }

    void add(std::uint32_t index)
    {
        const KnapsackClass& one = m_classes[index];
        const std::size_t hash = hashOf(one.options);
        if (m_reduce) {
            // Layers repeat word for word: those need no further look.
            const auto [begin, end] = m_byList.equal_range(hash);
            for (auto found = begin; found != end; ++found)
                if (m_classes[found->second].options == one.options)
                    return join(index, m_memberships[found->second]);
            m_byList.emplace(hash, index);
        }
        m_kept = one.options;
        if (m_reduce)
            dropDominated(m_kept);
        else
            std::sort(m_kept.begin(), m_kept.end(), [](const KnapsackOption& a, const KnapsackOption& b) {
                return a.persist != b.persist ? a.persist < b.persist : a.ticks < b.ticks;
            });
        const auto firstOrigin = static_cast<std::uint32_t>(m_problem.origins.size());
        for (const KnapsackOption& kept : m_kept)
            m_problem.origins.push_back(
                static_cast<std::uint32_t>(std::find(one.options.begin(), one.options.end(), kept) - one.options.begin()));
        join(index, {groupOfKept(), firstOrigin});
    }

private:
    struct Membership {
        std::uint32_t group = 0;
        std::uint32_t firstOrigin = 0;
    };

    void join(std::uint32_t index, Membership membership)
    {
        m_memberships[index] = membership;
        Group& group = m_problem.groups[membership.group];
        group.count += m_classes[index].count;
        group.members.push_back({index, membership.firstOrigin, m_classes[index].count});
    }

    std::uint32_t groupOfKept()
    {
        const std::size_t hash = hashOf(m_kept);
        if (m_reduce) {
            const auto [begin, end] = m_byKept.equal_range(hash);
            for (auto found = begin; found != end; ++found) {
                const Group& group = m_problem.groups[found->second];
                const auto first = m_problem.options.begin() + group.firstOption;
                const auto last = m_problem.options.begin() + group.endOption;
                if (std::equal(first, last, m_kept.begin(), m_kept.end()))
                    return found->second;
            }
        }
        const auto index = static_cast<std::uint32_t>(m_problem.groups.size());
        Group group;
        group.firstOption = static_cast<std::uint32_t>(m_problem.options.size());
        m_problem.options.insert(m_problem.options.end(), m_kept.begin(), m_kept.end());
        group.endOption = static_cast<std::uint32_t>(m_problem.options.size());
        m_problem.groups.push_back(std::move(group));
        m_byKept.emplace(hash, index);
        return index;
    }

    Prepared& m_problem;
    const std::vector<KnapsackClass>& m_classes;
    bool m_reduce;
    std::vector<Membership> m_memberships;
    std::unordered_multimap<std::size_t, std::uint32_t> m_byList; ///< classes by their options as given
    std::unordered_multimap<std::size_t, std::uint32_t> m_byKept; ///< groups
    std::vector<KnapsackOption> m_kept;
};

/// Whether two runs of corners pick the same options.
bool sameCorners(const std::vector<Corner>& corners, std::size_t first, std::size_t middle, std::size_t end)
{
    return middle - first == end - middle &&
           std::equal(corners.begin() + static_cast<std::ptrdiff_t>(first), corners.begin() + static_cast<std::ptrdiff_t>(middle),
                      corners.begin() + static_cast<std::ptrdiff_t>(middle), corners.begin() + static_cast<std::ptrdiff_t>(end),
                      [](const Corner& a, const Corner& b) { return a.option == b.option; });
}

/// One hull for each different transient of the group; equal neighbours share their corners.
bool buildLevels(Prepared& problem, Group& group)
{
    std::vector<std::int64_t> transients;
    for (std::uint32_t i = group.firstOption; i < group.endOption; ++i)
        transients.push_back(problem.options[i].transient);
    std::sort(transients.begin(), transients.end());
    transients.erase(std::unique(transients.begin(), transients.end()), transients.end());
    group.firstLevel = static_cast<std::uint32_t>(problem.levels.size());
    for (const std::int64_t transient : transients) {
        const std::size_t first = problem.corners.size();
        appendHull(problem.options, group.firstOption, group.endOption, transient, problem.corners);
        Level level{transient, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(problem.corners.size())};
        if (problem.levels.size() > group.firstLevel) {
            const Level& before = problem.levels.back();
            if (before.endCorner == first && sameCorners(problem.corners, before.firstCorner, first, problem.corners.size())) {
                problem.corners.resize(first);
                level.firstCorner = before.firstCorner;
                level.endCorner = before.endCorner;
            }
        }
        problem.levels.push_back(level);
        if (problem.corners.size() > kMostCorners)
            return false;
    }
    group.endLevel = static_cast<std::uint32_t>(problem.levels.size());
    return true;
}

void buildThresholds(Prepared& problem)
{
    std::int64_t least = 0; // every group has to take some option, so the largest transient is at least this
    for (std::uint32_t index = 0; index < problem.groups.size(); ++index) {
        const Group& group = problem.groups[index];
        least = std::max(least, problem.levels[group.firstLevel].transient);
        for (std::uint32_t level = group.firstLevel; level < group.endLevel; ++level)
            problem.drops.push_back({problem.levels[level].transient, index, level});
    }
    std::sort(problem.drops.begin(), problem.drops.end(),
              [](const Drop& a, const Drop& b) { return a.transient != b.transient ? a.transient > b.transient : a.group < b.group; });
    for (const Drop& drop : problem.drops)
        if (drop.transient >= least && (problem.thresholds.empty() || problem.thresholds.back() != drop.transient))
            problem.thresholds.push_back(drop.transient);
}

/// The least of threshold + least persist under it, by one walk down the thresholds.
void findLeastBudget(Prepared& problem)
{
    std::vector<std::uint32_t> level(problem.groups.size());
    const auto least = [&problem](std::uint32_t l) { return problem.corners[problem.levels[l].firstCorner].persist; };
    std::int64_t persist = 0;
    for (const Group& group : problem.groups)
        persist += group.count * least(group.endLevel - 1);
    problem.leastBudget = persist + problem.thresholds.front();
    std::size_t next = 0;
    for (const std::int64_t threshold : problem.thresholds) {
        for (; next < problem.drops.size() && problem.drops[next].transient > threshold; ++next) {
            const Drop& drop = problem.drops[next];
            persist += problem.groups[drop.group].count * (least(drop.level - 1) - least(drop.level));
        }
        problem.leastBudget = std::min(problem.leastBudget, persist + threshold);
    }
}

} // namespace

void dropDominated(std::vector<KnapsackOption>& options)
{
    std::sort(options.begin(), options.end(), [](const KnapsackOption& a, const KnapsackOption& b) {
        return a.persist != b.persist ? a.persist < b.persist : a.ticks != b.ticks ? a.ticks < b.ticks : a.transient < b.transient;
    });
    // Whatever came before needs no more persist. What is left is a stair: ticks up, transient down.
    std::map<std::int64_t, std::int64_t> stair;
    std::size_t kept = 0;
    for (const KnapsackOption& option : options) {
        auto after = stair.upper_bound(option.ticks);
        if (after != stair.begin() && std::prev(after)->second <= option.transient)
            continue;
        while (after != stair.end() && after->second >= option.transient)
            after = stair.erase(after);
        stair[option.ticks] = option.transient;
        options[kept++] = option;
    }
    options.resize(kept);
}

bool levelsAt(const Prepared& problem, std::int64_t threshold, std::vector<std::uint32_t>& levels)
{
    levels.resize(problem.groups.size());
    for (std::size_t i = 0; i < problem.groups.size(); ++i) {
        const Group& group = problem.groups[i];
        std::uint32_t low = group.firstLevel;
        std::uint32_t high = group.endLevel;
        while (low < high) {
            const std::uint32_t middle = low + (high - low) / 2;
            if (problem.levels[middle].transient <= threshold)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == group.firstLevel)
            return false;
        levels[i] = low - 1;
    }
    return true;
}

Result<Knapsack> prepare(std::vector<KnapsackClass> classes, const PrepareSwitches& switches)
{
    const Result<std::int64_t> mostTicks = checkClasses(classes);
    if (!mostTicks)
        return mostTicks.error();
    auto problem = std::make_shared<Prepared>();
    problem->mostTicks = *mostTicks;
    problem->slack = 0x1p-10 + static_cast<double>(*mostTicks) * 0x1p-49;
    Grouping grouping(*problem, classes, switches.reduction);
    for (std::uint32_t i = 0; i < classes.size(); ++i)
        grouping.add(i);
    for (Group& group : problem->groups)
        if (!buildLevels(*problem, group))
            return invalidInput("The options have too many different transients to search: give fewer options to each operator.");
    buildThresholds(*problem);
    findLeastBudget(*problem);
    return Knapsack(std::move(classes), std::move(problem));
}

} // namespace loadline::knapsack
