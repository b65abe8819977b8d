// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/plan_picture.hpp"

#include <QWidget>

namespace loadline {

class DecisionStrip;
class MemoryChart;
class TimeChart;
class TitleRow;

/// The centre: memory over one step with the budget line, the decision strip, and time per operator.
class StepPage : public QWidget {
    Q_OBJECT
public:
    explicit StepPage(QWidget* parent = nullptr);

    void setPicture(const PlanPicturePtr& picture);
    void setGhost(const PlanPicturePtr& ghost);
    /// Axes stay as they are while a hand moves.
    void holdAxes(bool hold);
    /// The last plan at 60 % while a newer one is being searched.
    void setVeiled(bool veiled);
    void frameUnits(const std::vector<std::size_t>& units);

    [[nodiscard]] MemoryChart* memory() const { return m_memory; }
    [[nodiscard]] DecisionStrip* strip() const { return m_strip; }
    [[nodiscard]] TimeChart* time() const { return m_time; }

signals:
    void hovered(const QString& words);

private:
    void markUnit(int unit);

    TitleRow* m_memoryTitle;
    MemoryChart* m_memory;
    DecisionStrip* m_strip;
    TitleRow* m_timeTitle;
    TimeChart* m_time;
};

} // namespace loadline
