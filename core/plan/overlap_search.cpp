// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/overlap_search.hpp"

#include "core/plan/event_weights.hpp"
#include "core/plan/overlap_segments.hpp"

#include <limits>
#include <map>
#include <memory>

namespace loadline {
namespace {

using Places = std::vector<std::uint32_t>;

/// One memory form with the dual bound it gives.
struct Formed {
    const MemoryForm* form = nullptr;
    OverlapMemory memory;
    std::unique_ptr<OverlapLabels> labels;
    OverlapDual dual;
    std::vector<double> pieceBounds; ///< of dual.best.pieces
    double bound = 0;

    /// Pieces' bounds have risen: so does the whole's.
    void refresh(double upper)
    {
        double least = upper;
        for (const double piece : pieceBounds)
            least = std::min(least, piece);
        bound = std::max(bound, least);
    }
};

/// One search at one budget.
class OverlapSearch {
public:
    OverlapSearch(const PlannerState& state, Bytes budget, const SearchResult& serial, const SearchLimits& limits)
        : m_state(state), m_chain(*state.chain), m_budget(budget), m_serial(serial), m_limits(limits)
    {
    }

    OverlapResult run()
    {
        m_result.work = m_serial.work;
        m_result.cancelled = m_serial.cancelled;
        if (!m_serial.best)
            return std::move(m_result);
        offer(placesOf(m_serial.best->choice));
        offer(placesOf(m_state.fastest.choice));
        offer(placesOf(m_state.smallest.choice));
        relax();
        if (!proven() && m_binding != nullptr) {
            weighEvents();
            shiftBudget();
            improve();
            boundSegments();
        }
        finish();
        return std::move(m_result);
    }

private:
    [[nodiscard]] double upper() const { return m_upper; }
    [[nodiscard]] bool proven() const { return m_upper - m_lower <= kProven * m_upper; }
    [[nodiscard]] bool spent()
    {
        m_result.cancelled = m_result.cancelled || m_limits.stop.stop_requested();
        return m_result.cancelled || m_result.work >= m_limits.work;
    }

    [[nodiscard]] Places placesOf(const Choice& choice) const
    {
        Places places(choice.size());
        for (std::size_t unit = 0; unit < choice.size(); ++unit) {
            const auto& options = m_state.space.groups[m_state.space.groupOfUnit[unit]].options;
            places[unit] = static_cast<std::uint32_t>(std::lower_bound(options.begin(), options.end(), choice[unit]) - options.begin());
        }
        return places;
    }
    [[nodiscard]] Choice choiceOf(const Places& places) const
    {
        Choice choice(places.size());
        for (std::size_t unit = 0; unit < places.size(); ++unit)
            choice[unit] = m_state.space.groups[m_state.space.groupOfUnit[unit]].options[places[unit]];
        return choice;
    }

    /// Keeps it if it is faster and its true peak fits; returns by how much the peak is over.
    Bytes offer(const Places& places)
    {
        const double seconds = m_chain.seconds(places);
        m_result.work += static_cast<std::int64_t>(places.size() / 8 + 1);
        if (seconds >= m_upper)
            return Bytes();
        const Choice choice = choiceOf(places);
        const Bytes peak = plannedPeak(m_state.space.table, choice);
        m_result.work += static_cast<std::int64_t>(places.size() / 2 + 1);
        if (peak > m_budget)
            return peak - m_budget;
        m_upper = seconds;
        m_best = places;
        m_bestPeak = peak;
        return Bytes();
    }

    /// The dual of one form; the form with the highest bound is the one to work on.
    const Formed* add(const MemoryForm& form)
    {
        Formed formed;
        formed.form = &form;
        formed.memory = overlapMemory(m_state.space, form, m_budget);
        m_forms.push_back(std::make_unique<Formed>(std::move(formed)));
        Formed& added = *m_forms.back();
        added.labels = std::make_unique<OverlapLabels>(m_chain, added.memory);
        const Places smallest = placesOf(m_state.smallest.choice);
        if (added.memory.of(smallest).total() > added.memory.capacity)
            return nullptr;
        added.dual = solveOverlapDual(*added.labels, smallest, m_limits.work - m_result.work);
        m_result.work += added.labels->work();
        for (const OverlapPiece& piece : added.dual.best.pieces)
            added.pieceBounds.push_back(piece.bound(added.dual.best.price, added.memory.capacity));
        added.bound = added.dual.best.bound;
        splice(added);
        for (const Places* places : {&added.dual.over, &added.dual.under, &added.dual.best.choice})
            if (!places->empty())
                offer(*places);
        if (m_binding == nullptr || added.bound > m_binding->bound)
            m_binding = &added;
        m_lower = std::max(m_lower, added.bound);
        return &added;
    }

