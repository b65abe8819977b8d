// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/overlap_closing.hpp"

#include "core/plan/overlap_beam.hpp"

#include <set>

namespace loadline {
namespace {

/// Chains up to here are walked with all their options: longer ones only along what is known to be good.
constexpr std::size_t kWalkedWhole = 120;

/// Cuts of the period beside the one at its beginning, in the order in which they are tried.
std::vector<std::size_t> offsetsOf(std::size_t period)
{
    std::vector<std::size_t> offsets;
    for (const std::size_t offset : {period - 1, period / 2, std::size_t{1}, period > 3 ? period - 3 : 0, std::size_t{2}})
        if (offset > 0 && offset < period && std::find(offsets.begin(), offsets.end(), offset) == offsets.end())
            offsets.push_back(offset);
    return offsets;
}

} // namespace

bool OverlapClosing::open() const
{
    return m_goOn() && m_leaf.bound() < m_best.seconds() * (1 - kProvenSeconds);
}

void OverlapClosing::sketch()
{
    m_pool = {m_leaf.dual.best.choice};
    for (const Places* places : {&m_leaf.dual.over, &m_leaf.dual.under})
        if (!places->empty())
            m_pool.push_back(*places);
    beam(24, true, false);
    beam(256, true, true);
    segmentsWhileBetter(periodOf(m_leaf.labels->chain().groupOfUnit), 0);
}

void OverlapClosing::run()
{
    improve();
    sketch();
    const std::size_t units = m_leaf.labels->chain().units();
    if (units <= kWalkedWhole) {
        beam(256, false, false);
        beam(2048, false, false);
    }
    const std::size_t period = periodOf(m_leaf.labels->chain().groupOfUnit);
    for (const std::size_t offset : offsetsOf(period))
        segmentsWhileBetter(period, offset);
    beam(512, true, true);
    if (units <= kWalkedWhole)
        beam(8192, false, false);
}

void OverlapClosing::improve()
{
    m_best.improve(static_cast<std::int64_t>(200'000 / std::max<std::size_t>(m_leaf.labels->chain().units(), 20)));
}

void OverlapClosing::segmentsWhileBetter(std::size_t period, std::size_t offset)
{
    constexpr int kRounds = 3;
    for (int round = 0; round < kRounds && open(); ++round) {
        const double before = m_best.seconds();
        const double gap = m_best.seconds() - m_leaf.bound();
        forEachPiece([&](const OverlapPiece& piece) { return segmentBound(piece, period, offset); });
        if (!(m_best.seconds() < before - 0.15 * gap))
            return;
        improve();
    }
}

/// Raises the bounds of the pieces that stand in the way of the proof.
template <class Bound>
void OverlapClosing::forEachPiece(Bound&& bound)
{
    for (std::size_t i = 0; i < m_leaf.pieceBounds.size() && open(); ++i)
        if (m_leaf.pieceBounds[i] < m_best.seconds() * (1 - kProvenSeconds))
            m_leaf.pieceBounds[i] = std::max(m_leaf.pieceBounds[i], bound(m_leaf.dual.best.pieces[i]));
}

double OverlapClosing::segmentBound(const OverlapPiece& piece, std::size_t period, std::size_t offset)
{
    constexpr std::int64_t kMostKnapsackWork = 2'000'000;
    if (!(m_leaf.dual.best.price > 0))
        return 0;
    SegmentRequest request;
    request.piece = piece;
    request.price = m_leaf.dual.best.price;
    request.upper = m_best.seconds();
    request.period = period;
    request.offset = offset;
    request.ticksPerSecond = m_ticksPerSecond;
    request.limits = m_limits;
    request.limits.work = std::clamp<std::int64_t>(m_limits.work - m_work, 1, kMostKnapsackWork);
    request.limits.listCap = 1 << 13;
    const SegmentBound found = solve(request);
    proposeLess(request, found);
    return found.cancelled ? 0 : found.bound;
}

SegmentBound OverlapClosing::solve(const SegmentRequest& request)
{
    SegmentBound found = boundBySegments(*m_leaf.labels, request);
    m_work += found.work;
    for (const Places& places : found.proposals) {
        m_best.offer(places);
        m_pool.push_back(places);
        const double seconds = m_leaf.labels->chain().seconds(places);
        if (request.reserve == 0 && seconds < std::min(m_best.seconds(), m_exceedingSeconds)) {
            m_exceeding = places;
            m_exceedingSeconds = seconds;
        }
    }
    return found;
}

/// The form promises more than the true peak keeps: the same question again with as much left free as the proposals are over.
void OverlapClosing::proposeLess(SegmentRequest request, const SegmentBound& first)
{
    constexpr int kRounds = 3;
    std::vector<Places> proposals = first.proposals;
    for (int round = 0; round < kRounds && open() && !proposals.empty(); ++round) {
        Bytes over = m_best.over(proposals.front());
        for (const Places& places : proposals)
            over = std::min(over, m_best.over(places));
        if (over <= Bytes())
            return;
        request.reserve += over.count() * m_leaf.form->scale();
        request.upper = m_best.seconds();
        proposals = solve(request).proposals;
    }
}

void OverlapClosing::beam(std::size_t width, bool near, bool known)
{
    if (!open())
        return;
    if (m_best.found())
        m_pool.push_back(m_best.best());
    forEachPiece([&](const OverlapPiece& piece) {
        BeamRequest request;
        request.piece = piece;
        request.price = m_leaf.dual.best.price;
        request.upper = m_best.seconds();
        request.width = width;
        const double margin = m_best.seconds() - piece.bound(request.price, m_leaf.memory().capacity);
        request.lists = m_leaf.labels->lists(request.price, piece.threshold, margin);
        if (known)
            keepKnown(request.lists);
        if (near)
            drawLine(request);
        request.work = std::clamp<std::int64_t>(m_limits.work - m_work, 1, 5'000'000);
        request.offer = [&](const Places& places) { return m_best.offer(places); };
        const BeamResult found = walkBeam(*m_leaf.labels, request);
        return near || known ? 0.0 : std::min(found.bound, m_best.seconds());
    });
}

void OverlapClosing::keepKnown(OptionLists& lists) const
{
    std::vector<std::set<std::uint32_t>> used(lists.size());
    for (const Places& places : m_pool)
        for (std::size_t unit = 0; unit < places.size(); ++unit)
            used[m_leaf.memory().typeOfUnit[unit]].insert(places[unit]);
    for (std::size_t type = 0; type < lists.size(); ++type)
        std::erase_if(lists[type], [&](std::uint32_t place) { return !used[type].contains(place); });
}

/// The memory of the best choice from each unit up, and how far from it a walk may go: what eight units can differ by.
void OverlapClosing::drawLine(BeamRequest& request) const
{
    constexpr std::size_t kUnits = 8;
    const OverlapMemory& memory = m_leaf.memory();
    const std::size_t count = m_leaf.labels->chain().units();
    request.line.assign(count, 0);
    std::vector<std::int64_t> spans(count);
    for (std::size_t unit = count; unit-- > 0;) {
        std::int64_t low = std::numeric_limits<std::int64_t>::max();
        std::int64_t high = 0;
        for (const std::uint32_t place : request.lists[memory.typeOfUnit[unit]]) {
            low = std::min(low, memory.terms(unit)[place].persist);
            high = std::max(high, memory.terms(unit)[place].persist);
        }
        spans[unit] = std::max<std::int64_t>(high - low, 0);
        if (unit + 1 < count)
            request.line[unit] = request.line[unit + 1] + memory.terms(unit + 1)[m_best.best()[unit + 1]].persist;
    }
    std::int64_t window = 0;
    for (std::size_t unit = 0; unit < count; ++unit) {
        window += spans[unit] - (unit >= kUnits ? spans[unit - kUnits] : 0);
        request.window = std::max(request.window, window);
    }
}

} // namespace loadline
