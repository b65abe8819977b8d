// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/overlap_search.hpp"

#include "core/plan/event_weights.hpp"
#include "core/plan/overlap_closing.hpp"

#include <limits>
#include <memory>
#include <set>

namespace loadline {
namespace {

/// One search at one budget.
class OverlapSearch {
public:
    OverlapSearch(const PlannerState& state, Bytes budget, const SearchResult& serial, const SearchLimits& limits)
        : m_state(state), m_chain(*state.chain), m_budget(budget), m_serial(serial), m_limits(limits), m_best(state, budget)
    {
    }

    OverlapResult run()
    {
        if (!m_serial.best) {
            m_result.work = m_serial.work;
            return std::move(m_result);
        }
        m_smallest = m_best.placesOf(m_state.smallest.choice);
        m_best.offer(m_best.placesOf(m_serial.best->choice));
        m_best.offer(m_best.placesOf(m_state.fastest.choice));
        m_best.offer(m_smallest);
        relax();
        if (m_root) {
            m_price = m_root->dual.best.price * static_cast<double>(m_root->form->scale());
            weighEvents();
            shiftBudget();
            if (!branchAtPeak())
                m_leaves.push_back(std::move(*m_root));
            splitLeaves();
            closeGap();
        }
        finish();
        return std::move(m_result);
    }

private:
    [[nodiscard]] bool proven() const
    {
        return m_best.seconds() - m_lower <= std::max(kProvenSeconds, m_limits.gapTolerance) * m_best.seconds();
    }
    [[nodiscard]] std::int64_t spentWork() const { return m_serial.work + m_work + m_best.work(); }
    bool goOn()
    {
        m_result.cancelled = m_result.cancelled || m_serial.cancelled || m_limits.stop.stop_requested();
        return !m_result.cancelled && !proven() && spentWork() < m_limits.work;
    }

    /// The dual of one form; the form with the highest bound is the one to work on.
    void add(const MemoryForm& form)
    {
        auto leaf = leafOf(form, overlapMemory(m_state.space, form, m_budget));
        if (!leaf)
            return;
        m_lower = std::max(m_lower, leaf->bound());
        if (!m_root || leaf->bound() > m_root->bound())
            m_root = std::make_unique<OverlapLeaf>(*std::move(leaf));
    }

    std::optional<OverlapLeaf> leafOf(const MemoryForm& form, OverlapMemory memory)
    {
        auto leaf = makeLeaf(m_chain, form, std::move(memory), m_smallest, m_best.seconds(), m_limits.work - spentWork());
        if (!leaf)
            return std::nullopt;
        m_work += leaf->labels->work();
        splice(*leaf);
        for (const Places* places : {&leaf->dual.over, &leaf->dual.under, &leaf->dual.best.choice})
            if (!places->empty())
                m_best.offer(*places);
        return leaf;
    }

    void relax()
    {
        for (const MemoryForm& form : m_state.forms)
            if (goOn())
                add(form);
        for (const auto& form : m_serial.forms)
            if (goOn())
                add(*form);
    }

    /// Several events may bind at once: weights go to those that the form's own answer exceeds (docs/planning.md 4).
    void weighEvents()
    {
        constexpr int kRounds = 12;
        constexpr int kBeforeBranching = 2;
        constexpr int kKeepsBest = 4;
        if (m_state.space.table.setup.memory == MemoryMode::Paper)
            return;
        EventRows rows(m_state.space);
        EventWeights weights(rows, m_budget);
        Places exceeding = sketched(*m_root);
        int idle = 0;
        for (int round = 0; round < kRounds && idle < kKeepsBest && goOn(); ++round) {
            const Choice choice = m_best.choiceOf(exceeding);
            m_bindingUnits.insert(rows.peakOf(choice).unit);
            if (!weights.learn(choice) || (round >= kBeforeBranching && peakPivot(m_state, m_bindingUnits)))
                return;
            auto form = MemoryForm::make(m_state.space, weights.terms(), EventWeights::kScale);
            if (!form)
                return;
            m_made.push_back(std::make_unique<MemoryForm>(*std::move(form)));
            const double before = m_lower;
            auto leaf = leafOf(*m_made.back(), overlapMemory(m_state.space, *m_made.back(), m_budget));
            if (!leaf)
                return;
            exceeding = sketched(*leaf);
            idle = m_lower > before ? 0 : idle + 1;
            if (leaf->bound() > m_root->bound())
                *m_root = *std::move(leaf);
        }
    }