    void relax()
    {
        for (const MemoryForm& form : m_state.forms) {
            if (proven() || spent())
                return;
            add(form);
        }
        for (const auto& form : m_serial.forms) {
            if (proven() || spent())
                return;
            add(*form);
        }
    }

    /// Several events may bind at once: weights go to those that the last choice exceeds (docs/planning.md 4).
    void weighEvents()
    {
        constexpr int kRounds = 10;
        constexpr int kKeepsBest = 4;
        if (m_state.space.table.setup.memory == MemoryMode::Paper || m_binding == nullptr)
            return;
        EventRows rows(m_state.space);
        EventWeights weights(rows, m_budget);
        Choice choice = choiceOf(m_binding->dual.under);
        int idle = 0;
        for (int round = 0; round < kRounds && idle < kKeepsBest && !proven() && !spent(); ++round) {
            if (!weights.learn(choice))
                return;
            auto form = MemoryForm::make(m_state.space, weights.terms(), EventWeights::kScale);
            if (!form)
                return;
            m_made.push_back(std::make_unique<MemoryForm>(*std::move(form)));
            const double before = m_lower;
            const Formed* added = add(*m_made.back());
            if (added == nullptr)
                return;
            choice = choiceOf(added->dual.under);
            idle = m_lower > before ? 0 : idle + 1;
        }
    }

    /// The choices on both sides of the capacity, and everything that is the one up to some unit and the other from there on.
    void splice(const Formed& formed)
    {
        const Places& over = formed.dual.over;
        const Places& under = formed.dual.under;
        if (over.empty() || under.empty())
            return;
        for (const bool overFirst : {true, false}) {
            const Places& first = overFirst ? over : under;
            const Places& second = overFirst ? under : over;
            Places mixed = second;
            std::int64_t persist = formed.memory.of(second).persist;
            std::optional<std::size_t> cut;
            for (std::size_t unit = 0; unit < mixed.size(); ++unit) {
                const auto& terms = formed.memory.terms(unit);
                persist += terms[first[unit]].persist - terms[second[unit]].persist;
                if (persist <= formed.memory.capacity && (overFirst || !cut))
                    cut = unit;
            }
            if (!cut)
                continue;
            std::copy(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(*cut) + 1, mixed.begin());
            offer(mixed);
        }
    }

    /// A form may promise more than the true peak keeps: ask for less, by as much as its choice is over, until that fits.
    void shiftBudget()
    {
        constexpr int kSteps = 4;
        Formed* formed = m_binding;
        Bytes over = plannedPeak(m_state.space.table, choiceOf(formed->dual.under)) - m_budget;
        for (int step = 0; step < kSteps && over > Bytes() && !spent(); ++step) {
            Formed shifted;
            shifted.memory = overlapMemory(m_state.space, *formed->form, m_budget - over);
            OverlapLabels labels(m_chain, shifted.memory);
            const Places smallest = placesOf(m_state.smallest.choice);
            if (shifted.memory.of(smallest).total() > shifted.memory.capacity)
                return;
            shifted.dual = solveOverlapDual(labels, smallest, m_limits.work - m_result.work);
            m_result.work += labels.work();
            splice(shifted);
            offer(shifted.dual.under);
            const Bytes more = plannedPeak(m_state.space.table, choiceOf(shifted.dual.under)) - m_budget;
            if (more <= Bytes())
                return;
            over += more;
        }
    }

