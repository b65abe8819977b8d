// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/outer_bound.hpp"

#include "core/plan/memory_form.hpp"
#include "core/plan/overlap_dual.hpp"

#include <algorithm>
#include <limits>

namespace loadline {
namespace {

/// Two forms are enough to rule out most candidates: where activations are complete, and where gradients are.
Result<std::vector<MemoryForm>> boundForms(const SearchSpace& space)
{
    std::vector<MemoryTerms> terms;
    if (space.table.setup.memory == MemoryMode::Paper)
        terms.push_back(paperTerms(space));
    else
        terms.push_back(backwardTerms(space, space.table.units.size() - 1));
    terms.push_back(stepTerms(space));
    std::vector<MemoryForm> forms;
    for (const MemoryTerms& some : terms) {
        auto form = MemoryForm::make(space, some);
        if (!form)
            return form.error();
        forms.push_back(*std::move(form));
    }
    return forms;
}

/// The Lagrangean bound of overlapped time; 0 where there is no recurrence for the rules.
Seconds overlapBound(const SearchSpace& space, const MemoryForm& form, Bytes budget)
{
    const auto chain = makeOverlapChain(space);
    if (!chain)
        return Seconds(0);
    const OverlapMemory memory = overlapMemory(space, form, budget);
    constexpr std::size_t kLabels = 4; // a weaker bound, many times cheaper
    OverlapLabels labels(*chain, memory, kLabels);
    constexpr double kMemoryAbove = 1e3; // seconds per byte: only bytes count
    OverlapRelaxed smallest = relaxOverlap(labels, kMemoryAbove);
    if (smallest.choice.empty() || smallest.needs > memory.capacity)
        return Seconds(std::max(0.0, relaxOverlap(labels, 0).bound));
    constexpr std::int64_t kWork = 400'000; // any price is a bound; the first few are nearly the best
    return Seconds(solveOverlapDual(labels, std::move(smallest.choice), kWork).best.bound);
}

} // namespace

CostTable unionTable(const CostTable& a, const CostTable& b)
{
    CostTable both = a;
    both.classOptions.clear();
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> classes;
    for (std::size_t unit = 0; unit < a.units.size(); ++unit) {
        const auto key = std::pair(a.units[unit].costClass, b.units[unit].costClass);
        const auto [place, isNew] = classes.try_emplace(key, both.classOptions.size());
        if (isNew) {
            auto options = a.options(unit);
            if (options != b.options(unit))
                options.insert(options.end(), b.options(unit).begin(), b.options(unit).end());
            both.classOptions.push_back(std::move(options));
        }
        both.units[unit].costClass = place->second;
    }
    return both;
}

void OuterBounds::makeRoomFor(std::size_t units)
{
    if (m_keptUnits + units > kMostKeptUnits)
        dropAll();
    m_keptUnits += units;
}

void OuterBounds::dropAll()
{
    m_tables.clear();
    m_relaxed.clear();
    m_planners.clear();
    m_keptUnits = 0;
}

Result<std::shared_ptr<const CostTable>> OuterBounds::table(const Candidate& candidate, std::int64_t recomputed)
{
    Candidate key = candidate;
    key.fewestRecomputed = key.mostRecomputed = recomputed;
    if (const auto known = m_tables.find(key); known != m_tables.end())
        return known->second;
    auto built = buildCostTable(setupOf(m_request.setup, candidate, recomputed));
    if (!built)
        return built.error();
    auto shared = std::make_shared<const CostTable>(*std::move(built));
    m_tables.emplace(key, shared);
    return shared;
}

Result<Planner> OuterBounds::planner(const Candidate& candidate, std::int64_t recomputed)
{
    Candidate key = candidate;
    key.fewestRecomputed = key.mostRecomputed = recomputed;
    if (const auto known = m_planners.find(key); known != m_planners.end())
        return known->second;
    auto costs = table(candidate, recomputed);
    if (!costs)
        return costs.error();
    auto planner = Planner::prepare(**costs, m_request.pins);
    if (!planner)
        return planner.error();
    makeRoomFor((*costs)->units.size());
    m_planners.emplace(key, *planner);
    return planner;
}

Result<std::shared_ptr<const OuterBounds::Relaxed>> OuterBounds::relaxed(const Candidate& candidate)
{
    if (const auto known = m_relaxed.find(candidate); known != m_relaxed.end())
        return known->second;
    auto fewest = table(candidate, candidate.fewestRecomputed);
    if (!fewest)
        return fewest.error();
    CostTable both = **fewest;
    if (!candidate.single()) {
        auto most = table(candidate, candidate.mostRecomputed);
        if (!most)
            return most.error();
        if ((*most)->units.size() != both.units.size())
            return unsupported("The number of recomputed blocks changes what is planned as one; choose it with --recompute off or all.");
        both = unionTable(both, **most);
    }
    auto space = makeSearchSpace(std::move(both), m_request.pins);
    if (!space)
        return space.error();
    auto forms = boundForms(*space);
    if (!forms)
        return forms.error();
    makeRoomFor(space->table.units.size());
    auto made = std::make_shared<Relaxed>();
    made->forms = *std::move(forms);
    made->ticksPerSecond = space->ticksPerSecond;
    if (space->table.setup.time == TimeMode::Overlap)
        made->space = *std::move(space);
    m_relaxed.emplace(candidate, made);
    return std::shared_ptr<const Relaxed>(std::move(made));
}

Result<OuterBound> OuterBounds::bound(const Candidate& candidate, Bytes budget)
{
    const auto known = relaxed(candidate);
    if (!known)
        return known.error();
    OuterBound result;
    for (const MemoryForm& form : (*known)->forms) {
        result.leastBudget = std::max(result.leastBudget, form.leastBudget());
        const std::int64_t ticks = form.relaxedBound(budget);
        if (ticks == std::numeric_limits<std::int64_t>::max() || form.leastBudget() > budget)
            result.feasible = false;
        else if ((*known)->space)
            result.least = std::max(result.least, overlapBound(*(*known)->space, form, budget));
        else
            result.least = std::max(result.least, Seconds(static_cast<double>(ticks) / (*known)->ticksPerSecond));
    }
    return result;
}

} // namespace loadline