    /// Closes what is cheap to close; returns the choice that the form lets in and the peak does not.
    Places sketched(OverlapLeaf& leaf)
    {
        const std::int64_t before = leaf.labels->work();
        OverlapClosing closing(leaf, m_best, m_limits, m_state.space.ticksPerSecond, [this] { return goOn(); });
        closing.sketch();
        m_work += closing.work() + leaf.labels->work() - before;
        m_lower = std::max(m_lower, std::min(leaf.bound(), m_best.seconds()));
        return closing.exceeding().empty() ? leaf.dual.under : closing.exceeding();
    }

    /// Everything that is the choice above the capacity up to some unit and the one within it from there on, or the other way round:
    /// the last that the form lets in.
    void splice(const OverlapLeaf& formed)
    {
        const Places& over = formed.dual.over;
        const Places& under = formed.dual.under;
        if (over.empty() || under.empty())
            return;
        for (const bool overFirst : {true, false}) {
            const Places& first = overFirst ? over : under;
            const Places& second = overFirst ? under : over;
            std::int64_t persist = formed.memory().of(second).persist;
            std::size_t cut = 0; // units taken from the first
            for (std::size_t unit = 0; unit < first.size(); ++unit) {
                const auto& terms = formed.memory().terms(unit);
                persist += terms[first[unit]].persist - terms[second[unit]].persist;
                if (persist <= formed.memory().capacity && (overFirst || cut == 0))
                    cut = unit + 1;
            }
            Places mixed = second;
            std::copy(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(cut), mixed.begin());
            m_best.offer(mixed);
        }
    }

    /// A form may promise more than the true peak keeps: ask for less, by as much as its choice is over, until that fits.
    void shiftBudget()
    {
        constexpr int kSteps = 4;
        Bytes over = m_best.over(m_root->dual.under);
        for (int step = 0; step < kSteps && over > Bytes() && goOn(); ++step) {
            const auto shifted = leafOf(*m_root->form, overlapMemory(m_state.space, *m_root->form, m_budget - over));
            if (!shifted)
                return;
            const Bytes more = m_best.over(shifted->dual.under);
            if (more <= Bytes())
                return;
            over += more;
        }
    }

    /// A leaf for each option of the unit that decides which event binds, as the serial search does (core/plan/peak_branches.hpp).
    bool branchAtPeak()
    {
        if (!goOn())
            return false;
        m_branches = m_serial.branches;
        auto pivot = m_serial.pivot;
        if (m_branches.empty()) {
            pivot = peakPivot(m_state, m_bindingUnits);
            if (!pivot)
                return false;
            m_branches = branchesAtPeak(m_state, *pivot, m_budget);
        }
        const auto& options = m_state.space.groups[m_state.space.groupOfUnit[*pivot]].options;
        for (const PeakBranch& branch : m_branches) {
            const std::uint32_t option = branch.state->fastest.choice[*pivot];
            const auto place = static_cast<std::size_t>(std::find(options.begin(), options.end(), option) - options.begin());
            addBranch(*branch.state, *pivot, place);
        }
        setLower({});
        return !m_branches.empty();
    }

    /// The form of one branch that bounds it best; nothing if some form shows that no faster choice fits it.
    void addBranch(const PlannerState& branch, std::size_t pivot, std::size_t place)
    {
        std::optional<OverlapLeaf> best;
        for (const MemoryForm& form : branch.forms) {
            auto leaf = leafOf(form, overlapMemory(m_state.space, form, m_budget, pivot, place));
            if (!leaf || leaf->bound() >= m_best.seconds())
                return;
            if (!best || leaf->bound() > best->bound())
                best = std::move(leaf);
        }
        if (best)
            m_leaves.push_back(*std::move(best));
    }

