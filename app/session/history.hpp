// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <cstddef>
#include <optional>
#include <vector>

namespace loadline {

/// Undo as values: each step holds the state before and after it, so that undo restores exactly what was. States are
/// small (a few texts and shared pointers). At most `kMostSteps` are kept.
template <class State>
class History {
public:
    struct Step {
        QString name;
        State before;
        State after;
        QString merge; ///< steps with the same key that follow each other are one; empty: never
    };
    static constexpr std::size_t kMostSteps = 500;

    void push(Step step)
    {
        m_steps.resize(m_done);
        if (!step.merge.isEmpty() && !m_steps.empty() && m_steps.back().merge == step.merge) {
            m_steps.back().after = std::move(step.after);
            m_steps.back().name = std::move(step.name);
            return;
        }
        m_steps.push_back(std::move(step));
        if (m_steps.size() > kMostSteps)
            m_steps.erase(m_steps.begin());
        m_done = m_steps.size();
    }

    /// The state before the last step, which can then be redone.
    std::optional<State> undo()
    {
        if (!canUndo())
            return std::nullopt;
        endMerge();
        return m_steps[--m_done].before;
    }

    std::optional<State> redo()
    {
        if (!canRedo())
            return std::nullopt;
        return m_steps[m_done++].after;
    }

    /// Takes the last step back as if it had never been, because its state turned out to be impossible.
    std::optional<State> dropLast()
    {
        if (!canUndo())
            return std::nullopt;
        State before = std::move(m_steps[m_done - 1].before);
        m_steps.resize(--m_done);
        return before;
    }

    /// The next push starts a new step whatever its key.
    void endMerge()
    {
        if (m_done > 0)
            m_steps[m_done - 1].merge.clear();
    }

    [[nodiscard]] bool canUndo() const { return m_done > 0; }
    [[nodiscard]] bool canRedo() const { return m_done < m_steps.size(); }
    [[nodiscard]] QString undoName() const { return canUndo() ? m_steps[m_done - 1].name : QString(); }
    [[nodiscard]] QString redoName() const { return canRedo() ? m_steps[m_done].name : QString(); }
    [[nodiscard]] std::size_t done() const { return m_done; }
    [[nodiscard]] const std::vector<Step>& steps() const { return m_steps; }

private:
    std::vector<Step> m_steps;
    std::size_t m_done = 0; ///< how many of them are in force
};

} // namespace loadline