    /// Single changes of the best choice, as long as one helps.
    void improve()
    {
        const std::size_t units = m_chain.units();
        auto trials = static_cast<std::int64_t>(400'000 / std::max<std::size_t>(units, 20));
        bool better = true;
        while (better && !m_best.empty()) {
            better = false;
            for (std::size_t unit = 0; unit < units && trials > 0; ++unit)
                for (std::uint32_t place = 0; place < m_chain.options(unit).size() && trials > 0; ++place) {
                    if (place == m_best[unit])
                        continue;
                    Places changed = m_best;
                    changed[unit] = place;
                    const double before = m_upper;
                    offer(changed);
                    --trials;
                    better = better || m_upper < before;
                }
            if (trials <= 0 || spent())
                return;
        }
    }

    void boundSegments()
    {
        Formed& formed = *m_binding;
        if (!(formed.dual.best.price > 0))
            return;
        const std::size_t period = periodOf(m_chain.groupOfUnit);
        std::vector<std::size_t> offsets{0};
        for (const std::size_t offset : {period - 1, period / 2, std::size_t{1}, period > 3 ? period - 3 : 0, std::size_t{2}})
            if (offset > 0 && offset < period && std::find(offsets.begin(), offsets.end(), offset) == offsets.end())
                offsets.push_back(offset);
        for (const std::size_t offset : offsets)
            for (int round = 0; round < 3 && !proven() && !spent(); ++round) {
                const double before = m_upper;
                const double gap = m_upper - m_lower;
                segmentRound(formed, period, offset);
                if (!(m_upper < before - 0.15 * gap))
                    break;
                improve();
            }
    }

    void segmentRound(Formed& formed, std::size_t period, std::size_t offset)
    {
        for (std::size_t i = 0; i < formed.pieceBounds.size() && !spent(); ++i) {
            if (formed.pieceBounds[i] >= m_upper * (1 - kProven))
                continue;
            SegmentRequest request;
            request.piece = formed.dual.best.pieces[i];
            request.price = formed.dual.best.price;
            request.upper = m_upper;
            request.period = period;
            request.offset = offset;
            request.ticksPerSecond = m_state.space.ticksPerSecond;
            request.limits = m_limits;
            request.limits.work = std::min<std::int64_t>(m_limits.work - m_result.work, 2'000'000);
            request.limits.listCap = 1 << 13;
            const std::int64_t before = formed.labels->work();
            const SegmentBound found = boundBySegments(*formed.labels, request);
            m_result.work += found.work + formed.labels->work() - before;
            m_result.cancelled = m_result.cancelled || found.cancelled;
            if (!found.cancelled)
                formed.pieceBounds[i] = std::max(formed.pieceBounds[i], found.bound);
            for (const Places& places : found.proposals)
                offer(places);
        }
        formed.refresh(m_upper);
        m_lower = std::max(m_lower, std::min(formed.bound, m_upper));
    }

    void finish()
    {
        if (m_best.empty())
            return;
        m_result.best = priced(m_state.space, choiceOf(m_best));
        m_result.seconds = Seconds(m_upper);
        m_result.lowerBound = Seconds(proven() ? m_upper : std::min(m_lower, m_upper));
        if (m_binding != nullptr)
            m_result.secondsPerByte = m_binding->dual.best.price * static_cast<double>(m_binding->form->scale());
    }

    /// Seconds are sums of rounded numbers: this close is equal.
    static constexpr double kProven = 1e-9;

    const PlannerState& m_state;
    const OverlapChain& m_chain;
    Bytes m_budget;
    const SearchResult& m_serial;
    const SearchLimits& m_limits;
    OverlapResult m_result;
    std::vector<std::unique_ptr<MemoryForm>> m_made;
    std::vector<std::unique_ptr<Formed>> m_forms;
    Formed* m_binding = nullptr;
    Places m_best;
    Bytes m_bestPeak;
    double m_upper = std::numeric_limits<double>::infinity();
    double m_lower = 0;
};

} // namespace

OverlapResult searchOverlap(const PlannerState& state, Bytes budget, const SearchResult& serial, const SearchLimits& limits)
{
    return OverlapSearch(state, budget, serial, limits).run();
}

} // namespace loadline