    /// Splits at other single large units while that helps: no walk or knapsack makes up for the rounding of one that is most of the
    /// budget.
    void splitLeaves()
    {
        constexpr std::size_t kMostLeaves = 40;
        std::vector<OverlapLeaf> done;
        while (!m_leaves.empty() && m_leaves.size() + done.size() < kMostLeaves && goOn()) {
            const auto least = std::min_element(m_leaves.begin(), m_leaves.end(),
                                                [](const OverlapLeaf& a, const OverlapLeaf& b) { return a.bound() < b.bound(); });
            OverlapLeaf leaf = std::move(*least);
            m_leaves.erase(least);
            auto halves = branchesOf(leaf, m_best.seconds() - leaf.bound());
            if (halves.empty() || leaf.bound() >= m_best.seconds() * (1 - kProvenSeconds)) {
                done.push_back(std::move(leaf));
                continue;
            }
            for (OverlapMemory& half : halves)
                if (auto child = leafOf(*leaf.form, std::move(half))) {
                    for (double& piece : child->pieceBounds)
                        piece = std::max(piece, leaf.bound());
                    m_leaves.push_back(*std::move(child));
                }
            setLower(done);
        }
        for (OverlapLeaf& leaf : done)
            m_leaves.push_back(std::move(leaf));
        setLower({});
    }

    void setLower(const std::vector<OverlapLeaf>& others)
    {
        double least = m_best.seconds();
        for (const OverlapLeaf& leaf : m_leaves)
            least = std::min(least, leaf.bound());
        for (const OverlapLeaf& leaf : others)
            least = std::min(least, leaf.bound());
        m_lower = std::max(m_lower, least);
    }

    void closeGap()
    {
        std::stable_sort(m_leaves.begin(), m_leaves.end(),
                         [](const OverlapLeaf& a, const OverlapLeaf& b) { return a.bound() < b.bound(); });
        for (OverlapLeaf& leaf : m_leaves) {
            if (!goOn())
                return;
            const std::int64_t before = leaf.labels->work();
            OverlapClosing closing(leaf, m_best, m_limits, m_state.space.ticksPerSecond, [this] { return goOn(); });
            closing.run();
            m_work += closing.work() + leaf.labels->work() - before;
            setLower({});
        }
    }

    void finish()
    {
        m_result.work = spentWork();
        m_result.best = priced(m_state.space, m_best.choiceOf(m_best.best()));
        m_result.seconds = Seconds(m_best.seconds());
        const bool optimal = m_best.seconds() - m_lower <= kProvenSeconds * m_best.seconds();
        m_result.lowerBound = Seconds(optimal ? m_best.seconds() : std::min(m_lower, m_best.seconds()));
        m_result.secondsPerByte = m_price;
    }

    const PlannerState& m_state;
    const OverlapChain& m_chain;
    Bytes m_budget;
    const SearchResult& m_serial;
    const SearchLimits& m_limits;
    OverlapIncumbent m_best;
    Places m_smallest;
    OverlapResult m_result;
    std::vector<std::unique_ptr<MemoryForm>> m_made;
    std::unique_ptr<OverlapLeaf> m_root; ///< of the form with the highest bound
    std::vector<PeakBranch> m_branches;
    std::vector<OverlapLeaf> m_leaves; ///< that together hold every choice
    std::set<std::size_t> m_bindingUnits;
    double m_price = 0;
    double m_lower = 0;
    std::int64_t m_work = 0; ///< beside the incumbent's own
};

} // namespace

OverlapResult searchOverlap(const PlannerState& state, Bytes budget, const SearchResult& serial, const SearchLimits& limits)
{
    return OverlapSearch(state, budget, serial, limits).run();
}

} // namespace loadline
